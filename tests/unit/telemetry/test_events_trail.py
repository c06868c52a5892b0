"""The queue before the database: it loses nothing that fits, counts what does not, and never raises."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs
from telemetry_bench import AT, event

from shared.telemetry.event_log import Hopeless, Written
from shared.telemetry.events import Event

DAYS_90 = timedelta(days=90)


class Shelf:
    """A database in memory that can be out of order; `gate` holds its writer up."""

    def __init__(self) -> None:
        self.rows: list[Event] = []
        self.forgotten: list[datetime] = []
        self.failures: list[Exception] = []
        self.hopeless = False
        self.failed = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self.closed = 0

    def append(self, events: Sequence[Event], forget_before: datetime | None) -> None:
        assert self.gate.wait(10)
        if self.failures:
            error = self.failures.pop(0)
            if not self.failures or self.hopeless:
                self.failed.set()
            raise error
        self.rows += events
        if forget_before is not None:
            self.forgotten.append(forget_before)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    shelf, others = Shelf(), set(threading.enumerate())  # a test before may have left one to the end of the process
    yield shelf
    shelf.gate.set()
    left = [thread for thread in threading.enumerate() if thread.name == "events" and thread not in others]
    assert left == [], "a writer was left over"


def test_everything_is_written_in_order_and_the_writer_ends(shelf: Shelf) -> None:
    trail = Written(shelf, keep=DAYS_90)
    told = [event() for _ in range(1200)]
    for one in told:
        trail.record(one)
    trail.close(10)
    assert shelf.rows == told
    assert (trail.dropped, shelf.closed) == (0, 1)


def test_what_comes_after_the_end_begins_again(shelf: Shelf) -> None:
    trail = Written(shelf, keep=DAYS_90)
    for _ in range(2):
        trail.record(event())
        trail.close(10)
    assert len(shelf.rows) == 2


def test_nothing_told_starts_no_thread(shelf: Shelf) -> None:
    trail = Written(shelf, keep=DAYS_90)
    trail.close(10)
    assert (shelf.rows, shelf.closed) == ([], 0)


def test_what_finds_no_room_is_counted_and_holds_nobody_up(shelf: Shelf) -> None:
    shelf.gate.clear()
    trail = Written(shelf, keep=DAYS_90, room=3)
    told = [event() for _ in range(5)]
    for one in told:
        trail.record(one)
    assert trail.dropped == 2
    shelf.gate.set()
    trail.close(10)
    assert shelf.rows == told[:3], "what there was room for is written"


@pytest.mark.fault(49)
def test_a_database_that_is_out_of_order_is_said_once_and_nothing_is_lost_when_it_comes_back(shelf: Shelf) -> None:
    shelf.failures = [OSError(28, "No space left on device"), OSError(28, "No space left on device")]
    trail = Written(shelf, keep=DAYS_90, pause=0.01)
    with capture_logs() as logs:
        trail.record(event())
        assert shelf.failed.wait(10)
        trail.record(event())
        trail.close(10)
    assert len(shelf.rows) == 2
    assert trail.dropped == 0
    assert [entry["event"] for entry in logs] == ["events_not_written", "events_written_again"]


def test_the_end_waits_for_one_last_try_and_counts_what_is_lost(shelf: Shelf) -> None:
    shelf.failures, shelf.hopeless = [OSError("gone")] * 9, True
    trail = Written(shelf, keep=DAYS_90, pause=60)
    with capture_logs() as logs:
        trail.record(event())
        assert shelf.failed.wait(10)
        trail.close(10)
    assert (shelf.rows, trail.dropped) == ([], 1)
    assert {"event": "events_lost", "count": 1}.items() <= logs[-1].items()


def test_old_events_are_forgotten_at_the_first_write_and_then_once_a_day(shelf: Shelf) -> None:
    trail = Written(shelf, keep=DAYS_90)
    for hours in (0, 1, 23, 25, 26):
        trail.record(event(at=AT + timedelta(hours=hours)))
        trail.close(10)
    assert shelf.forgotten == [AT - DAYS_90, AT + timedelta(hours=25) - DAYS_90]


def test_what_will_never_be_taken_is_counted_and_holds_nothing_up(shelf: Shelf) -> None:
    shelf.failures = [Hopeless("400")]
    trail = Written(shelf, keep=DAYS_90, pause=60)
    with capture_logs() as logs:
        trail.record(event())
        assert shelf.failed.wait(10)
        trail.record(later := event())
        trail.close(10)
    assert (shelf.rows, trail.dropped) == ([later], 1)
    assert [(entry["event"], entry["count"]) for entry in logs] == [("events_refused", 1)]
