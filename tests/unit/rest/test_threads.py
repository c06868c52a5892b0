"""The knowledge of a thread without a request: read whole, and without a gap since."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from shared.github.comments import MOST, RECENT_SECONDS, Threads
from shared.models import Account, Comment

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
ADA = Account(7, "ada")


def said(id: int, body: str = "text", *, minutes: int = 0) -> Comment:
    """Return a comment of issue 42, changed so many minutes after `AT`."""
    return Comment(id, 42, ADA, body, AT, AT + timedelta(minutes=minutes))


def read(threads: Threads, comments: Sequence[Comment], *, since: int | None = None, minutes: int = 0) -> None:
    """Note a reading begun so many minutes after `AT`, whole or of the changes from minute `since` on."""
    at = AT + timedelta(minutes=minutes)
    start = None if since is None else AT + timedelta(minutes=since)
    threads.read(42, comments, since=start, boot=60.0 * minutes, at=at)


def bodies(threads: Threads, boot: float, witness: int = 0) -> list[str] | None:
    """Return the known bodies; None if no recent enough reading is known."""
    known = threads.recent_thread(42, boot, witness)
    return None if known is None else [comment.body for comment in known]


def test_a_whole_reading_is_believed_for_half_a_minute() -> None:
    threads = Threads()
    read(threads, [said(2, "b"), said(1, "a")])
    assert bodies(threads, RECENT_SECONDS - 1) == ["a", "b"]
    assert bodies(threads, RECENT_SECONDS) is None
    assert threads.recent_thread(43, 0.0) is None


def test_an_old_reading_is_believed_as_far_as_it_shows_what_is_looked_for() -> None:
    threads = Threads()
    read(threads, [said(1, "a")])
    assert bodies(threads, 9999, witness=1) == ["a"]
    assert bodies(threads, 9999, witness=2) is None


def test_our_own_writes_are_known_without_reading() -> None:
    threads = Threads()
    threads.wrote(said(9))
    assert bodies(threads, 0) is None, "of a thread that was never read nothing is known"
    read(threads, [said(1, "a"), said(2, "b")])
    threads.wrote(said(2, "b, edited"))
    threads.wrote(said(3, "c"))
    threads.gone(1)
    assert bodies(threads, 0) == ["b, edited", "c"]


def test_a_partial_reading_that_overlaps_adds_what_is_newer() -> None:
    threads = Threads()
    read(threads, [said(1, "a"), said(2, "b", minutes=5)], minutes=10)
    read(threads, [said(2, "stale", minutes=4), said(1, "a, edited", minutes=12), said(3, "c", minutes=12)], since=9)
    assert bodies(threads, 9999, witness=3) == ["a, edited", "b", "c"]
    assert bodies(threads, 9999) is None, "a partial reading shows no deletion"


def test_a_gap_between_two_readings_ends_the_knowledge() -> None:
    threads = Threads()
    read(threads, [said(1)], minutes=10)
    read(threads, [said(3, minutes=30)], since=10, minutes=31)
    assert bodies(threads, 600, witness=3) is None
    assert bodies(threads, 600) is None
    read(threads, [said(4, minutes=32)], since=0, minutes=33)
    assert bodies(threads, 9999, witness=4) is None, "what was never read whole stays unknown"


def test_only_so_many_threads_are_kept() -> None:
    threads = Threads()
    for number in range(MOST + 1):
        threads.read(number, [], since=None, boot=0.0, at=AT)
    assert threads.recent_thread(0, 0.0) is None
    assert threads.recent_thread(MOST, 0.0) == ()
