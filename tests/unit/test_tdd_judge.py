"""The judge, by tables: what counts as red, as green, as proof."""

from __future__ import annotations

import dataclasses

import pytest

from worker_agent.tdd.judge import judge_baseline, judge_green, judge_red, unstable_tests
from worker_agent.tdd.report import Kind, Outcome, TestResult, TestRun
from worker_agent.tdd.verdict import DETAILS, LINE_CHARS, ErrorType, RedVerdict

OLD, NEW = "tests/test_old.py", "tests/test_new.py"
KEPT, N1, N2 = f"{OLD}::test_kept", f"{NEW}::test_one", f"{NEW}::test_two"
BUG = Kind.ASSERTION_OR_EXCEPTION
FIRST, THIRD = Kind.FIRST_PARTY_IMPORT, Kind.THIRD_PARTY_IMPORT
Row = tuple[str, Outcome, Kind | None]
PASSED, SKIPPED = Outcome.PASSED, Outcome.SKIPPED


def _result(test: str, outcome: Outcome, kind: Kind | None = None) -> TestResult:
    return TestResult(test, test.partition("::")[0], outcome, kind, f"Error: {kind}\nmore" if kind else "")


def _run(*tests: str | tuple[str, Outcome | Kind], broken: dict[str, Kind] | None = None) -> TestRun:
    """A finished run: a bare id passed, a `Kind` says why it failed, an `Outcome` says all."""
    results = {}
    for test in tests:
        name, how = test if isinstance(test, tuple) else (test, PASSED)
        results[name] = _result(name, Outcome.FAILED, how) if isinstance(how, Kind) else _result(name, how)
    files = {path: _result(path, Outcome.ERROR, kind) for path, kind in (broken or {}).items()}
    return TestRun(results, files)


def _stopped(run: TestRun, *, timed_out: bool = False) -> TestRun:
    return dataclasses.replace(run, finished=False, timed_out=timed_out, code=4, output_tail="\x1b[31mboom\x1b[0m")


BASE = _run(KEPT)


@pytest.mark.parametrize(
    ("run", "error"),
    [
        (_run(), None),
        (BASE, None),
        (_run((KEPT, BUG)), None),
        (_run(KEPT, broken={NEW: Kind.SYNTAX}), None),
        (_run((KEPT, BUG), broken={NEW: Kind.SYNTAX}), None),
        (_run(broken={NEW: Kind.SYNTAX}), ErrorType.WORKFLOW_ABORTED),
        (_run((KEPT, SKIPPED), broken={NEW: Kind.SYNTAX}), ErrorType.WORKFLOW_ABORTED),
        (_stopped(_run()), ErrorType.WORKFLOW_ABORTED),
        (_stopped(BASE, timed_out=True), ErrorType.WORKFLOW_ABORTED),
    ],
)
def test_a_base_must_run_but_need_not_pass(run: TestRun, error: ErrorType | None) -> None:
    verdict = judge_baseline(run)
    assert (verdict.error, verdict.ok) == (error, error is None)
    assert bool(verdict.details) is (error is not None)


