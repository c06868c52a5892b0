"""A bench with eyes: each run of the tests becomes one event with its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shared.sandbox.confinement import Confinement
from shared.telemetry.event_recorder import EventRecorder
from shared.telemetry.events import Kind
from worker_agent.tdd.runners.report import Outcome, TestRun
from worker_agent.tdd.runners.run import TestBench, Tests
from worker_agent.tdd.setup.setup_step import SetUp


class ObservedBench(TestBench):
    """Tells each run that it made; one whose result was known already is none."""

    def __init__(
        self,
        environment: Mapping[str, str],
        deadline_seconds: float,
        event_recorder: EventRecorder,
        confinement: Confinement | None = None,
        setup: SetUp | None = None,
    ) -> None:
        super().__init__(environment, deadline_seconds, confinement=confinement, setup=setup)
        self._scribe = event_recorder

    async def run(self, what: Tests, where: Path, scratch: Path) -> TestRun:
        """Run tests of a checkout."""
        begun = self._scribe.clock.boot()
        ran = await super().run(what, where, scratch)
        seconds = round(self._scribe.clock.boot() - begun, 3)
        self._scribe.tell(Kind.TEST_RUN, place=where.name, seconds=seconds, **counts(ran))
        return ran


def counts(run: TestRun) -> dict[str, Any]:
    """What an event says of a run: how it ended in one word, and how many tests ended how (pure)."""
    by = Counter(result.outcome for result in run.results.values())
    clean = not (run.failed or run.broken_files)
    outcome = ("passed" if clean else "failed") if run.finished else "timed out" if run.timed_out else "not finished"
    return {
        "outcome": outcome,
        "passed": by[Outcome.PASSED],
        "failed": by[Outcome.FAILED] + by[Outcome.ERROR],
        "skipped": by[Outcome.SKIPPED],
        "not_collected": len(run.broken_files),
        "limit": run.limit,
    }
