"""Benchmarks of the engine's costs: counted behind a recording proxy, beside an alternative, in one run; no asserts."""
