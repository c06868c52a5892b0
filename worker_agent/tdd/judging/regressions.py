"""The judgement of a later change: everything that worked must still work (pure)."""

from __future__ import annotations

from collections.abc import Collection

from worker_agent.tdd.judging.verdict import ErrorType, Verdict, listed, output, result_text
from worker_agent.tdd.runners.report import TestRun


def judge_kept(before: TestRun, after: TestRun, *, may_change: Collection[str] = ()) -> Verdict:
    """Return whether every test that passed still does; tests of files in `may_change` may disappear, not fail."""
    if not after.finished:
        return Verdict(ErrorType.IMPLEMENTATION_FAILED, output(after))
    gone = [
        test
        for test in sorted(before.passed - after.passed)
        if test in after.results or before.results[test].file not in may_change
    ]
    if gone:
        lines = (result_text(after.results[test]) if test in after.results else f"{test}: did not run" for test in gone)
        return Verdict(ErrorType.REGRESSION, ("These tests passed before.", *listed(lines)))
    broken = sorted(after.broken_files.keys() - before.broken_files.keys())
    if broken:
        return Verdict(ErrorType.COMPILATION_ERROR, listed(result_text(after.broken_files[path]) for path in broken))
    return Verdict()
