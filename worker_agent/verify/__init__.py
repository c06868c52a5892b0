"""Checks what a pull request claims, with nothing but git and the test runner: fresh clones, no notes, no memory."""
