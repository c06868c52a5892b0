"""Checks of a pull request's claims, with only git and the test runner: fresh clones, no notes, no memory."""
