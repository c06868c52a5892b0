"""`workflow-engine events`: what people and programs get, and what they are told when it does not work."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from telemetry_bench import AT, event
from typer.testing import CliRunner

from console.app import app
from console.events import EventsOptions, moment, shown
from shared.telemetry.events import Event, EventKind, Query
from shared.telemetry.sqlite_store import SqliteStore


class Stop:
    """A clock whose sleeps let something happen, and then are interrupted."""

    def __init__(self, *happenings: Callable[[], None]) -> None:
        self.happenings = list(happenings)

    def now(self) -> float:
        return AT.timestamp()

    def boot(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        if not self.happenings:
            raise KeyboardInterrupt
        self.happenings.pop(0)()


def write(state: Path, *events: Event) -> None:
    store = SqliteStore(state / "events.db")
    store.append(events, None)
    store.close()


def ask(state: Path, *, clock: Stop | None = None, table: bool = False, follow: bool = False, **query: object) -> int:
    options = EventsOptions(Query(repository="a/b", **query), None, state, follow)  # type: ignore[arg-type]
    return shown(options, {"HOME": str(state)}, clock or Stop(), table=table)


def test_programs_get_one_object_per_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, event(EventKind.CI, pull=9, data={"verdict": "red"}), event(issue=8))
    assert ask(tmp_path, issue=7) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    expected = {"at": "2026-11-22T08:30:00.000+00:00", "agent": "worker-a", "kind": "ci", "issue": 7, "pull": 9}
    assert told | expected | {"data": {"verdict": "red"}} == told


def test_people_get_a_table_that_no_text_can_break_out_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, event(EventKind.ESCALATION, data={"sentence": "bad\x1b[2J\nline\u202e", "retried": True}))
    assert ask(tmp_path, table=True) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split() == [
        *("2026-11-22", "08:30:00", "worker-a", "#7", "red", "escalation"),
        *("sentence=bad\\x1b[2J\\x0aline\\x202e", "retried=true"),
    ]


def test_many_events_come_page_after_page_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, *(event(data={"n": number}) for number in range(2500)))
    assert ask(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["data"]["n"] for line in lines] == list(range(2500))


def test_follow_goes_on_with_what_comes_and_tells_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, event(data={"n": 0}))
    clock = Stop(
        lambda: write(tmp_path, event(data={"n": 1}), event(data={"n": 2})),
        lambda: None,
        lambda: write(tmp_path, event(data={"n": 3})),
    )
    assert ask(tmp_path, clock=clock, follow=True) == 130
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["data"]["n"] for line in lines] == [0, 1, 2, 3]


def test_where_nothing_was_told_there_is_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(tmp_path) == 0
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "events.db").exists(), "a reader makes nothing"


def test_a_file_that_is_no_database_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events.db").write_text("text that somebody put there " * 99)
    assert ask(tmp_path) == 4
    place = tmp_path / "events.db"
    assert capsys.readouterr().err == f"The events in {place} cannot be read: file is not a database\n"


def test_a_directory_that_is_not_there_is_told_from_one_without_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(tmp_path / "nowhere") == 2
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"There is no state directory {tmp_path}/nowhere: name it with --state-dir.\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21", datetime(2026, 11, 21, tzinfo=UTC)),
        ("2026-11-21T08:30", datetime(2026, 11, 21, 8, 30, tzinfo=UTC)),
        ("2026-11-21T08:30+02:00", datetime(2026, 11, 21, 6, 30, tzinfo=UTC)),
        ("90m", AT - timedelta(minutes=90)),
        ("7d", AT - timedelta(days=7)),
    ],
)
def test_times_as_people_write_them(text: str, expected: datetime) -> None:
    assert moment(text, AT) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--since", "yesterday"], "--since: 'yesterday' is no time"),
        (["--kind", "llm"], "'llm' is none; there is claim"),
    ],
)
def test_wrong_words_are_explained(words: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["events", "a/b", *words], env={"COLUMNS": "400"})
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
