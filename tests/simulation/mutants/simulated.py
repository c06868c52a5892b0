"""Search for a bug of the lock by simulating the copy that has it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ..batch import Sum
from ..schedule import Schedule, Variation
from ..worlds import WORLDS, World, world_of
from .lock_copy import copy_of
from .mutant import Mutant

FIRST = 1200
"""Schedules of the bug's own world that are tried first."""

SCHEDULES = 3000
"""Schedules of the mixture after which a bug counts as unnoticed."""

SECONDS = 300
"""Seconds of a busy processor after which a bug counts as noticed."""


class Endless(Exception):
    """It does not come to an end."""


def looked_for(mutant: Mutant) -> str:
    """Return how the simulation notices the bug, in a few words; empty when it does not."""
    variation = Variation(copy_of(mutant))
    total = Sum()
    try:
        with _limited():
            for number, (world, seed) in enumerate(_places(mutant), 1):
                outcome = Schedule(world, seed, variation).run()
                if outcome.violations:
                    return f"{outcome.violations[0].partition(':')[0]}, schedule {number} ({world.name} {seed})"
                if number > (FIRST if mutant.world else 0):
                    total.schedules += 1
                    total.counters.update(outcome.counts)
    except Exception as error:
        return f"{type(error).__name__} in a schedule"
    missing = total.missing()
    return f"never: {missing[0]}" if missing else ""


def _places(mutant: Mutant) -> Iterator[tuple[World, int]]:
    if mutant.world:
        yield from ((WORLDS[mutant.world], seed) for seed in range(FIRST))
    yield from ((world_of(seed), seed) for seed in range(SCHEDULES))


@contextmanager
def _limited() -> Iterator[None]:
    """Raise `Endless` inside the block when it takes too long."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise Endless

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
