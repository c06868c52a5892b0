"""The judge, by tables: whether a base is sound, and what counts as red."""

from __future__ import annotations

import pytest
from tdd_runs import BASE, BUG, FIRST, KEPT, N1, N2, NEW, OLD, SKIPPED, THIRD, ran, stopped

from worker_agent.tdd.judging.judge import judge_baseline, judge_red
from worker_agent.tdd.judging.verdict import DETAILS, LINE_CHARS, ErrorType, RedVerdict
from worker_agent.tdd.runners.report import Kind, TestRun


@pytest.mark.parametrize(
    ("run", "error"),
    [
        (ran(), None),
        (BASE, None),
        (ran((KEPT, BUG)), None),
        (ran(KEPT, broken={NEW: Kind.SYNTAX}), None),
        (ran((KEPT, BUG), broken={NEW: Kind.SYNTAX}), None),
        (ran(broken={NEW: Kind.SYNTAX}), ErrorType.WORKFLOW_ABORTED),
        (ran((KEPT, SKIPPED), broken={NEW: Kind.SYNTAX}), ErrorType.WORKFLOW_ABORTED),
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
    changed: tuple[str, ...] = (NEW,),
    may_change: tuple[str, ...] = (),
    duplicates: dict[str, str] | None = None,
) -> RedVerdict:
    return judge_red(
        baseline,
        red,
        changed_files=changed,
        may_change=may_change,
        old_test_files_changed={},
        duplicates=duplicates,
    )


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
        (ran(KEPT, broken={NEW: Kind.SYNTAX}), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, broken={NEW: THIRD}), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, broken={NEW: Kind.COLLECTION}), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, (N1, Kind.MISSING_FIXTURE)), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, (N1, BUG), (N2, Kind.MISSING_FIXTURE)), ErrorType.COMPILATION_ERROR, (), ()),
        (ran((N1, BUG), broken={OLD: FIRST}), ErrorType.COMPILATION_ERROR, (), ()),
        (ran((N1, BUG), broken={"tests": FIRST}), ErrorType.COMPILATION_ERROR, (), ()),
        (ran((N1, BUG), broken={"tests/other.py": Kind.SYNTAX}), ErrorType.COMPILATION_ERROR, (), ()),
        # nothing new
        (ran(KEPT), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, (N1, SKIPPED)), ErrorType.COMPILATION_ERROR, (), ()),
        (ran(KEPT, f"{OLD}::test_all[extra]"), ErrorType.COMPILATION_ERROR, (), ()),
        # red, but not because the behaviour is missing
        (ran(KEPT, (N1, THIRD)), ErrorType.TEST_UNEXPECTED_FAIL, (N1,), ()),
        (ran(KEPT, (N1, Kind.OTHER), (N2, Kind.TIMEOUT)), ErrorType.TEST_UNEXPECTED_FAIL, (N1, N2), ()),
        # cut short
        (stopped(ran((N1, BUG)), timed_out=True), ErrorType.TEST_UNEXPECTED_FAIL, (), ()),
        (stopped(ran((N1, BUG))), ErrorType.COMPILATION_ERROR, (), ()),
    ],
)
def test_red(red: TestRun, error: ErrorType | None, reds: tuple[str, ...], passing: tuple[str, ...]) -> None:
    verdict = _red(red)
    assert (verdict.error, verdict.red, verdict.passing) == (error, reds, passing)
    assert bool(verdict.details) is (error is not None)


def test_a_file_that_was_broken_before_is_no_fault_unless_the_cycle_touches_it() -> None:
    base, red = ran(KEPT, broken={"tests/bad.py": THIRD}), ran(KEPT, (N1, BUG), broken={"tests/bad.py": THIRD})
    assert _red(red, base).ok
    assert _red(red, base, changed=(NEW, "tests/bad.py")).error is ErrorType.COMPILATION_ERROR


def test_a_listed_old_file_may_be_rewritten_and_its_rewritten_tests_count() -> None:
    assert _red(ran((KEPT, BUG)), changed=(OLD,)).error is ErrorType.COMPILATION_ERROR
    listed = _red(ran((KEPT, BUG)), changed=(OLD,), may_change=(OLD,))
    assert (listed.ok, listed.red) == (True, (KEPT,))
    assert _red(ran(broken={OLD: FIRST}), changed=(OLD,), may_change=(OLD,)).red == (OLD,)
    assert _red(ran(KEPT), changed=(OLD,), may_change=(OLD,)).error is ErrorType.COMPILATION_ERROR


def test_a_test_that_failed_on_the_base_is_not_new_even_in_a_listed_file() -> None:
    verdict = _red(ran((KEPT, BUG)), baseline=ran((KEPT, BUG)), changed=(OLD,), may_change=(OLD,))
    assert (verdict.error, verdict.red) == (ErrorType.COMPILATION_ERROR, ())


@pytest.mark.parametrize(("may_change", "error"), [((), ErrorType.REGRESSION), ((OLD,), None)])
def test_old_tests_change_only_in_listed_files(may_change: tuple[str, ...], error: ErrorType | None) -> None:
    verdict = judge_red(
        BASE,
        ran(KEPT, (N1, BUG)),
        changed_files=(NEW, OLD),
        may_change=may_change,
        old_test_files_changed={OLD: ("test_kept was changed.",)},
    )
    assert verdict.error is error
    assert ("test_kept was changed." in verdict.details) is (error is not None)


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
        (ran(broken={NEW: Kind.SYNTAX}), False),
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
