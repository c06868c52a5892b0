"""The judgement that a later change has kept what worked."""

from __future__ import annotations

import pytest
from tdd_runs import BUG, KEPT, N1, NEW, OLD, SKIPPED, THIRD, ran, stopped

from worker_agent.tdd.judging.judge import judge_kept
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestRun

BOTH = ran(KEPT, N1)


@pytest.mark.parametrize(
    "after",
    [BOTH, ran(KEPT, N1, f"{NEW}::test_more"), ran(KEPT, N1, (f"{NEW}::test_more", BUG))],
)
def test_what_passed_passes(after: TestRun) -> None:
    assert judge_kept(BOTH, after).ok


@pytest.mark.parametrize("how", [BUG, SKIPPED, CaseOutcome.ERROR])
def test_a_test_that_passed_and_does_not_any_more_is_a_regression(how: FailureKind | CaseOutcome) -> None:
    verdict = judge_kept(BOTH, ran(KEPT, (N1, how)))
    assert verdict.error is ErrorType.REGRESSION
    assert any(line.startswith(N1) for line in verdict.details)
    assert not any(line.startswith(KEPT) for line in verdict.details)


def test_a_test_may_vanish_only_from_a_file_that_may_change() -> None:
    gone = ran(KEPT)
    assert judge_kept(BOTH, gone).error is ErrorType.REGRESSION
    assert judge_kept(BOTH, gone).details[1] == f"{N1}: did not run"
    assert judge_kept(BOTH, gone, may_change={NEW}).ok
    assert judge_kept(BOTH, gone, may_change={OLD}).error is ErrorType.REGRESSION


def test_a_test_may_not_fail_even_where_it_may_vanish() -> None:
    assert judge_kept(BOTH, ran(KEPT, (N1, BUG)), may_change={NEW}).error is ErrorType.REGRESSION


def test_what_failed_before_proves_nothing() -> None:
    before = ran(KEPT, (N1, BUG))
    assert judge_kept(before, ran(KEPT)).ok
    assert judge_kept(before, ran(KEPT, (N1, BUG))).ok


def test_a_newly_broken_file_is_refused_and_an_old_one_is_not() -> None:
    verdict = judge_kept(ran(KEPT), ran(KEPT, broken={NEW: THIRD}))
    assert verdict.error is ErrorType.COMPILATION_ERROR
    assert NEW in verdict.details[0]
    assert judge_kept(ran(KEPT, broken={NEW: THIRD}), ran(KEPT, broken={NEW: THIRD})).ok


def test_a_run_that_did_not_finish_proves_nothing() -> None:
    verdict = judge_kept(BOTH, stopped(BOTH))
    assert verdict.error is ErrorType.IMPLEMENTATION_FAILED
    assert "boom" in verdict.details[-1]
