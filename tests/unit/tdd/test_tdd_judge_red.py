"""The judge, by tables: whether a base is sound, and what counts as red."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tdd_runs import BASE, BUG, FIRST, KEPT, N1, N2, NEW, OLD, SKIPPED, THIRD, ran, stopped

from worker_agent.tdd.judging.judge import FORCED, judge_baseline, judge_red
from worker_agent.tdd.judging.verdict import DETAILS, LINE_CHARS, ErrorType, RedVerdict
from worker_agent.tdd.runners.test_run import FailureKind, TestRun


@pytest.mark.parametrize(
    ("run", "error"),
    [
        (ran(), None),
        (BASE, None),
        (ran((KEPT, BUG)), None),
        (ran(KEPT, broken={NEW: FailureKind.SYNTAX}), None),
        (ran((KEPT, BUG), broken={NEW: FailureKind.SYNTAX}), None),
        (ran(broken={NEW: FailureKind.SYNTAX}), ErrorType.WORKFLOW_ABORTED),
        (ran((KEPT, SKIPPED), broken={NEW: FailureKind.SYNTAX}), ErrorType.WORKFLOW_ABORTED),
        (stopped(ran()), ErrorType.WORKFLOW_ABORTED),
        (stopped(BASE, timed_out=True), ErrorType.WORKFLOW_ABORTED),
    ],
)
def test_a_base_must_run_but_need_not_pass(run: TestRun, error: ErrorType | None) -> None:
    verdict = judge_baseline(run)
    assert (verdict.error, verdict.ok) == (error, error is None)
    assert bool(verdict.details) is (error is not None)


def test_a_base_that_does_not_run_is_shown_with_its_output() -> None:
    details = judge_baseline(stopped(ran())).details
    assert details == (
        "The tests of the base cannot be run.",
        "The test command ended with: not finished (exit code 4).",
        "boom",
    )


def _red(
    red: TestRun,
    baseline: TestRun = BASE,
    files: tuple[str, ...] = (NEW,),
    duplicates: dict[str, str] | None = None,
    new_dependencies: bool = False,
) -> RedVerdict:
    return judge_red(baseline, red, files=files, duplicates=duplicates, new_dependencies=new_dependencies)


@pytest.mark.parametrize(
    ("red", "error", "reds", "passing"),
    [
        # red for an accepted reason
        (ran(KEPT, (N1, BUG)), None, (N1,), ()),
        (ran(KEPT, (N1, BUG), (N2, BUG)), None, (N1, N2), ()),
        (ran(KEPT, (N1, FIRST)), None, (N1,), ()),
        (ran(KEPT, broken={NEW: FIRST}), None, (NEW,), ()),
        # one accepted reason is enough
        (ran(KEPT, (N1, BUG), (N2, THIRD)), None, (N1, N2), ()),
        (ran(KEPT, (N1, BUG), (N2, SKIPPED)), None, (N1,), ()),
        # passes at once
        (ran(KEPT, N1), ErrorType.TEST_UNEXPECTED_PASS, (), (N1,)),
        (ran(KEPT, N1, (N2, BUG)), ErrorType.TEST_UNEXPECTED_PASS, (N2,), (N1,)),
        # does not collect
        (ran(KEPT, broken={NEW: FailureKind.SYNTAX}), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, broken={NEW: THIRD}), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, broken={NEW: FailureKind.COLLECTION}), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, (N1, FailureKind.MISSING_FIXTURE)), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, (N1, BUG), (N2, FailureKind.MISSING_FIXTURE)), ErrorType.COMPILATION_ERROR, (), ()),
        # where one file is not built, others of its package are not, either
        (ran((N1, BUG), broken={OLD: FIRST}), None, (N1,), ()),
        # nothing new
        (ran(KEPT), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, (N1, SKIPPED)), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, f"{OLD}::test_all[extra]"), ErrorType.COMPILATION_ERROR, (), ()),
        # red, but not because the behaviour is missing
        (ran(KEPT, (N1, THIRD)), ErrorType.TEST_UNEXPECTED_FAIL, (N1,), ()),
        (ran(KEPT, (N1, FailureKind.OTHER), (N2, FailureKind.TIMEOUT)), ErrorType.TEST_UNEXPECTED_FAIL, (N1, N2), ()),
        # cut short
        (stopped(ran((N1, BUG)), timed_out=True), ErrorType.TEST_UNEXPECTED_FAIL, (), ()),
        (stopped(ran((N1, BUG))), ErrorType.COMPILATION_ERROR, (), ()),
    ],
)
def test_red(red: TestRun, error: ErrorType | None, reds: tuple[str, ...], passing: tuple[str, ...]) -> None:
    verdict = _red(red)
    assert (verdict.error, verdict.red, verdict.passing) == (error, reds, passing)
    assert bool(verdict.details) is (error is not None)


def test_a_file_that_was_broken_before_is_no_fault() -> None:
    base, red = ran(KEPT, broken={"tests/bad.py": THIRD}), ran(KEPT, (N1, BUG), broken={"tests/bad.py": THIRD})
    assert _red(red, base, files=(NEW, "tests/bad.py")).ok


def test_an_old_test_that_expects_something_else_now_is_red_like_a_new_one() -> None:
    assert _red(ran((KEPT, BUG)), files=(OLD,)).red == (KEPT,)
    assert _red(ran(KEPT), files=(OLD,)).error is ErrorType.COMPILATION_ERROR


def test_an_old_test_that_failed_before_says_nothing_new() -> None:
    verdict = _red(ran((KEPT, BUG)), baseline=ran((KEPT, BUG)), files=(OLD,))
    assert (verdict.error, verdict.red) == (ErrorType.COMPILATION_ERROR, ())


def test_a_missing_package_counts_where_the_change_brings_packages() -> None:
    red = ran(KEPT, broken={NEW: THIRD})
    assert _red(red).error is ErrorType.COMPILATION_ERROR
    assert _red(red, new_dependencies=True).red == (NEW,)


def test_a_file_that_does_not_build_for_its_types_is_red_in_compiled_languages() -> None:
    rust = "tests/it.rs"
    assert _red(ran(KEPT, broken={rust: FailureKind.COLLECTION}), files=(rust,)).red == (rust,)
    assert _red(ran(KEPT, broken={rust: FailureKind.SYNTAX}), files=(rust,)).error is ErrorType.COMPILATION_ERROR


def test_control_tests_that_pass_are_told() -> None:
    verdict = _red(replace(ran(KEPT, (N1, BUG)), controlled=False))
    assert (verdict.error, verdict.details) == (ErrorType.TEST_UNEXPECTED_PASS, (FORCED,))


def test_duplicates_are_named_and_set_aside_with_their_parameters() -> None:
    red = ran(KEPT, (f"{N1}[a]", BUG), (N2, BUG), f"{N1}_more")
    verdict = _red(red, duplicates={N1: KEPT, f"{OLD}::elsewhere": KEPT})
    assert verdict.error is ErrorType.DUPLICATE_TEST
    assert verdict.details == (f"{N1}[a]: repeats {KEPT}",)
    assert (verdict.duplicates, verdict.red, verdict.passing) == ((f"{N1}[a]",), (N2,), (f"{N1}_more",))
    assert verdict.skip == (f"{N1}[a]", f"{N1}_more")


@pytest.mark.parametrize(
    ("red", "worth"),
    [
        (ran((N1, BUG)), True),
        (ran(N1, (N2, BUG)), True),
        (ran(N1), False),
        (ran((N1, THIRD)), False),
        (ran(broken={NEW: FailureKind.SYNTAX}), False),
    ],
)
def test_what_is_worth_implementing(red: TestRun, worth: bool) -> None:
    assert _red(red).worth_implementing is worth


def test_details_stay_short_whatever_the_tests_print() -> None:
    names = [f"{NEW}::test_{number:03d}[{'x' * 500}]" for number in range(DETAILS + 7)]
    details = _red(ran(KEPT, *names)).details
    assert len(details) == DETAILS + 1
    assert max(map(len, details)) <= LINE_CHARS
    assert details[-1] == "... and 7 more"
