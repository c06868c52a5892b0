"""Is the base sound, are the new tests red, is the implementation green: pure functions of test runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from worker_agent.tdd.judging.verdict import ErrorType, GreenVerdict, RedVerdict, Verdict, listed, output, told
from worker_agent.tdd.runners.report import ACCEPTED, Kind, Outcome, TestId, TestResult, TestRun

FORCED = "A test that must fail, laid beside the new ones, was not reported as failed: something changes the results."


def unstable_tests(first: TestRun, second: TestRun) -> frozenset[TestId]:
    """The tests whose outcome differs between two runs of the same tree: they can prove nothing."""
    tests = {*first.results, *second.results}
    return frozenset(test for test in tests if _outcome(first, test) is not _outcome(second, test))


def judge_baseline(run: TestRun) -> Verdict:
    """Whether the base can be tested at all; failing tests are no fault, an empty suite neither."""
    if not run.finished:
        return Verdict(ErrorType.WORKFLOW_ABORTED, ("The tests of the base cannot be run.", *output(run)))
    if run.broken_files and not run.passed and not run.failed:
        files = listed(told(result) for result in run.broken_files.values())
        return Verdict(ErrorType.WORKFLOW_ABORTED, ("The tests of the base cannot be collected.", *files))
    return Verdict()


def judge_red(
    baseline: TestRun,
    red: TestRun,
    *,
    changed_files: Collection[str],
    may_change: Collection[str],
    old_test_files_changed: Mapping[str, Sequence[str]],
    duplicates: Mapping[TestId, TestId] | None = None,
) -> RedVerdict:
    """Whether the new tests, laid over the base, are red for a reason that counts.

    `red` is the run on the base tree with `changed_files` (the test files that the cycle added or
    changed) on top. `may_change` are the files that the approved specification lists as such.
    `old_test_files_changed` gives sentences per file (`old_tests.changes_by_file`), `duplicates`
    new test -> the test that it repeats (`duplicates.duplicate_tests`).
    """
    changed = [sentence for path, why in old_test_files_changed.items() if path not in may_change for sentence in why]
    if changed:
        return RedVerdict(ErrorType.REGRESSION, ("Old tests must stay as they are.", *listed(changed)))
    if not red.finished:
        stopped = ErrorType.TEST_UNEXPECTED_FAIL if red.timed_out or red.limit else ErrorType.COMPILATION_ERROR
        return RedVerdict(stopped, output(red))
    if red.controlled is False:
        return RedVerdict(ErrorType.TEST_UNEXPECTED_PASS, (FORCED,))
    new = _new(baseline, red, (red,), changed_files, may_change)
    unusable = [told(result) for result in _unusable(baseline, red, new, changed_files, may_change)]
    if unusable:
        return RedVerdict(ErrorType.COMPILATION_ERROR, ("These tests do not collect.", *listed(unusable)))
    return _colour(red, new, [path for path in red.broken_files if path in changed_files], duplicates or {})


def _unusable(
    baseline: TestRun, red: TestRun, new: Collection[TestId], changed: Collection[str], may_change: Collection[str]
) -> list[TestResult]:
    """Files that break for a reason that an implementation cannot mend, and tests without their fixture."""
    broken = [
        result
        for path, result in red.broken_files.items()
        if (path in changed or path not in baseline.broken_files)
        and (result.kind is not Kind.FIRST_PARTY_IMPORT or (_was_collected(baseline, path) and path not in may_change))
    ]
    return broken + [red.results[test] for test in new if red.results[test].kind is Kind.MISSING_FIXTURE]


def _was_collected(baseline: TestRun, path: str) -> bool:
    return any(result.file == path or result.file.startswith(f"{path}/") for result in baseline.results.values())


def _colour(
    red: TestRun, new: Sequence[TestId], broken: Sequence[str], duplicates: Mapping[TestId, TestId]
) -> RedVerdict:
    """Sort the new tests into duplicates, passing and red ones, and judge what is left."""
    repeated = {test: old for test in new for name, old in duplicates.items() if _is_case_of(test, name)}
    rest = [test for test in new if test not in repeated]
    passing = tuple(test for test in rest if test in red.passed)
    failing = [red.results[test] for test in rest if test in red.failed] + [red.broken_files[path] for path in broken]
    error, details = _reason(failing, repeated, passing)
    return RedVerdict(error, details, tuple(result.id for result in failing), passing, tuple(repeated))


def _reason(
    failing: Sequence[TestResult], repeated: Mapping[TestId, TestId], passing: Sequence[TestId]
) -> tuple[ErrorType | None, tuple[str, ...]]:
    if repeated:
        return ErrorType.DUPLICATE_TEST, listed(f"{test}: repeats {old}" for test, old in repeated.items())
    if passing:
        return ErrorType.TEST_UNEXPECTED_PASS, listed(f"{test}: passes without an implementation" for test in passing)
    if not failing:
        return ErrorType.COMPILATION_ERROR, ("No new test ran.",)
    if not any(result.kind in ACCEPTED for result in failing):
        details = ("No new test is red because the behaviour is missing.", *listed(map(told, failing)))
        return ErrorType.TEST_UNEXPECTED_FAIL, details
    return None, ()


def judge_green(
    baseline: TestRun,
    red: TestRun,
    green: TestRun,
    *,
    new_files: Collection[str],
    may_change: Collection[str] = (),
    unstable: Collection[TestId] = (),
) -> GreenVerdict:
    """Whether every new test passes that did not before, and every test that passed still does.

    `new_files` are the test files that the cycle added or changed, with their final content in
    both `red` (over the base) and `green` (the head). `may_change` are the files whose old tests
    the specification lets change or go. `unstable` is left out of every comparison: tests that
    flip between two runs of the base, and problematic ones that were set aside when red.
    """
    if not green.finished or _is_forced(red, green):
        return GreenVerdict(ErrorType.IMPLEMENTATION_FAILED, (FORCED,) if green.finished else output(green))
    found = _new(baseline, red, (red, green), new_files, may_change)
    new = [test for test in found if test not in unstable]
    proven = tuple(test for test in new if test in green.passed)
    failing = tuple(test for test in new if test not in green.passed and not _never_ran(red, green, test))
    failing += _lost_files(red, green, new_files)
    gone = sorted(baseline.passed - green.passed - {*unstable, *new})
    regressions = tuple(test for test in gone if not _may_go(baseline, green, test, may_change))
    unproven = tuple(test for test in proven if not _seen_not_passing(red, test, green.results[test].file))
    error, details = _shortfall(green, failing, regressions) or _proof(red, green, proven, unproven)
    proven = tuple(test for test in proven if test not in unproven)
    return GreenVerdict(error, details, proven, failing, regressions, unproven)


def _is_forced(red: TestRun, green: TestRun) -> bool:
    """Whether the control test did not fail, or is not reported any more."""
    return green.controlled is False or (bool(red.controlled) and green.controlled is None)


def _shortfall(
    green: TestRun, failing: Sequence[TestId], regressions: Sequence[TestId]
) -> tuple[ErrorType, tuple[str, ...]] | None:
    if not failing and not regressions:
        return None
    details = listed(_after(green, test) for test in failing)
    if regressions:
        details += ("These tests passed before.", *listed(_after(green, test) for test in regressions))
    return ErrorType.IMPLEMENTATION_FAILED if failing else ErrorType.REGRESSION, details


def _proof(
    red: TestRun, green: TestRun, passing: Sequence[TestId], unproven: Sequence[TestId]
) -> tuple[ErrorType | None, tuple[str, ...]]:
    if not passing:
        return ErrorType.IMPLEMENTATION_FAILED, ("There is no new test that passes.",)
    if unproven:
        return ErrorType.TEST_UNEXPECTED_PASS, listed(f"{test}: was not seen red on the base" for test in unproven)
    before = [red.results.get(test) or red.broken(green.results[test].file) for test in passing]
    if not any(result is not None and result.kind in ACCEPTED for result in before):
        details = listed(told(result) for result in before if result is not None)
        return ErrorType.TEST_UNEXPECTED_FAIL, ("No new test was red because the behaviour was missing.", *details)
    return None, ()


def _new(
    baseline: TestRun, red: TestRun, runs: Iterable[TestRun], files: Collection[str], may_change: Collection[str]
) -> list[TestId]:
    """New tests: in the cycle's files and unknown to the base, or old ones rewritten by permission."""
    found = {test: result.file for run in runs for test, result in run.results.items() if result.file in files}
    rewritten = {
        test
        for test, file in found.items()
        if file in may_change and test in baseline.passed and test not in red.passed and _ran(red, test, file)
    }
    return sorted(test for test in found if test not in baseline.results or test in rewritten)


