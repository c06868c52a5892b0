"""A test bench that counts its runs, whole suites apart from parts of one, and the seconds that they took."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement
from worker_agent.tdd.runners.test_bench import TestBench, Tests
from worker_agent.tdd.runners.test_run import TestRun


class CountingBench(TestBench):
    """A bench that counts its `runs`, `whole` and `partial`, and the `seconds` of each; copies of it share both."""

    def __init__(
        self, environment: Mapping[str, str], limit_seconds: float, *, confinement: Confinement | None = None
    ) -> None:
        super().__init__(environment, limit_seconds, confinement=confinement)
        self.runs: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)

    async def run(self, what: Tests, where: Path, scratch: Path) -> TestRun:
        """Run tests of a checkout, and count that."""
        clock, kind = RealClock(), "whole" if what.selection is None else "partial"
        began = clock.boot()
        try:
            return await super().run(what, where, scratch)
        finally:
            self.runs[kind] += 1
            self.seconds[kind] += clock.boot() - began
