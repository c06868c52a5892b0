"""Which phases take much longer than usual: told once each, so that a silent stall is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from shared.telemetry.events import Event, EventKind
from shared.workflow import TERMINAL

TIMES = 2.0
"""A phase that takes so many times the average is slow."""

LEAST_SAMPLES = 3
"""Of fewer there is no average worth the name."""

LEAST_SECONDS = 60.0
"""What is over sooner is not slow, however quick it was before."""

MOST_PHASES = 200
"""So many averages are kept; there are about a dozen phases."""


@dataclass(frozen=True, slots=True)
class Slow:
    """A phase in work that takes too long: when it began, how long it usually takes, and its item's newest event."""

    since: datetime
    usual_seconds: float
    event: Event


@dataclass(slots=True)
class _Running:
    event: Event
    told: bool = False


class Pace:
    """The phases of one repository in one process, by its own events: which are in work, and how long each took."""

    def __init__(self) -> None:
        self._running: dict[str, _Running] = {}
        self._took: dict[str, tuple[int, float]] = {}

    def record(self, event: Event) -> None:
        """A run has begun, moved to another phase, or ended, be it one of another agent whose fence was ended here."""
        if event.kind not in {EventKind.CLAIM, EventKind.PHASE, EventKind.ENDED} or not event.run:
            return
        before = self._running.get(event.run)
        over = event.kind is EventKind.ENDED or event.phase in TERMINAL
        if before is not None and (over or event.phase != before.event.phase):
            self._learn(before.event.phase, (event.at - before.event.at).total_seconds(), event)
        if over:
            self._running.pop(event.run, None)
        elif before is None or event.phase != before.event.phase:
            self._running[event.run] = _Running(event)

    def slow(self, now: datetime) -> Iterator[Slow]:
        """Each phase that has become slow since it was last asked."""
        for running in self._running.values():
            count, total = self._took.get(running.event.phase, (0, 0.0))
            if running.told or count < LEAST_SAMPLES:
                continue
            usual = total / count
            if (now - running.event.at).total_seconds() > max(TIMES * usual, LEAST_SECONDS):
                running.told = True
                yield Slow(running.event.at, usual, running.event)

    def _learn(self, phase: str, seconds: float, end: Event) -> None:
        """What was cut short by a stop says nothing about how long the phase takes."""
        if end.kind is EventKind.ENDED and end.data.get("status") in {"stopped", "lost", "withdrawn"}:
            return
        if phase in self._took or len(self._took) < MOST_PHASES:
            count, total = self._took.get(phase, (0, 0.0))
            self._took[phase] = count + 1, total + max(0.0, seconds)
