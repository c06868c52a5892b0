"""Pending tests of a repository become specification issues, one after the other, each of them once."""
