"""The event log: a bounded queue before one writer thread, so that recording never blocks or fails an issue."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from shared.errors import EngineError
from shared.telemetry.events import Event

log = structlog.get_logger()

ROOM = 10_000
"""Events that may wait for a database that does not answer; later ones are counted and dropped."""

BATCH = 500
"""Events of one transaction."""

PAUSE_SECONDS = 30.0
"""Seconds until the next attempt after a failure; closing ends the pause."""

PRUNE_EVERY = timedelta(hours=24)


class Hopeless(EngineError):
    """The events will never be taken as they are."""


class Store(Protocol):
    """A database, used by one thread only. Every method may raise whatever the database raises.

    `Hopeless` means that the same events need not be tried again.
    """

    def append(self, events: Sequence[Event], forget_before: datetime | None) -> None:
        """Write all of `events` or none, and delete events older than `forget_before`; opens the database if needed."""
        ...

    def close(self) -> None:
        """Release the database; the next `append` opens it again."""
        ...


class NoEventLog:
    """An event log that keeps nothing: for code without a state directory, such as most tests."""

    dropped = 0

    def record(self, event: Event) -> None:
        """Ignore the event."""

    def close(self, seconds: float) -> None:
        """Do nothing: there is nothing to write."""


class Written:
    """An event log in a database. A failure is logged once; the events wait, as far as there is room, for a retry."""

    def __init__(
        self, store: Store, *, keep: timedelta, room: int = ROOM, pause: float = PAUSE_SECONDS, to: str = "trail"
    ) -> None:
        """Only the writer's own thread uses `store`; events older than `keep` are deleted once a day.

        `to` is the name of the destination in log lines.
        """
        self._to = to
        self._store, self._keep, self._room, self._pause = store, keep, room, pause
        self._waiting: deque[Event] = deque()
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._pruned: datetime | None = None
        self._failing = False
        self.dropped = 0
        """Number of events dropped so far."""

    def record(self, event: Event) -> None:
        """Queue one event; if the queue is full, count and drop it."""
        with self._news:
            if len(self._waiting) >= self._room:
                self.dropped += 1
                return
            self._waiting.append(event)
            if self._thread is None:
                self._closing = False
                work = contextvars.copy_context().run  # so that what it logs names the agent
                self._thread = threading.Thread(target=work, args=(self._write_all,), name="events", daemon=True)
                try:
                    self._thread.start()
                except RuntimeError:  # the machine has no thread left: the next event tries again
                    self._thread = None
            self._news.notify()

    def close(self, seconds: float) -> None:
        """Write the queued events; drop those that the database has not taken within `seconds`."""
        with self._news:
            thread, self._closing = self._thread, True
            self._news.notify_all()
        if thread is not None:
            thread.join(seconds)
        with self._news:
            if self._waiting:
                self.dropped += len(self._waiting)
                log.warning("events_lost", outcome="failed", to=self._to, count=len(self._waiting))
                self._waiting.clear()

    def _write_all(self) -> None:
        while batch := self._next():
            if not self._write_batch(batch) and self._pause_after_failure():
                break
        _close_quietly(self._store)
        with self._news:
            self._thread = None

    def _next(self) -> list[Event]:
        """Wait for and return the next batch, still queued; empty if all is written and the log is closed."""
        with self._news:
            while not self._waiting and not self._closing:
                self._news.wait()
            return [self._waiting[index] for index in range(min(BATCH, len(self._waiting)))]

    def _write_batch(self, batch: Sequence[Event]) -> bool:
        latest = batch[-1].at
        prune = self._pruned is None or latest - self._pruned >= PRUNE_EVERY
        try:
            self._store.append(batch, latest - self._keep if prune else None)
        except Hopeless as error:
            self._give_up(batch, str(error).partition("\n")[0])
            return True
        except Exception as error:  # whatever it is, no issue may notice
            if not self._failing:
                log.warning("events_not_written", outcome="retrying", to=self._to, error=str(error).partition("\n")[0])
            self._failing = True
            _close_quietly(self._store)
            return False
        if self._failing:
            log.info("events_written_again", outcome="completed", to=self._to, dropped=self.dropped)
        self._failing, self._pruned = False, latest if prune else self._pruned
        self._done_with(batch)
        return True

    def _done_with(self, batch: Sequence[Event]) -> int:
        """Take the batch off the queue; return how many of its events were still there."""
        with self._news:
            waited = min(len(batch), len(self._waiting))  # `close` may have given them up meanwhile
            for _ in range(waited):
                self._waiting.popleft()
        return waited

    def _give_up(self, batch: Sequence[Event], reason: str) -> None:
        """Drop a batch that the store will never take, so that later events need not wait for it."""
        count = self._done_with(batch)
        with self._news:
            self.dropped += count
        log.warning("events_refused", outcome="failed", to=self._to, count=count, error=reason)

    def _pause_after_failure(self) -> bool:
        """Pause after a failure; return True, at once, if the log was closed: then there is no retry."""
        with self._news:
            closed = self._closing
            self._news.wait_for(lambda: self._closing, self._pause)
            return closed


def _close_quietly(store: Store) -> None:
    try:
        store.close()
    except Exception as error:  # it was of no use any more
        log.debug("events_not_closed", error=str(error))
