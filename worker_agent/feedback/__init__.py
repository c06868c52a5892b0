"""Remarks of people and the reviewer on a pull request, and the one answer to each of them."""
