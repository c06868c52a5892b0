"""The judgements of base, new tests, implementation and later changes: pure functions of test runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from worker_agent.tdd.judging.verdict import ErrorType, GreenVerdict, RedVerdict, Verdict, listed, output, result_text
from worker_agent.tdd.runners.test_run import ACCEPTED, CaseOutcome, FailureKind, TestId, TestResult, TestRun

_COMPILED = (".rs", ".go", ".java", ".kt", ".cs")

FORCED = "Control tests laid among the new ones were not reported as they must be: something changes the results."

UNPROVEN = "There is no test that fails on the base and passes on the head."


def unstable_tests(first: TestRun, second: TestRun) -> frozenset[TestId]:
    """Return the tests whose outcome differs between two runs of the same tree: they can prove nothing."""
    tests = {*first.results, *second.results}
    return frozenset(test for test in tests if _outcome(first, test) is not _outcome(second, test))


def judge_baseline(run: TestRun) -> Verdict:
    """Return the verdict on whether the base can be tested at all; failing tests and an empty suite are no fault."""
    if not run.finished:
        return Verdict(ErrorType.WORKFLOW_ABORTED, ("The tests of the base cannot be run.", *output(run)))
    if run.broken_files and not run.passed and not run.failed:
        files = listed(result_text(result) for result in run.broken_files.values())
        return Verdict(ErrorType.WORKFLOW_ABORTED, ("The tests of the base cannot be collected.", *files))
    return Verdict()


def judge_red(
    baseline: TestRun,
    red: TestRun,
    *,
    files: Collection[str],
    duplicates: Mapping[TestId, TestId] | None = None,
    new_dependencies: bool = False,
) -> RedVerdict:
    """Return the verdict on whether the new and changed tests fail on the base for a reason that counts.

    `red` is the run on the base tree with the test side of the change on top, `files` the test files that it concerns,
    `duplicates` maps new tests to the tests that they repeat. With `new_dependencies` the change brings packages that
    the base does not have, so that a missing one counts too.
    """
    if not red.finished and not red.broken_files:
        stopped = ErrorType.TEST_UNEXPECTED_FAIL if red.timed_out or red.limit else ErrorType.COMPILATION_ERROR
        return RedVerdict(stopped, output(red))
    if red.controlled is False:
        return RedVerdict(ErrorType.TEST_UNEXPECTED_PASS, (FORCED,))
    accepted = ACCEPTED | ({FailureKind.THIRD_PARTY_IMPORT} if new_dependencies else frozenset())
    broken = [result for path, result in red.broken_files.items() if path in files]
    unusable = [r for r in broken if r.kind not in accepted and r.id not in baseline.broken_files and not _is_typed(r)]
    changed = changed_tests(baseline, red, files)
    unusable += [red.results[test] for test in changed if red.results[test].kind is FailureKind.MISSING_FIXTURE]
    if unusable:
        lines = listed(map(result_text, unusable))
        return RedVerdict(ErrorType.COMPILATION_ERROR, ("These tests do not collect.", *lines))
    repeated = {test: old for test in changed for name, old in (duplicates or {}).items() if _is_case_of(test, name)}
    passing = tuple(test for test in changed if test not in repeated and test in red.passed)
    failing = [red.results[test] for test in changed if test not in repeated and test in red.failed] + broken
    error, details = _reason(failing, repeated, passing, accepted)
    return RedVerdict(error, details, tuple(result.id for result in failing), passing, tuple(repeated))


def _is_typed(result: TestResult) -> bool:
    """Return whether a file of a compiled language does not build because of types, which the change may alter."""
    return result.kind is FailureKind.COLLECTION and result.file.endswith(_COMPILED)


def changed_tests(baseline: TestRun, red: TestRun, files: Collection[str]) -> list[TestId]:
    """Return the tests of `files` that the base lacks, or whose outcome differs with the change's test side."""
    found = {test for test, result in red.results.items() if result.file in files}
    return sorted(test for test in found if _outcome(baseline, test) is not _outcome(red, test))


