"""The judge, by tables: what counts as green, and as proof."""

from __future__ import annotations

import pytest
from tdd_runs import BASE, BUG, FIRST, KEPT, N1, N2, NEW, OLD, SKIPPED, THIRD, ran, stopped

from worker_agent.tdd.judging.judge import judge_green, unstable_tests
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.runners.report import Kind, TestRun

GREEN = ran(KEPT, N1)


@pytest.mark.parametrize(
    ("red", "green", "error", "proven"),
    [
        # proven
        (ran(KEPT, (N1, BUG)), GREEN, None, (N1,)),
        (ran(KEPT, broken={NEW: FIRST}), ran(KEPT, N1, N2), None, (N1, N2)),
        (ran(KEPT, broken={"tests": FIRST}), GREEN, None, (N1,)),
        (ran(KEPT, (N1, BUG), (N2, SKIPPED)), ran(KEPT, N1, N2), None, (N1, N2)),
        (ran(KEPT, (N1, BUG), (N2, SKIPPED)), ran(KEPT, N1, (N2, SKIPPED)), None, (N1,)),
        (ran(KEPT, (N1, BUG), (N2, SKIPPED)), GREEN, None, (N1,)),
        (ran(KEPT, broken={NEW: FIRST}), ran(KEPT, N1, (N2, SKIPPED)), None, (N1,)),
        # old parametrised tests may grow without proof
        (ran(KEPT, (N1, BUG)), ran(KEPT, N1, f"{OLD}::test_all[extra]"), None, (N1,)),
        # not implemented
        (ran(KEPT, (N1, BUG)), ran(KEPT, (N1, BUG)), ErrorType.IMPLEMENTATION_FAILED, ()),
        (ran(KEPT, (N1, BUG), (N2, BUG)), ran(KEPT, N1, (N2, BUG)), ErrorType.IMPLEMENTATION_FAILED, (N1,)),
        (ran(KEPT, (N1, BUG), (N2, BUG)), ran(KEPT, N1, (N2, SKIPPED)), ErrorType.IMPLEMENTATION_FAILED, (N1,)),
        (ran(KEPT, (N1, BUG), (N2, BUG)), GREEN, ErrorType.IMPLEMENTATION_FAILED, (N1,)),
        (ran(KEPT, broken={NEW: FIRST}), ran(KEPT, broken={NEW: FIRST}), ErrorType.IMPLEMENTATION_FAILED, ()),
        (ran(KEPT, broken={NEW: FIRST}), ran(KEPT), ErrorType.IMPLEMENTATION_FAILED, ()),
        (ran(KEPT), ran(KEPT), ErrorType.IMPLEMENTATION_FAILED, ()),
        (ran(KEPT, (N1, BUG)), stopped(GREEN), ErrorType.IMPLEMENTATION_FAILED, ()),
        (ran(KEPT, (N1, BUG)), stopped(GREEN, timed_out=True), ErrorType.IMPLEMENTATION_FAILED, ()),
        # regressions
        (ran(KEPT, (N1, BUG)), ran((KEPT, BUG), N1), ErrorType.REGRESSION, (N1,)),
        (ran(KEPT, (N1, BUG)), ran((KEPT, SKIPPED), N1), ErrorType.REGRESSION, (N1,)),
        (ran(KEPT, (N1, BUG)), ran(N1), ErrorType.REGRESSION, (N1,)),
        (ran(KEPT, (N1, BUG)), ran(N1, broken={OLD: FIRST}), ErrorType.REGRESSION, (N1,)),
        (ran(KEPT, (N1, BUG)), ran((KEPT, BUG), (N1, BUG)), ErrorType.IMPLEMENTATION_FAILED, ()),
        # not seen red
        (ran(KEPT, N1), GREEN, ErrorType.TEST_UNEXPECTED_PASS, ()),
        (ran(KEPT), GREEN, ErrorType.TEST_UNEXPECTED_PASS, ()),
        (ran(KEPT, (N1, BUG)), ran(KEPT, N1, N2), ErrorType.TEST_UNEXPECTED_PASS, (N1,)),
        # red for no accepted reason
        (ran(KEPT, (N1, Kind.OTHER)), GREEN, ErrorType.TEST_UNEXPECTED_FAIL, (N1,)),
        (ran(KEPT, (N1, SKIPPED)), GREEN, ErrorType.TEST_UNEXPECTED_FAIL, (N1,)),
        (ran(KEPT, broken={NEW: THIRD}), GREEN, ErrorType.TEST_UNEXPECTED_FAIL, (N1,)),
    ],
)
def test_green(red: TestRun, green: TestRun, error: ErrorType | None, proven: tuple[str, ...]) -> None:
    verdict = judge_green(BASE, red, green, new_files=(NEW,))
    assert (verdict.error, verdict.proven) == (error, proven)
    assert bool(verdict.details) is (error is not None)


