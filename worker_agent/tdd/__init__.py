"""Tests run, compared and judged: test-first proved by machine. No GitHub in this room; git by what `shared` gives."""
