"""Judgement of tests and of what a change does to them: pure functions of runs and of sources."""
