"""Test runs made by hand, for the judge's tables."""

from __future__ import annotations

import dataclasses

from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestResult, TestRun

OLD, NEW = "tests/test_old.py", "tests/test_new.py"
KEPT, N1, N2 = f"{OLD}::test_kept", f"{NEW}::test_one", f"{NEW}::test_two"
BUG = FailureKind.ASSERTION_OR_EXCEPTION
FIRST, THIRD = FailureKind.FIRST_PARTY_IMPORT, FailureKind.THIRD_PARTY_IMPORT
PASSED, SKIPPED = CaseOutcome.PASSED, CaseOutcome.SKIPPED


def result(test: str, outcome: CaseOutcome, kind: FailureKind | None = None) -> TestResult:
    return TestResult(test, test.partition("::")[0], outcome, kind, f"Error: {kind}\nmore" if kind else "")


def ran(*tests: str | tuple[str, CaseOutcome | FailureKind], broken: dict[str, FailureKind] | None = None) -> TestRun:
    """Return a finished run: a bare id passed, a `FailureKind` says why it failed, a `CaseOutcome` says all."""
    results = {}
    for test in tests:
        name, how = test if isinstance(test, tuple) else (test, PASSED)
        results[name] = result(name, CaseOutcome.FAILED, how) if isinstance(how, FailureKind) else result(name, how)
    files = {path: result(path, CaseOutcome.ERROR, kind) for path, kind in (broken or {}).items()}
    return TestRun(results, files)


def stopped(run: TestRun, *, timed_out: bool = False) -> TestRun:
    return dataclasses.replace(run, finished=False, timed_out=timed_out, code=4, output_tail="\x1b[31mboom\x1b[0m")


BASE = ran(KEPT)
