"""Events for tests, a trail that keeps them in memory, and who tells them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from shared.clock import Clock
from shared.telemetry.event_recorder import EventRecorder, Telemetry
from shared.telemetry.events import Event, EventKind
from shared.telemetry.fold import Tallies
from shared.workflow import Role

AT = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)


def event(kind: EventKind = EventKind.PHASE, **fields: Any) -> Event:
    """Return an event of a worker on issue 7."""
    told: dict[str, Any] = {"at": AT, "agent": "worker-a", "role": Role.WORKER, "repository": "a/b", "kind": kind}
    return Event(**{**told, "issue": 7, "run": "50", "phase": "red", **fields})


class Kept:
    """A trail in memory."""

    dropped = 0

    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> None:
        self.events.append(event)

    def close(self, seconds: float) -> None:
        """Do nothing: everything is written already."""


def scribe_into(kept: Kept, clock: Clock, tallies: Tallies | None = None) -> EventRecorder:
    """Return a worker's event recorder that hides the word `hunter2`."""
    telemetry = Telemetry(
        "worker-a", Role.WORKER, clock, (kept,), tallies or Tallies(), lambda t: t.replace("hunter2", "***")
    )
    return EventRecorder(telemetry, "a/b")
