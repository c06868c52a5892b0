"""Deterministic simulation of the lock: the production coroutines, driven by hand over a GitHub that fails."""
