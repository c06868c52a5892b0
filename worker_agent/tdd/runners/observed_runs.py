"""The events of test runs: one for each run, with its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.sandbox.confinement import Confinement
from shared.telemetry.event_recorder import EventRecorder
from shared.telemetry.events import EventKind
from worker_agent.tdd.runners.control import name
from worker_agent.tdd.runners.test_bench import TestBench, Tests
from worker_agent.tdd.runners.test_run import CaseOutcome, TestRun
from worker_agent.tdd.setup.setup_step import SetUp


class ObservedBench(TestBench):
    """A bench that emits an event for each run that it made; a cached result is no run."""

    def __init__(
        self,
        environment: Mapping[str, str],
        deadline_seconds: float,
        event_recorder: EventRecorder,
        confinement: Confinement | None = None,
        setup: SetUp | None = None,
    ) -> None:
        super().__init__(environment, deadline_seconds, confinement=confinement, setup=setup)
        self._recorder = event_recorder

    async def run(self, tests: Tests, checkout: Path, scratch: Path) -> TestRun:
        """Run tests of a checkout."""
        begun = self._recorder.clock.boot()
        ran = await super().run(tests, checkout, scratch)
        seconds = round(self._recorder.clock.boot() - begun, 3)
        self._recorder.tell(
            EventKind.TEST_RUN, place=checkout.name, seconds=seconds, **purpose(tests), **counts(ran, tests.planted)
        )
        return ran


def purpose(tests: Tests) -> dict[str, Any]:
    """Return an event's fields about the purpose of a run; empty for an ordinary run (pure)."""
    found = tests.purpose
    return {
        name: value
        for name, value in {"purpose": str(found.kind), "number": found.number, "of": found.of}.items()
        if value
    }


def counts(run: TestRun, planted: Collection[str] = ()) -> dict[str, Any]:
    """Return an event's fields about a run: its result in one word, and the number of tests by outcome (pure).

    Control tests, by their names `planted`, are left out: some of them have to fail.
    """
    run = replace(run, results={test: result for test, result in run.results.items() if name(result) not in planted})
    by = Counter(result.outcome for result in run.results.values())
    clean = not (run.failed or run.broken_files)
    outcome = ("passed" if clean else "failed") if run.finished else "timed out" if run.timed_out else "not finished"
    return {
        "outcome": outcome,
        "passed": by[CaseOutcome.PASSED],
        "failed": by[CaseOutcome.FAILED] + by[CaseOutcome.ERROR],
        "skipped": by[CaseOutcome.SKIPPED],
        "not_collected": len(run.broken_files),
        "limit": run.limit,
    }
