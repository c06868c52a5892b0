"""The test runs that a worker remembers: a bounded number of results, each kept once."""

from __future__ import annotations

import tracemalloc

from worker_agent.tdd.runners.test_run import CaseOutcome, TestResult, TestRun
from worker_agent.tdd.test_runs import FEWEST_RUNS, MOST_RESULTS, MOST_RUNS, KnownRuns


def run_of(tests: int, *, failing: int = -1) -> TestRun:
    """Return a run as a runner reads it: every id is a text of its own."""
    results = [
        TestResult(
            f"tests/test_users.py::test_counts_users_by_field_{number:05d}",
            "tests/test_users.py",
            CaseOutcome.FAILED if number == failing else CaseOutcome.PASSED,
        )
        for number in range(tests)
    ]
    return TestRun({one.id: one for one in results}, code=int(failing >= 0))


def test_what_is_remembered_is_what_was_run() -> None:
    known, red = KnownRuns(), run_of(3, failing=2)
    known.keep(("base",), run_of(2))
    kept = known.keep(("head",), red)
    assert kept == red
    assert known.find(("head",)) is kept
    assert kept.failed == {"tests/test_users.py::test_counts_users_by_field_00002"}
    assert len(kept.passed) == 2
    assert known.find(("other",)) is None


def test_the_oldest_is_forgotten_and_can_be_remembered_again() -> None:
    known = KnownRuns()
    for number in range(MOST_RUNS + 1):
        known.keep((number,), run_of(1))
    assert (len(known), known.find((0,)), known.find((1,)) is not None) == (MOST_RUNS, None, True)
    again = known.keep((0,), run_of(1))
    assert known.find((0,)) is again


def test_of_a_large_suite_few_runs_are_remembered() -> None:
    known = KnownRuns()
    for number in range(40):
        known.keep((number,), run_of(MOST_RESULTS // 10))
    assert len(known) == 10
    for number in range(40):
        known.keep((number,), run_of(MOST_RESULTS // 4))
    assert len(known) == FEWEST_RUNS, "these are in work"
    known.keep((39,), run_of(1))
    known.keep((40,), run_of(1))
    assert len(known) == FEWEST_RUNS, "a run that is remembered anew counts once"


def test_results_that_did_not_change_take_no_memory_again() -> None:
    known = KnownRuns()
    first = known.keep(("first",), run_of(1_000))
    tracemalloc.start()
    try:
        for number in range(5):
            known.keep((number,), run_of(1_000, failing=number))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 5 * 1_000 * 120, "a place in a table, not a result with its texts"
    last = known.find((4,))
    assert last is not None
    same = [last.results[test] is result for test, result in first.results.items()]
    assert same.count(False) == 5, "those that failed in between were read anew"