def _reason(
    failing: Sequence[TestResult],
    repeated: Mapping[TestId, TestId],
    passing: Sequence[TestId],
    accepted: Collection[FailureKind],
) -> tuple[ErrorType | None, tuple[str, ...]]:
    if failing and not any(result.kind in accepted or _is_typed(result) for result in failing):
        details = ("No new test is red because the behaviour is missing.", *listed(map(result_text, failing)))
        return ErrorType.TEST_UNEXPECTED_FAIL, details
    if repeated:
        return ErrorType.DUPLICATE_TEST, listed(f"{test}: repeats {old}" for test, old in repeated.items())
    if passing:
        return ErrorType.TEST_UNEXPECTED_PASS, listed(f"{test}: passes without an implementation" for test in passing)
    if not failing:
        return ErrorType.COMPILATION_ERROR, ("No new test ran.",)
    return None, ()


@dataclass(frozen=True, slots=True)
class Apart:
    """Functions that tell more about tests than their names do.

    `is_gone`: True for an old test whose end or change is judged elsewhere. `is_known`: True for a test that the base
    had under another name, or that differs only in the names it uses: that is no new test. `holds_tests`: True for a
    file whose source has tests.
    """

    is_gone: Callable[[TestResult], bool] = lambda _: False
    is_known: Callable[[TestResult], bool] = lambda _: False
    holds_tests: Callable[[str], bool] = lambda _: True


def judge_green(
    baseline: TestRun,
    red: TestRun,
    green: TestRun,
    *,
    files: Collection[str],
    unstable: Collection[TestId] = (),
    apart: Apart | None = None,
) -> GreenVerdict:
    """Return the verdict on whether every test that was red passes now, and every test that passed still does.

    `files` are the test files that the change concerns, with their final content in both `red` (over the base) and
    `green` (the head). `unstable` is left out of every comparison. `apart` tells which tests are judged elsewhere.
    """
    if not green.finished or _is_forced(red, green):
        return GreenVerdict(ErrorType.IMPLEMENTATION_FAILED, (FORCED,) if green.finished else output(green))
    apart = apart or Apart()
    concerned = {test for test, result in green.results.items() if result.file in files and test not in unstable}
    fresh = {test for test in concerned if test not in baseline.passed or apart.is_gone(green.results[test])}
    new = {test for test in fresh if not apart.is_known(green.results[test])}
    proven = tuple(
        sorted(
            test
            for test in green.passed & concerned
            if _was_red(red, green, test, new) and (test in fresh or not _was_cut_off(red, test))
        )
    )
    failing = {test for test in concerned if test in green.failed and test not in baseline.failed}
    failing |= {test for test in _new_and_red(baseline, red, files) if _is_missed(green, test) and test not in unstable}
    failing |= _lost_files(baseline, red, green, [path for path in files if apart.holds_tests(path)])
    missing = baseline.passed - green.passed - {*unstable, *failing}
    renamed = _renamed_cases(baseline, green, missing)
    regressions = tuple(sorted(test for test in missing - renamed if not apart.is_gone(baseline.results[test])))
    error, details = _shortfall(green, sorted(failing), regressions) or _proof(red, green, proven)
    return GreenVerdict(error, details, proven, tuple(sorted(failing)), regressions)


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


def _was_red(red: TestRun, green: TestRun, test: TestId, new: Collection[TestId]) -> bool:
    """Return whether a test failed on the base, or is a new or changed one of a file that did not build there."""
    unbuilt = test not in red.results and red.broken(green.results[test].file) is not None
    return test in red.failed or (test in new and (unbuilt or _is_endless(red, test)))


def _was_cut_off(red: TestRun, test: TestId) -> bool:
    """Return whether another test ended a test early on the base (a panic ends all tests of a package)."""
    return test in red.results and red.results[test].kind is FailureKind.OTHER


