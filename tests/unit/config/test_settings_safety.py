"""Values that are not safe: refused, but for a lab on loopback."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from settings_scene import LAB, settings

from config.engine import GitHubSettings, LockSettings
from config.rules import RulesBroken
from config.spending_limits import BudgetSettings

UNSAFE: list[tuple[dict[str, Any], str, str]] = [
    ({"lock": LockSettings(timeout=899, self_fence=700)}, "lock.timeout", "at least 3 heartbeats (900), not 899"),
    ({"lock": LockSettings(self_fence=1800)}, "lock.self_fence", "a sixth of lock.timeout (1800)"),
    ({"lock": LockSettings(self_fence=1501)}, "lock.self_fence", "at most 1500: "),
    ({"lock": LockSettings(timeout=1800, self_fence=1799)}, "lock.self_fence", "not 1799"),
    ({"lock": LockSettings(self_fence=300)}, "lock.self_fence", "greater than lock.heartbeat (300), not 300"),
    ({"lock": LockSettings(settle=1.9)}, "lock.settle", "at least 2, not 1.9"),
    ({"github": GitHubSettings(write_interval_seconds=0)}, "github.write_interval_seconds", "greater than 0"),
    ({"budgets": BudgetSettings(issue=4.9)}, "budgets.issue", "at least budgets.run (5), not 4.9"),
    ({"budgets": BudgetSettings(run=30, issue=30, day=25)}, "budgets.day", "at least budgets.run (30), not 25"),
    ({"github": GitHubSettings(api_url="http://example.org")}, "github.api_url", "begin with https://"),
    ({"github": GitHubSettings(api_url="http://localhost.example.org")}, "github.api_url", "begin with https://"),
]


@pytest.mark.fault(2)
@pytest.mark.parametrize(("changes", "key", "message"), UNSAFE)
def test_unsafe_values_are_refused(changes: dict[str, Any], key: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        settings(**changes)
    (error,) = caught.value.errors()
    assert isinstance(error["ctx"]["error"], RulesBroken)
    (broken,) = error["ctx"]["error"].broken
    assert ".".join(map(str, broken.path)) == key
    assert message in broken.message


@pytest.mark.parametrize("changes", [change for change, _, _ in UNSAFE if "lock" in change])
def test_unsafe_times_are_accepted_against_loopback(changes: dict[str, Any]) -> None:
    assert settings(github=LAB, **changes).lock == changes["lock"]


@pytest.mark.parametrize(
    "lock",
    [
        LockSettings(timeout=900, self_fence=750, heartbeat=300, settle=2),
        LockSettings(timeout=1800, self_fence=301, heartbeat=300),
    ],
)
def test_the_last_safe_values_are_accepted(lock: LockSettings) -> None:
    assert settings(lock=lock).lock == lock
