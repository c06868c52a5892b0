"""The watch-and-fix round of one commit: each row of the decision, and what a rerun leaves behind."""

from __future__ import annotations

import pytest

from shared.ci.ci_round import NO_CI_SECONDS, CiAction, CiLimits, CiObservation, CiRound, Rerun, decide
from shared.ci.triage import Cause
from shared.ci.verdict import CiVerdict, is_green
from shared.models import Check, CheckOutcome

NONE, RUNNING, GREEN, RED, UNKNOWN = CiVerdict
LIMITS = CiLimits(fixes=2, seconds=600)
LAX = CiLimits(none_is_green=True)


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("round", "early", "late"),
    [
        ({"verdict": GREEN}, CiAction.PASS, CiAction.PASS),
        ({"verdict": NONE}, CiAction.WAIT, CiAction.PASS_UNCHECKED),
        ({"verdict": RUNNING}, CiAction.WAIT, CiAction.PASS_UNCHECKED),
        ({"verdict": UNKNOWN}, CiAction.WAIT, CiAction.PASS_UNCHECKED),
        ({"verdict": RED, "cause": Cause.TESTS}, CiAction.REPAIR, CiAction.REPAIR),
        ({"verdict": RED, "cause": Cause.QUALITY, "fixes": 1}, CiAction.REPAIR, CiAction.REPAIR),
        ({"verdict": RED, "cause": Cause.QUALITY, "fixes": 2}, CiAction.GIVE_UP, CiAction.GIVE_UP),
        ({"verdict": RED, "cause": Cause.TESTS, "fixes": 2, "rerunnable": True}, CiAction.GIVE_UP, CiAction.GIVE_UP),
        ({"verdict": RED, "cause": Cause.FLAKY, "rerunnable": True}, CiAction.RERUN, CiAction.RERUN),
        (
            {"verdict": RED, "cause": Cause.INFRASTRUCTURE, "rerunnable": True, "fixes": 2},
            CiAction.RERUN,
            CiAction.RERUN,
        ),
        (
            {"verdict": RED, "cause": Cause.FLAKY, "rerunnable": True, "running": True},
            CiAction.WAIT,
            CiAction.PASS_UNCHECKED,
        ),
        ({"verdict": RED, "cause": Cause.INFRASTRUCTURE}, CiAction.WAIT, CiAction.PASS_UNCHECKED),
        ({"verdict": RED, "cause": Cause.BASE, "rerunnable": True}, CiAction.HOLD, CiAction.HOLD),
    ],
)
def test_what_follows_from_ci(round: dict[str, object], early: CiAction, late: CiAction) -> None:
    assert decide(CiRound(seconds=600, **round), LIMITS) is early  # type: ignore[arg-type]
    assert decide(CiRound(seconds=601, **round), LIMITS) is late  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "follows"), [(0, CiAction.WAIT), (59, CiAction.WAIT), (60, CiAction.PASS), (601, CiAction.PASS)]
)
def test_no_checks_at_all_may_be_late_ones_for_a_minute(seconds: float, follows: CiAction) -> None:
    assert decide(CiRound(NONE, seconds), LAX) is follows


def test_where_none_is_green_nothing_else_becomes_green() -> None:
    assert [verdict for verdict in CiVerdict if is_green(verdict, none_is_green=True)] == [NONE, GREEN]
    assert [verdict for verdict in CiVerdict if is_green(verdict, none_is_green=False)] == [GREEN]
    assert decide(CiRound(RUNNING, 601), LAX) is CiAction.PASS_UNCHECKED


OLD = Check("test", CheckOutcome.FAILED, job_id=7, run_id=1)
NEW = Check("test", CheckOutcome.FAILED, job_id=8, run_id=1)
STATUS = Check("status", CheckOutcome.FAILED)


def test_until_github_shows_the_new_job_a_rerun_counts_as_running() -> None:
    mark = Rerun.of([OLD, STATUS])
    assert Rerun.read(str(mark)) == mark
    assert CiObservation(mark.awaited([OLD])).verdict is RUNNING
    assert CiObservation(mark.awaited([NEW])).verdict is RED, "red again"
    assert CiObservation(mark.awaited([OLD, STATUS])).verdict is RED, "a status is not run again"


def test_a_rerun_that_was_refused_is_not_waited_for() -> None:
    mark = Rerun(7, refused=True)
    assert Rerun.read(str(mark)) == mark
    assert mark.awaited([OLD]) == (OLD,)


def test_of_two_workflow_runs_only_the_one_that_was_accepted_is_waited_for() -> None:
    mark, other = Rerun(8, refused=True, only=frozenset({2, 3})), Check("lint", CheckOutcome.FAILED, job_id=8, run_id=2)
    assert Rerun.read(str(mark)) == mark
    assert [check.outcome for check in mark.awaited([OLD, other])] == [CheckOutcome.RUNNING, CheckOutcome.FAILED]


@pytest.mark.parametrize(
    "phase",
    [
        "",
        "ci",
        "red-base",
        "rerun",
        "rerun x",
        "rerun-refused -1",
        "rerun 1 2",
        "rerun-refused 1 x",
        "rerun-refused 1 2,",
    ],
)
def test_other_phases_are_no_rerun(phase: str) -> None:
    assert Rerun.read(phase) is None


@pytest.mark.parametrize(
    ("seconds", "limits", "expected"),
    [
        (NO_CI_SECONDS - 1, CiLimits(), CiAction.WAIT),
        (NO_CI_SECONDS, CiLimits(), CiAction.PASS_UNCHECKED),
        (1.0, CiLimits(seconds=1.0), CiAction.PASS_UNCHECKED),
        (NO_CI_SECONDS, LAX, CiAction.PASS),
        (NO_CI_SECONDS - 1, LAX, CiAction.WAIT),
    ],
)
def test_a_repository_without_ci_is_not_waited_for(seconds: float, limits: CiLimits, expected: CiAction) -> None:
    assert decide(CiRound(NONE, seconds, no_ci=True), limits) is expected
    assert decide(CiRound(GREEN, seconds, no_ci=True), limits) is CiAction.PASS
