"""A phase that takes twice as long as usual is told once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.telemetry.events import Event, EventKind
from shared.telemetry.slow_phases import Pace
from shared.workflow import Role

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def event(kind: EventKind, seconds: float, run: str, phase: str, **data: str) -> Event:
    return Event(NOON + timedelta(seconds=seconds), "worker-1", Role.WORKER, "a/b", kind, 7, 0, run, phase, data)


def taught(*seconds: float, status: str = "handed over") -> Pace:
    """Return a pace that has seen runs whose phase `red` took so long."""
    pace = Pace()
    for number, took in enumerate(seconds):
        pace.record(event(EventKind.CLAIM, 0, str(number), "red"))
        pace.record(event(EventKind.ENDED, took, str(number), "red", status=status))
    return pace


def slow(pace: Pace, seconds: float) -> list[tuple[str, float]]:
    return [(one.event.phase, one.usual_seconds) for one in pace.slow(NOON + timedelta(seconds=seconds))]


@pytest.mark.parametrize(
    ("taught_seconds", "after", "told"),
    [
        ((100, 200, 300), 399, []),
        ((100, 200, 300), 401, [("red", 200)]),
        ((100, 300), 4000, []),  # two are no average
        ((1, 1, 1), 59, []),  # a minute is not slow
        ((1, 1, 1), 61, [("red", 1)]),
    ],
)
def test_twice_the_average_is_slow(taught_seconds: tuple[int, ...], after: int, told: list[tuple[str, float]]) -> None:
    pace = taught(*taught_seconds)
    pace.record(event(EventKind.CLAIM, 0, "new", "red"))
    assert slow(pace, after) == told
    if told:
        assert slow(pace, after + 1000) == [], "once"


def test_another_phase_counts_anew_and_an_end_ends_it() -> None:
    pace = taught(10, 10, 10)
    pace.record(event(EventKind.CLAIM, 0, "new", "red"))
    pace.record(event(EventKind.PHASE, 50, "new", "green"))
    assert slow(pace, 5000) == [], "nobody knows how long green takes"
    pace.record(event(EventKind.PHASE, 5000, "new", "red"))
    pace.record(event(EventKind.ENDED, 5050, "new", "red", status="finished"))
    assert slow(pace, 9000) == []


def test_the_end_of_another_agents_fence_is_no_phase_in_work() -> None:
    """A reviewer ends the worker's fence of what it has merged; nobody tells the end of that run to it."""
    pace = taught(10, 10, 10)
    for number in range(4):
        pace.record(event(EventKind.PHASE, 0, f"worker-{number}", "done"))
    assert slow(pace, 9000) == []


@pytest.mark.parametrize("status", ["stopped", "lost", "withdrawn"])
def test_what_was_cut_short_says_nothing_about_the_usual(status: str) -> None:
    pace = taught(1, 1, 1, status=status)
    pace.record(event(EventKind.CLAIM, 0, "new", "red"))
    assert slow(pace, 5000) == []
