"""The judge, by tables: what counts as green, and as proof."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tdd_runs import BASE, BUG, FIRST, KEPT, N1, N2, NEW, OLD, SKIPPED, ran, stopped

from worker_agent.tdd.judging.judge import FORCED, UNPROVEN, Apart, judge_green, unstable_tests
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.runners.test_run import FailureKind, TestRun

GREEN = ran(KEPT, N1)


@pytest.mark.parametrize(
    ("red", "green", "error", "proven"),
    [
        # proven
        (ran(KEPT, (N1, BUG)), GREEN, None, (N1,)),
        (ran(KEPT, broken={NEW: FIRST}), ran(KEPT, N1, N2), None, (N1, N2)),
        (ran(KEPT, broken={"tests": FIRST}), GREEN, None, (N1,)),
        (ran(KEPT, (N1, BUG), (N2, SKIPPED)), ran(KEPT, N1, N2), None, (N1,)),
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
        (ran(KEPT, N1), GREEN, ErrorType.IMPLEMENTATION_FAILED, ()),
        (ran(KEPT), GREEN, ErrorType.IMPLEMENTATION_FAILED, ()),
        (ran(KEPT, (N1, SKIPPED)), GREEN, ErrorType.IMPLEMENTATION_FAILED, ()),
        (ran(KEPT, (N1, BUG)), ran(KEPT, N1, N2), None, (N1,)),
        # red for no accepted reason
        (ran(KEPT, (N1, FailureKind.OTHER)), GREEN, ErrorType.TEST_UNEXPECTED_FAIL, (N1,)),
    ],
)
def test_green(red: TestRun, green: TestRun, error: ErrorType | None, proven: tuple[str, ...]) -> None:
    verdict = judge_green(BASE, red, green, files=(NEW,))
    assert (verdict.error, verdict.proven) == (error, proven)
    assert bool(verdict.details) is (error is not None)


def test_what_fails_is_named_with_its_error_and_what_broke_beside_it() -> None:
    verdict = judge_green(BASE, ran(KEPT, (N1, BUG)), ran((KEPT, BUG), (N1, BUG)), files=(NEW,))
    assert (verdict.failing, verdict.regressions) == ((N1,), (KEPT,))
    assert verdict.details == (
        f"{N1}: {BUG}: Error: {BUG}",
        "These tests passed before.",
        f"{KEPT}: {BUG}: Error: {BUG}",
    )


def test_a_lost_test_is_told_with_its_broken_file_or_as_absent() -> None:
    red = ran(KEPT, (N1, BUG))
    broken = judge_green(BASE, red, ran(N1, broken={OLD: FIRST}), files=(NEW,)).details
    assert broken[1] == f"{KEPT}: {OLD}: {FIRST}: Error: {FIRST}"
    assert judge_green(BASE, red, ran(N1), files=(NEW,)).details[1] == f"{KEPT}: did not run"


def test_unstable_tests_are_no_regressions_and_no_proof() -> None:
    flaky = f"{OLD}::test_flaky"
    first, second = ran(KEPT, flaky), ran(KEPT, (flaky, BUG), N2)
    unstable = unstable_tests(first, second)
    assert unstable == {flaky, N2}
    red, green = ran(KEPT, (N1, BUG), N2), ran(KEPT, N1, N2, (flaky, BUG))
    steady = judge_green(first, red, green, files=(NEW,), unstable=unstable)
    assert (steady.ok, steady.proven) == (True, (N1,))
    assert judge_green(first, red, green, files=(NEW,)).error is ErrorType.REGRESSION


def test_an_old_test_that_is_judged_elsewhere_is_no_regression() -> None:
    red, green = ran(KEPT, (N1, BUG)), ran(N1)
    assert judge_green(BASE, red, green, files=(NEW,)).regressions == (KEPT,)
    assert judge_green(BASE, red, green, files=(NEW,), apart=Apart(lambda result: result.file == OLD)).ok


def test_a_changed_old_test_is_proof_like_a_new_one() -> None:
    verdict = judge_green(BASE, ran((KEPT, BUG)), ran(KEPT), files=(OLD,))
    assert (verdict.ok, verdict.proven) == (True, (KEPT,))
    failing = judge_green(BASE, ran((KEPT, BUG)), ran((KEPT, BUG)), files=(OLD,))
    assert (failing.error, failing.failing) == (ErrorType.IMPLEMENTATION_FAILED, (KEPT,))


def test_an_old_test_in_a_file_that_is_not_built_on_the_base_is_no_proof() -> None:
    red, green = ran(broken={OLD: FIRST}), ran(KEPT, f"{OLD}::test_new")
    assert judge_green(BASE, red, green, files=(OLD,)).proven == (f"{OLD}::test_new",)
    changed = judge_green(BASE, red, green, files=(OLD,), apart=Apart(lambda result: result.id == KEPT))
    assert changed.proven == (KEPT, f"{OLD}::test_new")


def test_cases_with_other_ids_are_the_same_test() -> None:
    case = f"{OLD}::test_all"
    base, red = ran(KEPT, f"{case}[1]", f"{case}[2]"), ran(KEPT, (N1, BUG))
    assert judge_green(base, red, ran(KEPT, N1, f"{case}[2]", f"{case}[3]"), files=(NEW,)).ok
    assert judge_green(base, red, ran(KEPT, N1, f"{case}[2]"), files=(NEW,)).regressions == (f"{case}[1]",)
    failing = ran(KEPT, N1, f"{case}[2]", f"{case}[4]", (f"{case}[3]", BUG))
    assert judge_green(base, red, failing, files=(NEW,)).regressions == (f"{case}[1]",)


def test_control_tests_that_are_no_longer_reported_are_told() -> None:
    red = replace(ran(KEPT, (N1, BUG)), controlled=True)
    assert judge_green(BASE, red, GREEN, files=(NEW,)).details == (FORCED,)
    assert judge_green(BASE, red, replace(GREEN, controlled=True), files=(NEW,)).ok


def test_a_red_file_whose_tests_have_vanished_is_missed() -> None:
    other = "tests/test_other.py"
    red, green = ran(KEPT, (N1, BUG), broken={other: FIRST}), ran(KEPT, N1)
    verdict = judge_green(BASE, red, green, files=(NEW, other))
    assert (verdict.error, verdict.failing) == (ErrorType.IMPLEMENTATION_FAILED, (other,))
    assert judge_green(BASE, red, ran(KEPT, N1, f"{other}::test_x"), files=(NEW, other)).ok


def test_a_file_that_only_serves_other_tests_is_not_missed() -> None:
    red = ran(KEPT, broken={NEW: FIRST, "tests/macros.rs": FIRST})
    green = ran(KEPT, N1)
    files = (NEW, "tests/macros.rs")
    assert judge_green(BASE, red, green, files=files).failing == ("tests/macros.rs",)
    assert judge_green(BASE, red, green, files=files, apart=Apart(holds_tests=lambda path: path == NEW)).ok


def test_an_old_test_that_another_one_kept_from_running_on_the_base_is_no_proof() -> None:
    red, green = ran((N1, BUG), (KEPT, FailureKind.OTHER)), ran(KEPT, N1)
    assert judge_green(BASE, red, green, files=(NEW, OLD)).proven == (N1,)
    assert judge_green(BASE, ran((N1, BUG), (KEPT, BUG)), green, files=(NEW, OLD)).proven == (N1, KEPT)


def test_what_does_not_collect_on_the_head_is_named_where_nothing_is_proven() -> None:
    there = ran("tests/test_kept.py::test_kept", broken={NEW: FIRST})
    details = judge_green(there, there, there, files=(NEW,)).details
    assert details[:2] == (UNPROVEN, "These tests do not collect on the head.")
    assert details[2].startswith(NEW)
    assert judge_green(BASE, ran(KEPT), ran(KEPT), files=(NEW,)).details == (UNPROVEN,)
