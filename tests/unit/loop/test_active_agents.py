"""A process's share of an account's limits, by the agents that it has seen at work."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import pytest
from fakes.clock import HandClock

from shared.git.active_agents import LEAST, SEEN, STEADY_SECONDS, Presence, alive, part
from shared.git.fences import AgentSeen

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def seen(agents: str) -> dict[str, float]:
    """Return a record in which all agents have just moved a fence."""
    return dict.fromkeys(agents, SEEN.total_seconds())


def test_alive_is_who_moved_a_fence_under_this_account_within_the_hour() -> None:
    traces = [
        AgentSeen("worker-a", 7, NOW - SEEN + timedelta(seconds=1)),
        AgentSeen("worker-b", 7, NOW - SEEN),
        AgentSeen("reviewer-a", 8, NOW),
        AgentSeen("planner-a", 7, NOW),
    ]
    assert alive(traces, 7, NOW) == {"worker-a": 1, "planner-a": SEEN.total_seconds()}


@pytest.mark.parametrize(
    ("own", "seen", "share"),
    [
        ("a", "", 1),
        ("a", "a", 1),
        ("a", "b", 1 / 2),
        ("a", "abc", 1 / 3),
        ("abc", "", 1),
        ("abc", "abcd", 3 / 4),
        ("abc", "ad", 1 / 2),
        ("abc", "def", 1 / 4),
        ("a", "abcdefghijklmnopqrstuvwxyz", LEAST),
    ],
)
def test_the_part_is_by_agents_and_oneself_is_at_least_one(
    own: Collection[str], seen: Collection[str], share: float
) -> None:
    assert part(own, seen) == pytest.approx(share)


def test_all_who_see_each_other_take_no_more_than_the_whole_together() -> None:
    processes = ["a", "bc", "def"]
    assert sum(part(own, "abcdef") for own in processes) == pytest.approx(1)


def test_a_smaller_part_holds_at_once_and_a_larger_one_when_it_has_stayed() -> None:
    clock, told = HandClock(), list[float]()
    presence = Presence(clock, told.append)
    presence.join("a")
    presence.note("x/y", seen("ab"))
    presence.note("x/z", seen("cd"))
    assert told == [1 / 2, 1 / 4], "agents of all repositories count together"
    presence.note("x/z", {})
    clock.seconds += STEADY_SECONDS - 1
    presence.note("x/y", seen("ab"))
    assert presence.share == 1 / 4
    presence.note("x/z", seen("cd"))  # they are back
    clock.seconds += 2
    presence.note("x/z", {})
    assert presence.share == 1 / 4, "it begins to count anew"
    clock.seconds += STEADY_SECONDS
    presence.note("x/y", seen("ab"))
    assert told == [1 / 2, 1 / 4, 1 / 2]
    assert presence.others == 1


def test_who_was_seen_where_nobody_sweeps_any_more_is_forgotten_in_time() -> None:
    clock, told = HandClock(), list[float]()
    presence = Presence(clock, told.append)
    presence.join("a")
    presence.note("x/gone", {"b": SEEN.total_seconds(), "c": 600.0})
    assert (presence.others, told) == (2, [1 / 3])
    clock.seconds += 600
    presence.note("x/y", seen("a"))
    assert presence.others == 1, "each by its own time"
    for _ in range(8):
        clock.seconds += 600
        presence.note("x/y", seen("a"))
    assert (presence.others, told) == (0, [1 / 3, 1 / 2, 1])
