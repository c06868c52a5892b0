"""Progress of `verify` for a person who waits: each run of the tests as it ends, on standard error."""

from __future__ import annotations

from runtime.telemetry.progress import Progress, Watched
from shared.clock import Clock
from shared.telemetry.event_recorder import EventRecorder, Telemetry
from shared.telemetry.fold import Tallies
from shared.workflow import Role


def run_recorder(repository: str, clock: Clock) -> EventRecorder:
    """Return a recorder that keeps nothing, and prints the events worth knowing."""
    watched = Watched(Progress(clock, ci=False))
    return EventRecorder(Telemetry("verify", Role.WORKER, clock, watched, Tallies(), str), repository)
