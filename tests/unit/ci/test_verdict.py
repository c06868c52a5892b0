"""The verdict on one commit by all its checks together."""

from __future__ import annotations

import pytest

from shared.ci.verdict import CiVerdict, failed, fold, unfinished
from shared.models import Check, CheckOutcome

RUNNING, PASSED, FAILED, NEUTRAL, UNKNOWN, STALE, SUPERSEDED = CheckOutcome


def checks(*outcomes: CheckOutcome) -> list[Check]:
    return [Check(f"check-{9 - index}", outcome) for index, outcome in enumerate(outcomes)]


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((), CiVerdict.NONE),
        ((NEUTRAL,), CiVerdict.NONE),
        ((PASSED,), CiVerdict.GREEN),
        ((PASSED, NEUTRAL), CiVerdict.GREEN),
        ((RUNNING,), CiVerdict.RUNNING),
        ((PASSED, RUNNING), CiVerdict.RUNNING),
        ((NEUTRAL, RUNNING), CiVerdict.RUNNING),
        ((FAILED,), CiVerdict.RED),
        ((PASSED, RUNNING, FAILED, NEUTRAL), CiVerdict.RED),
    ],
)
def test_one_red_check_is_enough_and_nothing_at_all_is_not_green(
    outcomes: tuple[CheckOutcome, ...], verdict: CiVerdict
) -> None:
    assert fold(checks(*outcomes)) is verdict
    assert fold(reversed(checks(*outcomes))) is verdict


def test_the_failed_ones_come_by_name() -> None:
    assert [check.name for check in failed(checks(FAILED, PASSED, FAILED, RUNNING))] == ["check-7", "check-9"]


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("outcomes", "required", "verdict"),
    [
        ((PASSED,), {"check-9"}, CiVerdict.GREEN),
        ((PASSED,), {"check-9", "security"}, CiVerdict.RUNNING),
        ((NEUTRAL,), {"check-9"}, CiVerdict.GREEN),
        ((), {"security"}, CiVerdict.RUNNING),
        ((FAILED,), {"security"}, CiVerdict.RED),
        ((UNKNOWN, PASSED), (), CiVerdict.UNKNOWN),
        ((UNKNOWN, RUNNING), (), CiVerdict.RUNNING),
        ((UNKNOWN, FAILED), (), CiVerdict.RED),
        ((UNKNOWN,), {"check-9"}, CiVerdict.UNKNOWN),
        ((STALE,), (), CiVerdict.RUNNING),
        ((STALE, PASSED), (), CiVerdict.GREEN),
        ((STALE, PASSED), {"check-8"}, CiVerdict.GREEN),
        ((STALE, PASSED), {"check-9"}, CiVerdict.RUNNING),
        ((STALE, FAILED), (), CiVerdict.RED),
        ((SUPERSEDED, PASSED), (), CiVerdict.GREEN),
        ((SUPERSEDED, RUNNING), (), CiVerdict.RUNNING),
        ((SUPERSEDED, PASSED), {"check-9"}, CiVerdict.RUNNING),
    ],
)
def test_a_required_check_that_is_missing_keeps_a_commit_from_being_green(
    outcomes: tuple[CheckOutcome, ...], required: set[str], verdict: CiVerdict
) -> None:
    assert fold(checks(*outcomes), required) is verdict


def test_what_is_waited_for_has_a_name() -> None:
    assert unfinished(checks(PASSED, RUNNING, UNKNOWN), {"check-9", "z"}) == ("check-7", "check-8", "z")
    assert unfinished(checks(STALE, PASSED), {"check-9"}) == ("check-9",), "what went stale was never reported"
    assert unfinished(checks(STALE)) == ("check-9",)
    assert unfinished(checks(STALE, RUNNING)) == ("check-8",)