def test_a_base_that_does_not_run_is_shown_with_its_output() -> None:
    details = judge_baseline(_stopped(_run())).details
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
        (_run(KEPT, (N1, BUG)), None, (N1,), ()),
        (_run(KEPT, (N1, BUG), (N2, BUG)), None, (N1, N2), ()),
        (_run(KEPT, (N1, FIRST)), None, (N1,), ()),
        (_run(KEPT, broken={NEW: FIRST}), None, (NEW,), ()),
        # one accepted reason is enough
        (_run(KEPT, (N1, BUG), (N2, THIRD)), None, (N1, N2), ()),
        (_run(KEPT, (N1, BUG), (N2, SKIPPED)), None, (N1,), ()),
        # passes at once
        (_run(KEPT, N1), ErrorType.TEST_UNEXPECTED_PASS, (), (N1,)),
        (_run(KEPT, N1, (N2, BUG)), ErrorType.TEST_UNEXPECTED_PASS, (N2,), (N1,)),
        # does not collect
        (_run(KEPT, broken={NEW: Kind.SYNTAX}), ErrorType.COMPILATION_ERROR, (), ()),
        (_run(KEPT, broken={NEW: THIRD}), ErrorType.COMPILATION_ERROR, (), ()),
        (_run(KEPT, broken={NEW: Kind.COLLECTION}), ErrorType.COMPILATION_ERROR, (), ()),
        (_run(KEPT, (N1, Kind.MISSING_FIXTURE)), ErrorType.COMPILATION_ERROR, (), ()),
        (_run(KEPT, (N1, BUG), (N2, Kind.MISSING_FIXTURE)), ErrorType.COMPILATION_ERROR, (), ()),
        (_run((N1, BUG), broken={OLD: FIRST}), ErrorType.COMPILATION_ERROR, (), ()),
        (_run((N1, BUG), broken={"tests": FIRST}), ErrorType.COMPILATION_ERROR, (), ()),
        (_run((N1, BUG), broken={"tests/other.py": Kind.SYNTAX}), ErrorType.COMPILATION_ERROR, (), ()),
        # nothing new
        (_run(KEPT), ErrorType.COMPILATION_ERROR, (), ()),
        (_run(KEPT, (N1, SKIPPED)), ErrorType.COMPILATION_ERROR, (), ()),
        (_run(KEPT, f"{OLD}::test_all[extra]"), ErrorType.COMPILATION_ERROR, (), ()),
        # red, but not because the behaviour is missing
        (_run(KEPT, (N1, THIRD)), ErrorType.TEST_UNEXPECTED_FAIL, (N1,), ()),
        (_run(KEPT, (N1, Kind.OTHER), (N2, Kind.TIMEOUT)), ErrorType.TEST_UNEXPECTED_FAIL, (N1, N2), ()),
        # cut short
        (_stopped(_run((N1, BUG)), timed_out=True), ErrorType.TEST_UNEXPECTED_FAIL, (), ()),
        (_stopped(_run((N1, BUG))), ErrorType.COMPILATION_ERROR, (), ()),
    ],
)
def test_red(red: TestRun, error: ErrorType | None, reds: tuple[str, ...], passing: tuple[str, ...]) -> None:
    verdict = _red(red)
    assert (verdict.error, verdict.red, verdict.passing) == (error, reds, passing)
    assert bool(verdict.details) is (error is not None)


def test_a_file_that_was_broken_before_is_no_fault_unless_the_cycle_touches_it() -> None:
    base, red = _run(KEPT, broken={"tests/bad.py": THIRD}), _run(KEPT, (N1, BUG), broken={"tests/bad.py": THIRD})
    assert _red(red, base).ok
    assert _red(red, base, changed=(NEW, "tests/bad.py")).error is ErrorType.COMPILATION_ERROR


def test_a_listed_old_file_may_be_rewritten_and_its_rewritten_tests_count() -> None:
    assert _red(_run((KEPT, BUG)), changed=(OLD,)).error is ErrorType.COMPILATION_ERROR
    listed = _red(_run((KEPT, BUG)), changed=(OLD,), may_change=(OLD,))
    assert (listed.ok, listed.red) == (True, (KEPT,))
    assert _red(_run(broken={OLD: FIRST}), changed=(OLD,), may_change=(OLD,)).red == (OLD,)
    assert _red(_run(KEPT), changed=(OLD,), may_change=(OLD,)).error is ErrorType.COMPILATION_ERROR


@pytest.mark.parametrize(("may_change", "error"), [((), ErrorType.REGRESSION), ((OLD,), None)])
def test_old_tests_change_only_in_listed_files(may_change: tuple[str, ...], error: ErrorType | None) -> None:
    verdict = judge_red(
        BASE,
        _run(KEPT, (N1, BUG)),
        changed_files=(NEW, OLD),
        may_change=may_change,
        old_test_files_changed={OLD: ("test_kept was changed.",)},
    )
    assert verdict.error is error
    assert ("test_kept was changed." in verdict.details) is (error is not None)


def test_duplicates_are_named_and_set_aside_with_their_parameters() -> None:
    red = _run(KEPT, (f"{N1}[a]", BUG), (N2, BUG), f"{N1}_more")
    verdict = _red(red, duplicates={N1: KEPT, f"{OLD}::elsewhere": KEPT})
    assert verdict.error is ErrorType.DUPLICATE_TEST
    assert verdict.details == (f"{N1}[a]: repeats {KEPT}",)
    assert (verdict.duplicates, verdict.red, verdict.passing) == ((f"{N1}[a]",), (N2,), (f"{N1}_more",))
    assert verdict.skip == (f"{N1}[a]", f"{N1}_more")


