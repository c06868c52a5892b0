"""Values of a test run: counts, digest, broken directories."""

from __future__ import annotations

import hashlib

import pytest

from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestResult, TestRun

A, B, C, D = "t.py::a", "t.py::b", "t.py::c", "t.py::d"
RESULTS = {
    A: TestResult(A, "t.py", CaseOutcome.PASSED),
    B: TestResult(B, "t.py", CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "\n  assert 1 == 2  \nmore"),
    C: TestResult(C, "t.py", CaseOutcome.ERROR, FailureKind.MISSING_FIXTURE),
    D: TestResult(D, "t.py", CaseOutcome.SKIPPED),
}
BROKEN = TestResult("tests/sub", "tests/sub", CaseOutcome.ERROR, FailureKind.SYNTAX, "SyntaxError: x")


def test_passed_and_failed_leave_out_what_was_skipped() -> None:
    run = TestRun(RESULTS)
    assert run.passed == {A}
    assert run.failed == {B, C}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("tests/sub", True),
        ("tests/sub/test_a.py", True),
        ("tests/sub/deep/test_a.py", True),
        ("tests/subway/test_a.py", False),
        ("tests/test_a.py", False),
        ("", False),
    ],
)
def test_a_broken_directory_stands_for_all_below_it(path: str, found: bool) -> None:
    assert (TestRun(broken_files={"tests/sub": BROKEN}).broken(path) is BROKEN) is found


def test_the_digest_names_the_passing_tests_whatever_their_order() -> None:
    extra = TestResult("t.py::0", "t.py", CaseOutcome.PASSED)
    forward, backward = TestRun({**RESULTS, extra.id: extra}), TestRun({extra.id: extra, **RESULTS})
    assert forward.digest() == backward.digest() == hashlib.sha256(b"t.py::0\nt.py::a").hexdigest()
    assert TestRun(RESULTS).digest() != forward.digest()


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (TestRun(RESULTS), "1 passed, 2 failed, 1 skipped"),
        (TestRun(), "no tests"),
        (TestRun(broken_files={"tests/sub": BROKEN}), "1 file not collected"),
        (TestRun(broken_files={"a": BROKEN, "b": BROKEN}), "2 files not collected"),
        (TestRun({A: RESULTS[A]}, finished=False, code=137), "1 passed, not finished (exit code 137)"),
        (TestRun(finished=False, timed_out=True), "stopped at the deadline"),
    ],
)
def test_one_line(run: TestRun, line: str) -> None:
    assert run.one_line() == line


def test_the_first_line_of_a_message_is_its_first_text() -> None:
    assert RESULTS[B].first_line == "assert 1 == 2"
    assert RESULTS[A].first_line == ""