def _is_endless(red: TestRun, test: TestId) -> bool:
    """Return whether the test of this case did not end on the base."""
    before = red.results.get(_stem(test))
    return before is not None and before.kind in {FailureKind.ENDLESS, FailureKind.LIMIT}


def _is_forced(red: TestRun, green: TestRun) -> bool:
    """Return whether control tests did not end as they must, or are not reported any more."""
    return green.controlled is False or (bool(red.controlled) and green.controlled is None)


def _shortfall(
    green: TestRun, failing: Sequence[TestId], regressions: Sequence[TestId]
) -> tuple[ErrorType, tuple[str, ...]] | None:
    if not failing and not regressions:
        return None
    details = listed(after(green, test) for test in failing)
    if regressions:
        details += ("These tests passed before.", *listed(after(green, test) for test in regressions))
    return ErrorType.IMPLEMENTATION_FAILED if failing else ErrorType.REGRESSION, details


def _proof(red: TestRun, green: TestRun, proven: Sequence[TestId]) -> tuple[ErrorType | None, tuple[str, ...]]:
    if not proven:
        broken = listed(result_text(result) for result in green.broken_files.values())
        uncollected = ("These tests do not collect on the head.", *broken) if broken else ()
        return ErrorType.IMPLEMENTATION_FAILED, (UNPROVEN, *uncollected)
    before = [
        red.results.get(test) or red.results.get(_stem(test)) or red.broken(green.results[test].file) for test in proven
    ]
    reasons = ACCEPTED | {FailureKind.THIRD_PARTY_IMPORT}
    if not any(result is not None and (result.kind in reasons or _is_typed(result)) for result in before):
        details = listed(result_text(result) for result in before if result is not None)
        return ErrorType.TEST_UNEXPECTED_FAIL, ("No new test was red because the behaviour was missing.", *details)
    return None, ()


def _renamed_cases(baseline: TestRun, green: TestRun, missing: Collection[TestId]) -> set[TestId]:
    """Return the missing cases of tests that have as many passing cases as before and none that fails.

    Ids hold positions, times and texts: one case more, or a second later, and others have other names.
    """
    before, now = Counter(map(_stem, baseline.passed)), Counter(map(_stem, green.passed))
    failing = set(map(_stem, green.failed))
    absent = {test for test in missing if test not in green.results and _stem(test) != test}
    return {test for test in absent if now[_stem(test)] >= before[_stem(test)] and _stem(test) not in failing}


def _stem(test: TestId) -> str:
    return test.partition("[")[0]


def _new_and_red(baseline: TestRun, red: TestRun, files: Collection[str]) -> set[TestId]:
    return {test for test in red.failed if red.results[test].file in files and test not in baseline.results}


def _is_missed(green: TestRun, test: TestId) -> bool:
    """Return whether a test is skipped on the head, or is gone with all its cases."""
    if test in green.results:
        return green.results[test].outcome is CaseOutcome.SKIPPED
    return not any(_stem(other) == _stem(test) for other in green.passed)


def _lost_files(baseline: TestRun, red: TestRun, green: TestRun, files: Collection[str]) -> set[str]:
    """Return test files of the change that do not collect on the head, or all of whose tests are gone."""
    present = {result.file for result in green.results.values()}
    broken = {path for path in files if green.broken(path) and not baseline.broken(path)}
    return broken | {path for path in files if red.broken(path) and not green.broken(path) and path not in present}


def after(green: TestRun, test: TestId) -> str:
    """Return a test's result on the head, for people."""
    result = green.results.get(test) or green.broken(test.partition("::")[0])
    if result is None:
        return f"{test}: did not run"
    return result_text(result) if result.id == test else f"{test}: {result_text(result)}"


def _outcome(run: TestRun, test: TestId) -> CaseOutcome | None:
    found = run.results.get(test)
    return found.outcome if found else None


def _is_case_of(test: TestId, name: TestId) -> bool:
    return test == name or test.startswith(f"{name}[")