@pytest.mark.parametrize(
    ("red", "worth"),
    [
        (_run((N1, BUG)), True),
        (_run(N1, (N2, BUG)), True),
        (_run(N1), False),
        (_run((N1, THIRD)), False),
        (_run(broken={NEW: Kind.SYNTAX}), False),
    ],
)
def test_what_is_worth_implementing(red: TestRun, worth: bool) -> None:
    assert _red(red).worth_implementing is worth


GREEN = _run(KEPT, N1)


@pytest.mark.parametrize(
    ("red", "green", "error", "proven"),
    [
        # proven
        (_run(KEPT, (N1, BUG)), GREEN, None, (N1,)),
        (_run(KEPT, broken={NEW: FIRST}), _run(KEPT, N1, N2), None, (N1, N2)),
        (_run(KEPT, broken={"tests": FIRST}), GREEN, None, (N1,)),
        (_run(KEPT, (N1, BUG), (N2, SKIPPED)), _run(KEPT, N1, N2), None, (N1, N2)),
        (_run(KEPT, (N1, BUG), (N2, SKIPPED)), _run(KEPT, N1, (N2, SKIPPED)), None, (N1,)),
        (_run(KEPT, (N1, BUG), (N2, SKIPPED)), GREEN, None, (N1,)),
        (_run(KEPT, broken={NEW: FIRST}), _run(KEPT, N1, (N2, SKIPPED)), None, (N1,)),
        # old parametrised tests may grow without proof
        (_run(KEPT, (N1, BUG)), _run(KEPT, N1, f"{OLD}::test_all[extra]"), None, (N1,)),
        # not implemented
        (_run(KEPT, (N1, BUG)), _run(KEPT, (N1, BUG)), ErrorType.IMPLEMENTATION_FAILED, ()),
        (_run(KEPT, (N1, BUG), (N2, BUG)), _run(KEPT, N1, (N2, BUG)), ErrorType.IMPLEMENTATION_FAILED, (N1,)),
        (_run(KEPT, (N1, BUG), (N2, BUG)), _run(KEPT, N1, (N2, SKIPPED)), ErrorType.IMPLEMENTATION_FAILED, (N1,)),
        (_run(KEPT, (N1, BUG), (N2, BUG)), GREEN, ErrorType.IMPLEMENTATION_FAILED, (N1,)),
        (_run(KEPT, broken={NEW: FIRST}), _run(KEPT, broken={NEW: FIRST}), ErrorType.IMPLEMENTATION_FAILED, ()),
        (_run(KEPT, broken={NEW: FIRST}), _run(KEPT), ErrorType.IMPLEMENTATION_FAILED, ()),
        (_run(KEPT), _run(KEPT), ErrorType.IMPLEMENTATION_FAILED, ()),
        (_run(KEPT, (N1, BUG)), _stopped(GREEN), ErrorType.IMPLEMENTATION_FAILED, ()),
        (_run(KEPT, (N1, BUG)), _stopped(GREEN, timed_out=True), ErrorType.IMPLEMENTATION_FAILED, ()),
        # regressions
        (_run(KEPT, (N1, BUG)), _run((KEPT, BUG), N1), ErrorType.REGRESSION, (N1,)),
        (_run(KEPT, (N1, BUG)), _run((KEPT, SKIPPED), N1), ErrorType.REGRESSION, (N1,)),
        (_run(KEPT, (N1, BUG)), _run(N1), ErrorType.REGRESSION, (N1,)),
        (_run(KEPT, (N1, BUG)), _run(N1, broken={OLD: FIRST}), ErrorType.REGRESSION, (N1,)),
        (_run(KEPT, (N1, BUG)), _run((KEPT, BUG), (N1, BUG)), ErrorType.IMPLEMENTATION_FAILED, ()),
        # not seen red
        (_run(KEPT, N1), GREEN, ErrorType.TEST_UNEXPECTED_PASS, ()),
        (_run(KEPT), GREEN, ErrorType.TEST_UNEXPECTED_PASS, ()),
        (_run(KEPT, (N1, BUG)), _run(KEPT, N1, N2), ErrorType.TEST_UNEXPECTED_PASS, (N1,)),
        # red for no accepted reason
        (_run(KEPT, (N1, Kind.OTHER)), GREEN, ErrorType.TEST_UNEXPECTED_FAIL, (N1,)),
        (_run(KEPT, (N1, SKIPPED)), GREEN, ErrorType.TEST_UNEXPECTED_FAIL, (N1,)),
        (_run(KEPT, broken={NEW: THIRD}), GREEN, ErrorType.TEST_UNEXPECTED_FAIL, (N1,)),
    ],
)
def test_green(red: TestRun, green: TestRun, error: ErrorType | None, proven: tuple[str, ...]) -> None:
    verdict = judge_green(BASE, red, green, new_files=(NEW,))
    assert (verdict.error, verdict.proven) == (error, proven)
    assert bool(verdict.details) is (error is not None)


