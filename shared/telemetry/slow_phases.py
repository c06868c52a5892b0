"""Detection of phases that take much longer than usual: reported once each, so that a silent stall is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from shared.newest import Newest
from shared.telemetry.events import Event, EventKind
from shared.workflow import TERMINAL

TIMES = 2.0
"""Multiple of the average duration from which on a phase is slow."""

LEAST_SAMPLES = 3
"""Samples needed for an average."""

LEAST_SECONDS = 60.0
"""Seconds within which a phase is never slow, however quick it was before."""

MOST_PHASES = 200
"""Averages that are kept, at most; there are about a dozen phases."""


@dataclass(frozen=True, slots=True)
class Slow:
    """A phase in progress that takes too long: its start, its usual duration, and its item's newest event."""

    since: datetime
    usual_seconds: float
    event: Event


@dataclass(slots=True)
class _Running:
    event: Event
    reported: bool = False


class Pace:
    """The phases of one repository in one process, by its own events: those in progress, and past durations."""

    def __init__(self) -> None:
        self._running: Newest[str, _Running] = Newest()
        self._took: dict[str, tuple[int, float]] = {}

    def record(self, event: Event) -> None:
        """Note that a run has begun, changed its phase, or ended; also another agent's run whose fence ended here."""
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
        """Yield each phase that has become slow since the last call."""
        for running in self._running.values():
            count, total = self._took.get(running.event.phase, (0, 0.0))
            if running.reported or count < LEAST_SAMPLES:
                continue
            usual = total / count
            if (now - running.event.at).total_seconds() > max(TIMES * usual, LEAST_SECONDS):
                running.reported = True
                yield Slow(running.event.at, usual, running.event)

    def _learn(self, phase: str, seconds: float, end: Event) -> None:
        """Add a duration to the phase's average, unless the phase was cut short by a stop."""
        if end.kind is EventKind.ENDED and end.data.get("status") in {"stopped", "lost", "withdrawn"}:
            return
        if phase in self._took or len(self._took) < MOST_PHASES:
            count, total = self._took.get(phase, (0, 0.0))
            self._took[phase] = count + 1, total + max(0.0, seconds)