def test_what_fails_is_named_with_its_error_and_what_broke_beside_it() -> None:
    verdict = judge_green(BASE, ran(KEPT, (N1, BUG)), ran((KEPT, BUG), (N1, BUG)), new_files=(NEW,))
    assert (verdict.failing, verdict.regressions) == ((N1,), (KEPT,))
    assert verdict.details == (
        f"{N1}: {BUG}: Error: {BUG}",
        "These tests passed before.",
        f"{KEPT}: {BUG}: Error: {BUG}",
    )


def test_a_lost_test_is_told_with_its_broken_file_or_as_absent() -> None:
    red = ran(KEPT, (N1, BUG))
    broken = judge_green(BASE, red, ran(N1, broken={OLD: FIRST}), new_files=(NEW,)).details
    assert broken[1] == f"{KEPT}: {OLD}: {FIRST}: Error: {FIRST}"
    assert judge_green(BASE, red, ran(N1), new_files=(NEW,)).details[1] == f"{KEPT}: did not run"


def test_unstable_tests_are_no_regressions_and_no_proof() -> None:
    flaky = f"{OLD}::test_flaky"
    first, second = ran(KEPT, flaky), ran(KEPT, (flaky, BUG), N2)
    unstable = unstable_tests(first, second)
    assert unstable == {flaky, N2}
    red, green = ran(KEPT, (N1, BUG), N2), ran(KEPT, N1, N2, (flaky, BUG))
    steady = judge_green(first, red, green, new_files=(NEW,), unstable=unstable)
    assert (steady.ok, steady.proven) == (True, (N1,))
    assert judge_green(first, red, green, new_files=(NEW,)).error is ErrorType.REGRESSION


@pytest.mark.parametrize(
    ("green", "error"),
    [
        (ran(N1), None),
        (ran((KEPT, BUG), N1), ErrorType.REGRESSION),
        (ran(N1, broken={OLD: FIRST}), ErrorType.REGRESSION),
    ],
)
def test_a_test_in_a_listed_file_may_go_but_not_fail(green: TestRun, error: ErrorType | None) -> None:
    verdict = judge_green(BASE, ran(KEPT, (N1, BUG)), green, new_files=(NEW,), may_change=(OLD,))
    assert verdict.error is error


def test_a_rewritten_old_test_is_new_and_must_be_proved() -> None:
    verdict = judge_green(BASE, ran((KEPT, BUG)), ran(KEPT), new_files=(OLD,), may_change=(OLD,))
    assert (verdict.ok, verdict.proven) == (True, (KEPT,))
    failing = judge_green(BASE, ran((KEPT, BUG)), ran((KEPT, BUG)), new_files=(OLD,), may_change=(OLD,))
    assert (failing.error, failing.failing) == (ErrorType.IMPLEMENTATION_FAILED, (KEPT,))


def test_a_red_file_whose_tests_have_vanished_is_missed() -> None:
    other = "tests/test_other.py"
    red, green = ran(KEPT, (N1, BUG), broken={other: FIRST}), ran(KEPT, N1)
    verdict = judge_green(BASE, red, green, new_files=(NEW, other))
    assert (verdict.error, verdict.failing) == (ErrorType.IMPLEMENTATION_FAILED, (other,))
    assert judge_green(BASE, red, ran(KEPT, N1, f"{other}::test_x"), new_files=(NEW, other)).ok