def test_what_fails_is_named_with_its_error_and_what_broke_beside_it() -> None:
    verdict = judge_green(BASE, _run(KEPT, (N1, BUG)), _run((KEPT, BUG), (N1, BUG)), new_files=(NEW,))
    assert (verdict.failing, verdict.regressions) == ((N1,), (KEPT,))
    assert verdict.details == (
        f"{N1}: {BUG}: Error: {BUG}",
        "These tests passed before.",
        f"{KEPT}: {BUG}: Error: {BUG}",
    )


def test_a_lost_test_is_told_with_its_broken_file_or_as_absent() -> None:
    red = _run(KEPT, (N1, BUG))
    broken = judge_green(BASE, red, _run(N1, broken={OLD: FIRST}), new_files=(NEW,)).details
    assert broken[1] == f"{KEPT}: {OLD}: {FIRST}: Error: {FIRST}"
    assert judge_green(BASE, red, _run(N1), new_files=(NEW,)).details[1] == f"{KEPT}: did not run"


def test_unstable_tests_are_no_regressions_and_no_proof() -> None:
    flaky = f"{OLD}::test_flaky"
    first, second = _run(KEPT, flaky), _run(KEPT, (flaky, BUG), N2)
    unstable = unstable_tests(first, second)
    assert unstable == {flaky, N2}
    red, green = _run(KEPT, (N1, BUG), N2), _run(KEPT, N1, N2, (flaky, BUG))
    assert judge_green(first, red, green, new_files=(NEW,), unstable=unstable).proven == (N1,)
    assert judge_green(first, red, green, new_files=(NEW,)).error is ErrorType.REGRESSION


@pytest.mark.parametrize(
    ("green", "error"),
    [
        (_run(N1), None),
        (_run((KEPT, BUG), N1), ErrorType.REGRESSION),
        (_run(N1, broken={OLD: FIRST}), ErrorType.REGRESSION),
    ],
)
def test_a_test_in_a_listed_file_may_go_but_not_fail(green: TestRun, error: ErrorType | None) -> None:
    verdict = judge_green(BASE, _run(KEPT, (N1, BUG)), green, new_files=(NEW,), may_change=(OLD,))
    assert verdict.error is error


def test_a_rewritten_old_test_is_new_and_must_be_proved() -> None:
    verdict = judge_green(BASE, _run((KEPT, BUG)), _run(KEPT), new_files=(OLD,), may_change=(OLD,))
    assert (verdict.ok, verdict.proven) == (True, (KEPT,))
    failing = judge_green(BASE, _run((KEPT, BUG)), _run((KEPT, BUG)), new_files=(OLD,), may_change=(OLD,))
    assert (failing.error, failing.failing) == (ErrorType.IMPLEMENTATION_FAILED, (KEPT,))


def test_details_stay_short_whatever_the_tests_print() -> None:
    names = [f"{NEW}::test_{number:03d}[{'x' * 500}]" for number in range(DETAILS + 7)]
    details = _red(_run(KEPT, *names)).details
    assert len(details) == DETAILS + 1
    assert max(map(len, details)) <= LINE_CHARS
    assert details[-1] == "... and 7 more"
