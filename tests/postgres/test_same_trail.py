"""PostgreSQL holds the same trail as SQLite: the same events, found by the same questions, in the same troubles."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from telemetry_bench import AT, event

from config.loading import load
from console.events import EventsOptions, shown
from postgres.conftest import PASSWORD, Database, eventually
from runtime.building.telemetry import store
from shared.errors import Misconfigured
from shared.loop.real_clock import RealClock
from shared.telemetry.event_log import Written
from shared.telemetry.events import Event, EventKind, Query
from shared.telemetry.postgres_store import PostgresStore, address
from shared.telemetry.sqlite_store import SqliteStore

pytestmark = pytest.mark.postgres

DAYS_90 = timedelta(days=90)


def story() -> list[Event]:
    """Return events of every kind, of two repositories, with text that is hard for databases."""
    told = []
    for number, kind in enumerate(EventKind):
        at = AT + timedelta(seconds=61 * number, microseconds=number)
        pull = 9 if number % 3 == 0 else 0
        repository = "c/d" if number % 5 == 4 else "a/b"
        data = {
            "n": number,
            "text": "ä 'quoted' \"x\" \0 \ud800 :name %s",
            "usd": 0.1,
            "none": None,
            "deep": [{"a": []}],
        }
        told.append(event(kind, uid=f"u{number}", at=at, issue=number % 4, pull=pull, repository=repository, data=data))
    return told


def documents(source: SqliteStore | PostgresStore, query: Query) -> list[dict[str, Any]]:
    return [row.event.document() for row in source.read(query, 1000)]


def test_both_hold_the_same_trail(clean: Database, tmp_path: Path) -> None:
    file, server = SqliteStore(tmp_path / "events.db"), PostgresStore(clean.url)
    trails = [Written(one, keep=DAYS_90) for one in (file, server)]
    old = event(uid="old", at=AT - timedelta(days=91))
    for trail in trails:
        trail.record(old)
        trail.close(60)
        for one in [*story(), *story()[:3]]:  # some twice, as after a lost reply
            trail.record(one)
        trail.close(60)
        trail.record(event(uid="later", at=AT + timedelta(days=2)))  # a day later old ones are forgotten
        trail.close(60)
        assert trail.dropped == 0
    queries = [
        Query(),
        Query(issue=3),
        Query(issue=9),
        Query(repository="c/d"),
        Query(kind="ci"),
        Query(run="50", phase="red", agent="worker-a"),
        Query(since=AT + timedelta(seconds=120), until=AT + timedelta(seconds=600)),
        Query(run="none"),
    ]
    for query in queries:
        told = documents(server, query)
        assert told == documents(file, query), query
        assert told or query == Query(run="none"), query
    everything = [one["uid"] for one in documents(server, Query())]
    assert everything == [*(f"u{number}" for number in range(len(EventKind))), "later"]
    server.close()


def test_agents_that_start_together_make_one_table(clean: Database) -> None:
    def write(number: int) -> None:
        one = PostgresStore(clean.url)
        try:
            one.append([event(uid=f"{number}")], None)
        finally:
            one.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    reader = PostgresStore(clean.url)
    assert sorted(one["uid"] for one in documents(reader, Query())) == ["0", "1", "2", "3"]
    reader.close()


@pytest.mark.fault(49)
def test_a_server_that_goes_away_is_said_once_and_what_was_told_is_written_when_it_is_back(clean: Database) -> None:
    trail = Written(PostgresStore(clean.url), keep=DAYS_90, pause=0.1)
    with capture_logs() as logs:
        trail.record(event(uid="before"))
        eventually(lambda: not trail._waiting)
        clean.stop()
        try:
            trail.record(event(uid="while it was away"))
            eventually(lambda: logs)
            trail.record(event(uid="also then"))
        finally:
            clean.start()
        eventually(lambda: len(logs) == 2)
        trail.close(60)
    assert [entry["event"] for entry in logs] == ["events_not_written", "events_written_again"]
    assert PASSWORD not in str(logs)
    reader = PostgresStore(clean.url)
    assert [one["uid"] for one in documents(reader, Query())] == ["before", "while it was away", "also then"]
    reader.close()


def test_the_command_reads_it_as_configured(
    clean: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "repos.yml"
    config.write_text(f"repositories: [{{name: a/b}}]\nstate_dir: {tmp_path}\nevents: {{url: '{clean.url}'}}\n")
    settings = load(config, repository=None, environment={"HOME": str(tmp_path)})
    trail = Written(store(settings), keep=DAYS_90)
    trail.record(event(uid="a"))
    trail.close(60)
    options = EventsOptions(Query(repository="a/b"), config)
    assert shown(options, {"HOME": str(tmp_path)}, RealClock(), table=False) == 0
    assert json.loads(capsys.readouterr().out)["uid"] == "a"
    assert not (tmp_path / "events.db").exists()


def test_a_wrong_password_is_said_without_repeating_it(
    clean: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = clean.url.replace("s3cret", "wr0ng")
    config = tmp_path / "repos.yml"
    config.write_text(f"repositories: [{{name: a/b}}]\nstate_dir: {tmp_path}\nevents: {{url: '{url}'}}\n")
    assert shown(EventsOptions(Query(), config), {"HOME": str(tmp_path)}, RealClock(), table=False) == 4
    said = capsys.readouterr().err
    assert "password authentication failed" in said
    assert "wr0ng" not in said


def test_ssl_as_postgresql_spells_it_is_understood() -> None:
    assert address("postgresql://h/d?sslmode=require").query == {"ssl": "require"}
    assert address("postgres://h/d").drivername == "postgresql+asyncpg"


@pytest.mark.parametrize("url", ["mysql://h/d", "sqlite:///x", "h/d", "postgresql//h"])
def test_another_database_is_refused(url: str) -> None:
    with pytest.raises(Misconfigured, match=r"events\.url"):
        address(url)
