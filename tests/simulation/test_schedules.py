"""2,000 schedules of the lock, and every seed that once showed a flaw: no promise is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from .batch import Sum, run
from .journal import SOMETIMES
from .schedule import Schedule
from .worlds import WORLDS

SCHEDULES = 2000
"""20 or more of each world; `.ci/run` runs 20,000 others every time, seeds that nobody has seen."""
CHUNK = 1000
LEAST_EVENTS = 120
"""Events that a schedule must have on average; shorter ones would prove little."""

KEPT = [
    line.split()[:2] for line in Path(__file__).with_name("kept.txt").read_text("utf-8").splitlines() if line[:1] != "#"
]


@pytest.mark.parametrize("first", range(0, SCHEDULES, CHUNK))
def test_no_promise_is_broken(first: int) -> None:
    total = run(range(first, first + CHUNK))
    assert total.failing == []
    assert total.missing() == []
    assert total.events >= LEAST_EVENTS * total.schedules
    assert set(total.worlds) == set(WORLDS)


@pytest.mark.parametrize(("seed", "world"), KEPT)
def test_a_seed_that_once_showed_a_flaw(seed: str, world: str) -> None:
    assert Schedule(WORLDS[world], int(seed)).run().violations == ()


def test_what_never_happens_is_noticed() -> None:
    """Checks on what did not happen prove nothing, so a sum without it is no success."""
    total = Sum(schedules=100_000)
    total.counters.update(dict.fromkeys(SOMETIMES, 100))
    assert total.missing() == []
    total.counters["takeover"] -= 1
    assert total.missing() == ["takeover: 99"]


def test_the_story_of_a_schedule_is_the_schedule() -> None:
    """Telling it changes nothing, and everybody who takes part appears."""
    quiet, told = Schedule(WORLDS["hostile"], 5).run(), Schedule(WORLDS["hostile"], 5, told=True).run()
    assert (quiet.digest, quiet.story) == (told.digest, ())
    assert any("worker-" in line and "posts <!-- engine-status" in line for line in told.story)