def _ran(run: TestRun, test: TestId, file: str) -> bool:
    return test in run.results or run.broken(file) is not None


def _seen_not_passing(red: TestRun, test: TestId, file: str) -> bool:
    return test not in red.passed and _ran(red, test, file)


def _never_ran(red: TestRun, green: TestRun, test: TestId) -> bool:
    """Skipped or absent in both: no proof, but no failure either."""
    return {_outcome(red, test), _outcome(green, test)} <= {None, Outcome.SKIPPED}


def _lost_files(red: TestRun, green: TestRun, new_files: Collection[str]) -> tuple[str, ...]:
    """New files that do not collect on the head, or whose tests have vanished since they were red."""
    present = {result.file for result in green.results.values()}
    return tuple(sorted(path for path in new_files if green.broken(path) or (red.broken(path) and path not in present)))


def _may_go(baseline: TestRun, green: TestRun, test: TestId, may_change: Collection[str]) -> bool:
    """A test may disappear, but not fail, when its file may change."""
    file = baseline.results[test].file
    return file in may_change and test not in green.results and green.broken(file) is None


def _after(green: TestRun, test: TestId) -> str:
    result = green.results.get(test) or green.broken(test.partition("::")[0])
    if result is None:
        return f"{test}: did not run"
    return told(result) if result.id == test else f"{test}: {told(result)}"


def _outcome(run: TestRun, test: TestId) -> Outcome | None:
    found = run.results.get(test)
    return found.outcome if found else None


def _is_case_of(test: TestId, name: TestId) -> bool:
    return test == name or test.startswith(f"{name}[")
