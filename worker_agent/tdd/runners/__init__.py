"""Test commands and their reports: each runner's call and report, read without trust, as values."""
