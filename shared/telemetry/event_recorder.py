"""The recorder of events: one per repository, which knows the item that is being worked on."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import structlog

from shared.clock import Clock
from shared.errors import Transient
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.telemetry.events import Event, EventKind, EventLog
from shared.telemetry.fold import Tallies
from shared.telemetry.rows import plain
from shared.telemetry.slow_phases import Pace
from shared.workflow import HALTED, TERMINAL, Role, Stage

log = structlog.get_logger()

_IN_WORK: ContextVar[Held | None] = ContextVar("held_item", default=None)
"""The lock of the item that the current task works on."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The telemetry of one agent process: its name, role and clock, the destinations of events, the secrets filter."""

    agent: str
    role: Role
    clock: Clock
    event_logs: Sequence[EventLog]
    tallies: Tallies
    hide: Callable[[str], str]


class EventRecorder:
    """Records the events of one repository. Recording never blocks and never raises."""

    def __init__(self, telemetry: Telemetry, repository: str) -> None:
        self._telemetry = telemetry
        self.repository = repository
        self.server_time: Callable[[], datetime] | None = None
        """GitHub's time, once there is a client to ask; it may raise `Transient`."""
        self._pace = Pace()

    @property
    def clock(self) -> Clock:
        """The process's clock, for measuring durations."""
        return self._telemetry.clock

    def tell(self, kind: EventKind, fence: Fence | None = None, *, number: int = 0, **data: object) -> None:
        """Record one event of the item that `fence` belongs to; without it, of the item being worked on.

        `number` is the thread that the event is about, if that may differ from the item.
        """
        try:
            held = _IN_WORK.get()
            about = fence or (held.fence if held is not None else None)
            event = self._event(kind, about, number, data)
            self._record(event)
            self._pace.record(event)
        except Exception:  # an issue must not fail because somebody watches it
            log.exception("event_not_told", kind=str(kind))

    def look_at_pace(self) -> None:
        """Record, once for each, the phases in progress that already take twice as long as usual."""
        now = self._now()
        for slow in self._pace.slow(now):
            about = slow.event
            seconds, usual = round((now - slow.since).total_seconds(), 1), round(slow.usual_seconds, 1)
            event = replace(
                about,
                at=now,
                kind=EventKind.PHASE_SLOW,
                data={"seconds": seconds, "usual_seconds": usual},
                uid=secrets.token_hex(12),
            )
            self._record(event)
            number = about.issue or about.pull
            log.warning(
                "phase_slow",
                repo=self.repository,
                issue=number,
                phase=about.phase,
                seconds=seconds,
                usual_seconds=usual,
            )

    def _record(self, event: Event) -> None:
        for event_log in self._telemetry.event_logs:
            event_log.record(event)
        self._telemetry.tallies.record(event)

    def _event(self, kind: EventKind, about: Fence | None, thread: int, data: dict[str, object]) -> Event:
        telemetry = self._telemetry
        known = {name: value for name, value in data.items() if value is not None}
        told = plain(known | ({"number": thread} if thread else {}), telemetry.hide)
        if about is None:
            of_pull, number, pull, run, phase = telemetry.role is Role.REVIEWER, thread, 0, "", ""
        else:
            of_pull, number, pull = about.key.kind is Role.REVIEWER, about.key.number, about.pr
            run, phase = about.epoch_name, phase_of(about)
        return Event(
            self._now(),
            telemetry.agent,
            telemetry.role,
            self.repository,
            kind,
            issue=0 if of_pull else number,
            pull=number if of_pull else pull,
            run=run,
            phase=phase,
            data=told,
        )

    def _now(self) -> datetime:
        if self.server_time is not None:
            try:
                return self.server_time()
            except Transient:
                pass  # GitHub has not answered yet
        return datetime.fromtimestamp(self._telemetry.clock.now(), UTC)


def phase_of(fence: Fence) -> str:
    """Return the item's phase in one word; its stage instead if it has ended or waits for an approval."""
    resting = TERMINAL | HALTED | {Stage.AWAITING_APPROVAL}
    return str(fence.stage) if fence.stage in resting or not fence.phase else fence.phase


@contextmanager
def working_on(held: Held) -> Iterator[None]:
    """Attribute events and log lines inside the block, and in tasks started there, to this item and this run."""
    token = _IN_WORK.set(held)
    try:
        with structlog.contextvars.bound_contextvars(run=held.fence.epoch_name):
            yield
    finally:
        _IN_WORK.reset(token)
