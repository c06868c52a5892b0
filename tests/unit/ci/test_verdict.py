"""What the checks of one commit say together."""

from __future__ import annotations

import pytest

from shared.ci.verdict import Verdict, failed, fold, unfinished
from shared.models import Check, CheckOutcome

RUNNING, PASSED, FAILED, NEUTRAL, UNKNOWN, STALE = CheckOutcome


def checks(*outcomes: CheckOutcome) -> list[Check]:
    return [Check(f"check-{9 - index}", outcome) for index, outcome in enumerate(outcomes)]


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((), Verdict.NONE),
        ((NEUTRAL,), Verdict.NONE),
        ((PASSED,), Verdict.GREEN),
        ((PASSED, NEUTRAL), Verdict.GREEN),
        ((RUNNING,), Verdict.RUNNING),
        ((PASSED, RUNNING), Verdict.RUNNING),
        ((NEUTRAL, RUNNING), Verdict.RUNNING),
        ((FAILED,), Verdict.RED),
        ((PASSED, RUNNING, FAILED, NEUTRAL), Verdict.RED),
    ],
)
def test_one_red_check_is_enough_and_nothing_at_all_is_not_green(
    outcomes: tuple[CheckOutcome, ...], verdict: Verdict
) -> None:
    assert fold(checks(*outcomes)) is verdict
    assert fold(reversed(checks(*outcomes))) is verdict


def test_the_failed_ones_come_by_name() -> None:
    assert [check.name for check in failed(checks(FAILED, PASSED, FAILED, RUNNING))] == ["check-7", "check-9"]


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("outcomes", "required", "verdict"),
    [
        ((PASSED,), {"check-9"}, Verdict.GREEN),
        ((PASSED,), {"check-9", "security"}, Verdict.RUNNING),
        ((NEUTRAL,), {"check-9"}, Verdict.GREEN),
        ((), {"security"}, Verdict.RUNNING),
        ((FAILED,), {"security"}, Verdict.RED),
        ((UNKNOWN, PASSED), (), Verdict.UNKNOWN),
        ((UNKNOWN, RUNNING), (), Verdict.RUNNING),
        ((UNKNOWN, FAILED), (), Verdict.RED),
        ((UNKNOWN,), {"check-9"}, Verdict.UNKNOWN),
        ((STALE,), (), Verdict.RUNNING),
        ((STALE, PASSED), (), Verdict.GREEN),
        ((STALE, PASSED), {"check-8"}, Verdict.GREEN),
        ((STALE, PASSED), {"check-9"}, Verdict.RUNNING),
        ((STALE, FAILED), (), Verdict.RED),
    ],
)
def test_a_required_check_that_is_missing_keeps_a_commit_from_being_green(
    outcomes: tuple[CheckOutcome, ...], required: set[str], verdict: Verdict
) -> None:
    assert fold(checks(*outcomes), required) is verdict


def test_what_is_waited_for_has_a_name() -> None:
    assert unfinished(checks(PASSED, RUNNING, UNKNOWN), {"check-9", "z"}) == ("check-7", "check-8", "z")
    assert unfinished(checks(STALE, PASSED), {"check-9"}) == ("check-9",), "what went stale was never reported"
    assert unfinished(checks(STALE)) == ("check-9",)
    assert unfinished(checks(STALE, RUNNING)) == ("check-8",)
