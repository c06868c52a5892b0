"""Tests run, compared and judged: test-first proved by machine. No GitHub, no git in this room."""
