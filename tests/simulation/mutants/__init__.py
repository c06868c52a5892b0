"""Bugs of the lock, made by hand one at a time: which of the tests notices each, and that none goes unnoticed."""
