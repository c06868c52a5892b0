"""A pending test as the new test of its issue: the changes of its activation, and the reading of its runs (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from shared.lock.claimant import Claimant
from shared.models import Issue
from shared.pending import Marked, mark
from shared.pending.source import activated, find, path_of
from worker_agent.tdd.judging.verdict import ErrorType, Verdict, listed, result_text
from worker_agent.tdd.runners.test_run import CaseOutcome, TestId, TestRun


def pending_test(issue: Issue, claimant: Claimant) -> TestId:
    """Return the pending test that an issue is about; empty for any other issue.

    Our signature confirms it, without keys the issue's author does: the line names the test, and the test itself comes
    from the base commit.
    """
    found = mark.read(issue.body, claimant.keys)
    if found is None or not (found.signed or issue.author.id in claimant.accounts):
        return ""
    return found.test


def waiting(base: Mapping[str, bytes], test: TestId) -> Marked | None:
    """Return the pending test in the files of the base; None if it is not pending there, or there is none."""
    content = base.get(path_of(test)) if test else None
    return None if content is None else find(path_of(test), content, test)


def without_marker(base: Mapping[str, bytes], head: Mapping[str, bytes], marked: Marked | None) -> dict[str, bytes]:
    """Return the files of the base that `head` is compared with: without the marker, so that nothing else may differ.

    A placeholder may go or stay.
    """
    files = dict(base)
    path = path_of(marked.test) if marked else ""
    if marked is None or path not in files:
        return files
    if marked.bare and find(path, head.get(path, b""), marked.test) is not None:
        return files
    return files | {path: activated(files[path], marked)}


def without_pending_test(baseline: TestRun, run: TestRun, marked: Marked | None) -> TestRun:
    """Return `baseline` without the pending test, so that it counts as new.

    Cases of an activated test that pass at once in `run` count as known: they need no proof and must stay green.
    """
    if marked is None:
        return baseline
    results = {test: result for test, result in baseline.results.items() if not belongs(test, marked.test)}
    if not marked.bare:
        results |= {test: run.results[test] for test in run.passed if belongs(test, marked.test)}
    return replace(baseline, results=results)


def belongs(test: TestId, to: TestId) -> bool:
    """Return whether `test` is `to`, one of its cases, or a test in the class `to`."""
    return test == to or test.startswith((f"{to}[", f"{to}::"))


def judge(baseline: TestRun, run: TestRun, test: TestId, unstable: Collection[TestId] = ()) -> Verdict | None:
    """Return the verdict on an activated test: ok if it is green; None if it is red, or the run cannot be read.

    Otherwise the verdict holds the reasons against it. `unstable` tests flip between two runs of the base.
    """
    cases = {name: result for name, result in run.results.items() if belongs(name, test)}
    if not run.finished or run.controlled is False or run.broken(path_of(test)) or not run.failed.isdisjoint(cases):
        return None
    if not any(result.outcome is CaseOutcome.PASSED for result in cases.values()):
        details = listed(result_text(result) for result in cases.values()) or (f"{test}: did not run",)
        return Verdict(ErrorType.WORKFLOW_ABORTED, details)
    gone = baseline.passed - run.passed - {*cases, *unstable}
    if gone:
        return Verdict(ErrorType.REGRESSION, listed(sorted(gone)))
    return Verdict()
