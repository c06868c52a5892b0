"""A check that results do not depend on chance, place or time: those that flip between runs of the same code."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.subject import SLOWER, ProofSubject
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import PurposeKind, RunPurpose, TestId, TestRun

CLOCK_SHIFT = 400 * 86_400
"""Seconds that the clock of a run elsewhere is ahead."""

SINGLY = 5
"""The most tests that are run one by one to see whether they need others."""

LEAST_SECONDS = 120.0
"""The seconds that a run elsewhere may take, however quick the suite is: it builds everything anew."""

_ELSEWHERE = RunPurpose(PurposeKind.ELSEWHERE)

REPOSITORY = {
    ".git/HEAD": b"ref: refs/heads/main\n",
    ".git/config": b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    ".git/objects/info/packs": b"\n",
    ".git/refs/heads/.keep": b"",
}
"""The files of an empty git repository; checkouts have none."""


async def failing_again(subject: ProofSubject, run: TestRun, tests: Collection[TestId]) -> frozenset[TestId]:
    """Return those of `tests`, which failed in `run` of the head, that fail again when they run alone."""
    files = {run.results[test].file for test in tests if test in run.results}
    files |= {test for test in tests if test not in run.results and "::" not in test}
    files |= {test.partition("::")[0] for test in tests}
    again = await _run_again(subject, files, tests)
    return frozenset(test for test in tests if test not in again.passed)


async def elsewhere(subject: ProofSubject, tests: Collection[TestId], whole_seconds: float) -> TestRun:
    """Run tests alone on the head, in another directory and the reverse order, with a clock that is ahead.

    `whole_seconds` is the time of the whole suite: some tests and tools wait for ever when a clock is set. An empty
    repository of git is around them as well. A file that cannot be read in the reverse order keeps its own.
    """
    turned = _reversed_files(subject, tests)
    run = await _run_elsewhere(subject, tests, whole_seconds, turned)
    if turned and (run.broken_files or not run.finished or any(test not in run.results for test in tests)):
        return await _run_elsewhere(subject, tests, whole_seconds)
    return run


async def dependent(
    subject: ProofSubject, tests: Collection[TestId], moved: TestRun, whole_seconds: float
) -> dict[TestId, str]:
    """Return the tests that passed on the head and failed in the `moved` run, each with what its result depends on.

    A test that fails at the usual place, alone, depends on chance; one that fails elsewhere with the usual clock and
    order, on the directory; one that fails in the reverse order and by itself, on other tests; any other, on the clock,
    unless it just cannot run with a set clock.
    """
    failed = [test for test in tests if test not in moved.passed]
    if not failed:
        return {}
    files = {test.partition("::")[0] for test in failed}
    here, there = (
        await _run_again(subject, files, failed),
        await _run_elsewhere(subject, failed, whole_seconds, shift=None),
    )
    found = {test: "chance, or the tests before it" for test in failed if test not in here.passed}
    found |= {test: "the directory" for test in failed if test not in found and test not in there.passed}
    left = [test for test in failed if test not in found]
    turned = await _failing_in_turn(subject, tests, left) if left else {}
    found |= {test: "the tests before it" for test, alone in turned.items() if not alone}
    left = [test for test in left if test not in turned]
    set_to_now = await _run_elsewhere(subject, left, whole_seconds, shift=0) if left else TestRun()
    return found | {test: "the clock, or on the repository around it" for test in left if test in set_to_now.passed}


async def _failing_in_turn(
    subject: ProofSubject, tests: Collection[TestId], left: Collection[TestId]
) -> dict[TestId, bool]:
    """Return those of `left` that fail in the reverse order, each with True if it passes when nothing runs before it.

    Such a test is only disturbed by others, which is no fault of its proof.
    """
    turned = _reversed_files(subject, tests)
    if not turned:
        return {}
    files = {test.partition("::")[0] for test in tests}
    run = await subject.variant(files, turned, tests, purpose=_ELSEWHERE)
    found = {}
    for test in [test for test in left if test in run.failed][:SINGLY]:
        alone = await _run_again(subject, {test.partition("::")[0]}, [test])
        found[test] = test in alone.passed
    return found


def _reversed_files(subject: ProofSubject, tests: Collection[TestId]) -> dict[str, bytes | None]:
    """Return the files of these tests with the tests in the reverse order, if their order is known."""
    from worker_agent.tdd.syntax.units_order import reordered  # grammars are loaded when a head has passed

    sides = subject.change.side({test.partition("::")[0] for test in tests}, head=True)
    made = {path: reordered(path, content) for path, content in sides.items()}
    return {path: content for path, content in made.items() if content is not None}


async def _run_elsewhere(
    subject: ProofSubject,
    tests: Collection[TestId],
    whole_seconds: float,
    over: Mapping[str, bytes | None] | None = None,
    shift: int | None = CLOCK_SHIFT,
) -> TestRun:
    around = REPOSITORY if shift else {}
    laid = Overlay({**subject.pinned, **(over or {}), **around}, moved=True, clock_shift=shift, purpose=_ELSEWHERE)
    limit = max(LEAST_SECONDS, SLOWER * whole_seconds)
    chosen = Selection(frozenset(test.partition("::")[0] for test in tests), frozenset(tests))
    return await subject.run(subject.change.head, laid, chosen, limit)


async def _run_again(subject: ProofSubject, files: Collection[str], tests: Collection[TestId]) -> TestRun:
    """Run tests alone on the head, at the usual place, once more."""
    chosen = Selection(frozenset(files), frozenset(test for test in tests if "::" in test))
    return await subject.run(
        subject.change.head, Overlay(subject.pinned, again=1, purpose=RunPurpose(PurposeKind.AGAIN)), chosen, None
    )
