"""Judgement of tests and of the effects of a change on them: pure functions of runs and of sources."""
