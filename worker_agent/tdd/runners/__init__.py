"""Test commands and what they report: each runner's call and report, read without trust, as values."""
