"""New tests that never end on the base: run one by one there, so that they and the other tests' results count.

A change that fixes an endless loop has tests that run for ever, or fill the memory, without it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from worker_agent.tdd.comparison.model import Comparison
from worker_agent.tdd.proof.execution import Overlay, merged
from worker_agent.tdd.proof.subject import SLOWER, ProofSubject
from worker_agent.tdd.proof.unit_index import UnitIndex
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestResult, TestRun

SINGLY = 8
"""The most new and changed tests that are run one by one."""

LEAST_SECONDS = 60.0
"""The seconds that one of them may take, however quick the suite is."""


NORMAL = 2
"""The factor by which tests must be quicker on the head, so that one was not merely slow on the base."""

SLOW = (
    "{}: it did not end on the base in {:.0f} seconds, and the new tests take {:.0f} seconds on the head: it may only "
    "be slow. Let it fail by an assertion or a limit of its own."
)

UNNOTICED = "{}: it does not end on the base, and noticed none of the damages that were tried"


def counts_so(red: TestRun, unit: str) -> bool:
    """Return whether a test is red only because it did not end on the base."""
    before = red.results.get(unit)
    return before is not None and before.kind in {FailureKind.ENDLESS, FailureKind.LIMIT}


def bound(baseline: TestRun) -> float:
    """Return the seconds after which a test that runs alone counts as endless."""
    return max(LEAST_SECONDS, SLOWER * baseline.seconds)


def ended_from_outside(run: TestRun) -> bool:
    """Return whether the deadline or a limit has ended a run."""
    return run.timed_out or run.limit is not None


async def apart(
    subject: ProofSubject, tree: str, laid: Overlay, files: Collection[str], comparison: Comparison, baseline: TestRun
) -> TestRun | None:
    """Return the results of new and changed tests of `files`, each run alone on the base with the new tests' side.

    A test that is ended from outside there as well has failed. None if there are too many, or if one has failed to run
    for another reason.
    """
    units = _units(subject, files, comparison)
    if not units or len(units) > SINGLY:
        return None
    runs = []
    for unit in units:
        chosen = Selection(frozenset({unit.partition("::")[0]}), frozenset({unit}))
        run = await subject.run(tree, laid, chosen, bound(baseline))
        if not run.finished and not ended_from_outside(run):
            return None
        runs.append(_with_failure(unit, run))
    return merged(runs)


def undecided(baseline: TestRun, red: TestRun, alone: TestRun) -> tuple[str, ...]:
    """Return a sentence for each test of `red` that did not end, if the new tests are slow on the head, too."""
    stopped = sorted(result.id for result in red.results.values() if result.kind is FailureKind.ENDLESS)
    if NORMAL * alone.seconds <= bound(baseline):
        return ()
    return tuple(SLOW.format(unit, bound(baseline), alone.seconds) for unit in stopped)


def _units(subject: ProofSubject, files: Collection[str], comparison: Comparison) -> list[str]:
    """Return the tests (`path::name`) that the base does not have, and those that the change has altered."""
    before, now = UnitIndex(subject.change.old), UnitIndex(subject.change.side(files, head=True))
    altered = {entry.now or entry.name for entry in comparison.changed}
    return [unit for path in sorted(files) for unit in now.names(path) if unit in altered or not before.has(unit)]


def _with_failure(unit: str, run: TestRun) -> TestRun:
    """Return the run, with a test that did not end in it as a failed one."""
    if not ended_from_outside(run):
        return run
    kind, reason = FailureKind.ENDLESS, f"stopped after {run.seconds:.0f} seconds"
    if run.limit:
        kind, reason = FailureKind.LIMIT, run.limit
    sentence = f"It does not end on the base: {reason}"
    result = TestResult(unit, unit.partition("::")[0], CaseOutcome.FAILED, kind, sentence)
    return replace(run, results={**run.results, unit: result}, finished=True, timed_out=False, limit=None)
