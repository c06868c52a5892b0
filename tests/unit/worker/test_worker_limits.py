"""What a specification may ask of a run: less than what is configured, never more."""

from __future__ import annotations

import pytest

from shared.llm.port import Limits
from shared.specification import Settings
from worker_agent.briefing import bounded
from worker_agent.decide import Bounds

CONFIGURED = Limits(max_turns=7, budget_usd=5.0, deadline_seconds=2700.0)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Settings(), CONFIGURED),
        (Settings(timeout_minutes=10), Limits(7, 5.0, 600.0)),
        (Settings(max_budget_usd=0.5), Limits(7, 0.5, 2700.0)),
        (Settings(max_attempts=20, timeout_minutes=1440, max_budget_usd=1000), CONFIGURED),
    ],
)
def test_a_specification_lowers_the_limits_of_a_run_only(wanted: Settings, expected: Limits) -> None:
    assert bounded(CONFIGURED, wanted) == expected


@pytest.mark.parametrize(("asked", "attempts"), [(None, 3), (2, 2), (3, 3), (20, 3)])
def test_a_specification_can_ask_for_fewer_attempts_and_never_for_more(asked: int | None, attempts: int) -> None:
    assert Bounds(attempts=3).lowered(asked) == Bounds(attempts=attempts)
