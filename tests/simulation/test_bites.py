"""Bugs planted one at a time: every one is noticed, so that silence about the lock itself means something."""

from __future__ import annotations

import pytest

from .mutants import BUGS, SOURCES, copy_of_lock, planted
from .schedule import Schedule, Variation
from .worlds import WORLDS

SCHEDULES = 250
"""Within so many schedules a bug has to be noticed."""

NOTICED = {
    "any author trusted": ("calm", "6 progress"),
    "no settle wait": ("calm", "6 progress"),
    "prev ignored": ("calm", "1 epochs"),
    "self-fence off": ("hostile", "10 proof"),
    "blind second POST": ("normal", "7 cost"),
    "fence read after comments": ("calm", "10 proof"),
    "blind heartbeat": ("calm", "9 wishes"),
    "unknown key id ignored": ("calm", "8 two holders"),
    "fence not advanced": ("hostile", "2 stale write"),
    "labels as truth": ("calm", "1 epochs"),
}
"""In which world each is looked for, and which check notices it."""


def first_broken(world: str, check: str, variation: Variation) -> int | None:
    """The first seed in which a check fails."""
    for seed in range(SCHEDULES):
        broken = Schedule(WORLDS[world], seed, variation).run().violations
        if any(violation.startswith(f"{check}:") for violation in broken):
            return seed
    return None


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_noticed(bug: str) -> None:
    world, check = NOTICED[bug]
    seed = first_broken(world, check, planted(bug))
    assert seed is not None
    assert Schedule(WORLDS[world], seed).run().violations == ()


def test_a_copy_without_a_bug_behaves_as_the_lock_itself() -> None:
    copy = Variation(copy_of_lock("nothing", ()))
    for seed in range(10):
        assert Schedule(WORLDS["hostile"], seed, copy).run().digest == Schedule(WORLDS["hostile"], seed).run().digest


def test_a_bug_that_no_longer_fits_the_source_is_refused() -> None:
    with pytest.raises(ValueError, match="adapt this bug"):
        copy_of_lock("stale", (("fold", "no such text", ""),))


def test_every_planted_bug_changes_the_lock() -> None:
    for changes in SOURCES.values():
        assert all(old != new for _, old, new in changes)
