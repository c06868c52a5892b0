"""Many schedules, on several processors, added up; the sum is the same for any number of processors."""

from __future__ import annotations

import gc
import json
import multiprocessing
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from .checks import CHECKS
from .journal import SOMETIMES
from .schedule import Schedule
from .worlds import WORLDS, world_of

LEAST_PER_100_000 = 100
"""Least number, in 100,000 schedules, of each event that should happen sometimes."""

PORTION = 500
"""Schedules that a process is given at a time."""


@dataclass(slots=True)
class Sum:
    """The sum of many schedules' results."""

    schedules: int = 0
    events: int = 0
    worlds: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    counters: Counter[str] = field(default_factory=Counter)
    failing: list[str] = field(default_factory=list)

    def add(self, other: Sum) -> None:
        """Count another sum in."""
        self.schedules += other.schedules
        self.events += other.events
        self.worlds += other.worlds
        self.checks += other.checks
        self.counters += other.counters
        self.failing += other.failing

    def missing(self) -> list[str]:
        """Return the events that happened too rarely for the checks to prove anything."""
        least = self.schedules * LEAST_PER_100_000 / 100_000
        return [f"{what}: {self.counters[what]}" for what in SOMETIMES if self.counters[what] < least]

    def line(self) -> str:
        """The sum as one line of JSON."""
        checks = {check: self.checks[check] for check in CHECKS}
        counters = {what: self.counters[what] for what in SOMETIMES}
        worlds = {name: self.worlds[name] for name in WORLDS if self.worlds[name]}
        return json.dumps(
            {
                "schedules": self.schedules,
                "events": self.events,
                "worlds": worlds,
                "checks": checks,
                "counters": counters,
            }
        )


def run(seeds: Iterable[int], world: str = "") -> Sum:
    """Run these seeds one after the other; the cyclic garbage of coroutines is collected once, at the end."""
    total = Sum()
    gc.disable()
    try:
        for seed in seeds:
            place = WORLDS[world] if world else world_of(seed)
            outcome = Schedule(place, seed).run()
            total.schedules += 1
            total.events += outcome.events
            total.worlds[place.name] += 1
            total.counters.update(outcome.counts)
            total.checks.update({violation.partition(":")[0] for violation in outcome.violations})
            total.failing += [f"{seed} {place.name} {violation}" for violation in outcome.violations[:3]]
    finally:
        gc.enable()
        gc.collect()
    return total


def run_many(first: int, schedules: int, workers: int, world: str = "") -> Sum:
    """Run `schedules` seeds from `first` on, a portion at a time; with one worker in this very process."""
    starts = range(first, first + schedules, PORTION)
    portions = [range(start, min(start + PORTION, first + schedules)) for start in starts]
    total = Sum()
    if workers == 1:
        for portion in portions:
            total.add(run(portion, world))
        return total
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for part in pool.map(partial(run, world=world), portions):
            total.add(part)
    return total
