"""A specification's limits for a run: less than the configured ones, never more."""

from __future__ import annotations

import pytest

from config.settings import Settings
from shared.llm.port import CoderCall, RunLimits
from shared.specification import Settings as Wanted
from worker_agent.build import repair_of
from worker_agent.decide import Bounds
from worker_agent.phase_tools import bounded
from worker_agent.policy import RunPolicy

CONFIGURED = RunLimits(max_turns=7, budget_usd=5.0, deadline_seconds=2700.0)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), CONFIGURED),
        (Wanted(timeout_minutes=10), RunLimits(7, 5.0, 600.0)),
        (Wanted(max_budget_usd=0.5), RunLimits(7, 0.5, 2700.0)),
        (Wanted(max_attempts=20, timeout_minutes=1440, max_budget_usd=1000), CONFIGURED),
    ],
)
def test_a_specification_lowers_the_limits_of_a_run_only(wanted: Wanted, expected: RunLimits) -> None:
    assert bounded(CONFIGURED, wanted) == expected


@pytest.mark.parametrize(
    ("configured", "own", "expected"),
    [
        (RunLimits(), {}, (30, 2.0)),
        (RunLimits(max_turns=7, budget_usd=1.0), {}, (7, 1.0)),
        (RunLimits(), {"roles": {"developer": {"max_turns": 5}}}, (30, 2.0)),
        (RunLimits(), {"roles": {"debugger": {"model": "small"}}}, (30, 2.0)),
        (RunLimits(), {"roles": {"debugger": {"max_turns": 40, "budget": 3.5}}}, (40, 3.5)),
        (RunLimits(), {"roles": {"debugger": {"max_turns": 400, "budget": 99}}}, (50, 5.0)),
        (RunLimits(), {"roles": {"qa": {"max_turns": 44}}, "phases": {"fix_ci": "qa"}}, (44, 2.0)),
    ],
)
def test_a_repair_of_ci_takes_less_unless_its_role_says_otherwise(
    configured: RunLimits, own: dict[str, object], expected: tuple[int, float]
) -> None:
    settings = Settings.model_validate({"repositories": ({"name": "ada/directory"},), **own}, strict=False)
    policy = RunPolicy(configured, repair_of(settings))
    limits = policy.limits_of(CoderCall.FIX_CI)
    assert (limits.max_turns, limits.budget_usd) == expected
    assert limits.deadline_seconds == configured.deadline_seconds
    others = [call for call in CoderCall if call is not CoderCall.FIX_CI]
    assert [policy.limits_of(call) for call in others] == [configured] * len(others)


@pytest.mark.parametrize(("asked", "attempts"), [(None, 3), (2, 2), (3, 3), (20, 3)])
def test_a_specification_can_ask_for_fewer_attempts_and_never_for_more(asked: int | None, attempts: int) -> None:
    assert Bounds(attempts=3).lowered(asked) == Bounds(attempts=attempts)
