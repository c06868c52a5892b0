"""Test runs made by hand, for the judge's tables."""

from __future__ import annotations

import dataclasses

from worker_agent.tdd.runners.report import Kind, Outcome, TestResult, TestRun

OLD, NEW = "tests/test_old.py", "tests/test_new.py"
KEPT, N1, N2 = f"{OLD}::test_kept", f"{NEW}::test_one", f"{NEW}::test_two"
BUG = Kind.ASSERTION_OR_EXCEPTION
FIRST, THIRD = Kind.FIRST_PARTY_IMPORT, Kind.THIRD_PARTY_IMPORT
PASSED, SKIPPED = Outcome.PASSED, Outcome.SKIPPED


def result(test: str, outcome: Outcome, kind: Kind | None = None) -> TestResult:
    return TestResult(test, test.partition("::")[0], outcome, kind, f"Error: {kind}\nmore" if kind else "")


def ran(*tests: str | tuple[str, Outcome | Kind], broken: dict[str, Kind] | None = None) -> TestRun:
    """A finished run: a bare id passed, a `Kind` says why it failed, an `Outcome` says all."""
    results = {}
    for test in tests:
        name, how = test if isinstance(test, tuple) else (test, PASSED)
        results[name] = result(name, Outcome.FAILED, how) if isinstance(how, Kind) else result(name, how)
    files = {path: result(path, Outcome.ERROR, kind) for path, kind in (broken or {}).items()}
    return TestRun(results, files)


def stopped(run: TestRun, *, timed_out: bool = False) -> TestRun:
    return dataclasses.replace(run, finished=False, timed_out=timed_out, code=4, output_tail="\x1b[31mboom\x1b[0m")


BASE = ran(KEPT)
