"""The trail as a file that several processes write: each event once, old ones forgotten, readers never in the way."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from telemetry_bench import AT, event

from shared.telemetry.event_log import Written
from shared.telemetry.events import Event, EventKind, Query
from shared.telemetry.sqlite_store import SqliteStore


def uids(path: Path, **query: object) -> list[str]:
    return [row.event.uid for row in SqliteStore(path).read(Query(**query), 1000)]  # type: ignore[arg-type]


def write(path: Path, *events: Event) -> None:
    store = SqliteStore(path)
    store.append(events, None)
    store.close()


def test_what_is_read_is_what_was_told(tmp_path: Path) -> None:
    told = event(EventKind.LLM_CALL, pull=9, data={"cost_usd": 0.5, "nested": {"ä": [1, None, "\x00"]}})
    write(tmp_path / "events.db", told)
    (row,) = SqliteStore(tmp_path / "events.db").read(Query(), 10)
    assert row.event.document() | {"data": None} == told.document() | {"data": None}
    assert row.event.data == {"cost_usd": 0.5, "nested": {"ä": [1, None, "\\x00"]}}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, "abcde"),
        ({"issue": 7}, "abd"),
        ({"issue": 9}, "bd"),
        ({"run": "51"}, "b"),
        ({"phase": "green"}, "e"),
        ({"agent": "reviewer-x"}, "d"),
        ({"kind": "ci"}, "b"),
        ({"repository": "c/d"}, "c"),
        ({"since": AT + timedelta(hours=1)}, "e"),
        ({"until": AT + timedelta(hours=1)}, "abcd"),
        ({"issue": 7, "kind": "ci", "agent": "worker-a"}, "b"),
    ],
)
def test_events_are_found(tmp_path: Path, query: dict[str, object], found: str) -> None:
    write(
        tmp_path / "events.db",
        event(uid="a"),
        event(EventKind.CI, uid="b", pull=9, run="51"),
        event(uid="c", repository="c/d", issue=70, pull=19),
        event(uid="d", agent="reviewer-x", issue=0, pull=9),
        event(uid="e", issue=8, phase="green", at=AT + timedelta(hours=1)),
    )
    assert "".join(uids(tmp_path / "events.db", **query)) == found, "an issue has its pull request's events too"


def test_an_event_that_is_written_twice_is_there_once(tmp_path: Path) -> None:
    write(tmp_path / "events.db", event(uid="a"), event(uid="b"))
    write(tmp_path / "events.db", event(uid="b"), event(uid="c"))
    assert uids(tmp_path / "events.db") == ["a", "b", "c"]


def test_many_writers_and_a_reader_do_not_hinder_each_other(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    trails = [Written(SqliteStore(path), keep=timedelta(days=90)) for _ in range(4)]

    def tell(number: int) -> None:
        for index in range(50):
            trails[number].record(event(uid=f"{number}-{index:02}"))
        trails[number].close(30)

    with ThreadPoolExecutor(5) as pool:
        writing = [pool.submit(tell, number) for number in range(4)]
        while not all(one.done() for one in writing):
            uids(path)
        for one in writing:
            one.result()
    assert len(uids(path)) == 200
    assert [trail.dropped for trail in trails] == [0] * 4
    assert [uid for uid in uids(path) if uid.startswith("2-")] == [f"2-{index:02}" for index in range(50)]


def test_many_that_begin_the_same_file_at_once_all_get_to_write(tmp_path: Path) -> None:
    for round_ in range(20):
        path = tmp_path / f"{round_}.db"
        with ThreadPoolExecutor(8) as pool:
            writing = [pool.submit(write, path, event(uid=f"{number}")) for number in range(8)]
        for one in writing:
            one.result()
        assert sorted(uids(path)) == [f"{number}" for number in range(8)]


def test_whoever_begins_the_file_waits_until_another_lets_go_of_it(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with closing(sqlite3.connect(path, check_same_thread=False, isolation_level=None)) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write, path, event(uid="a"))
            with pytest.raises(TimeoutError):
                writing.result(0.3)
            other.execute("COMMIT")
            writing.result()
    assert uids(path) == ["a"]


def test_a_deleted_file_begins_anew_whatever_a_killed_agent_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    killed = SqliteStore(path)
    killed.append([event(uid=f"old-{number}") for number in range(1500)], None)
    kept = (tmp_path / "events.db-wal").read_bytes()
    killed.close()
    path.unlink()
    (tmp_path / "events.db-wal").write_bytes(kept)
    write(path, event(uid="new"))
    write(path, event(uid="newer"))
    assert uids(path) == ["new", "newer"]


def test_old_events_are_deleted_and_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    write(path, event(uid="old", at=AT - timedelta(days=91)), event(uid="young", at=AT - timedelta(days=89)))
    trail = Written(SqliteStore(path), keep=timedelta(days=90))
    trail.record(event(uid="new"))
    trail.close(30)
    assert uids(path) == ["young", "new"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_deleted_meanwhile_begins_again(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    store = SqliteStore(path)
    store.append([event(uid="a")], None)
    for file in tmp_path.iterdir():
        file.unlink()
    store.append([event(uid="b")], None)
    store.close()
    assert uids(path) == ["b"]


@pytest.mark.fault(49)
@pytest.mark.parametrize("place", ["nowhere/events.db", "full/events.db", "no-database"])
def test_a_file_that_cannot_be_written_is_said_once_and_nobody_fails(tmp_path: Path, place: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "no-database").write_text("no database at all, but text that somebody put there " * 99)
    path = tmp_path / place
    if place.startswith("full"):  # SQLite's own way to have no room left
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE events (uid TEXT)")
    trail = Written(SqliteStore(path), keep=timedelta(days=90), pause=0.01)
    with capture_logs() as logs:
        for _ in range(3):
            trail.record(event())
        trail.close(30)
    assert trail.dropped == 3
    assert [entry["event"] for entry in logs] == ["events_not_written", "events_lost"]
