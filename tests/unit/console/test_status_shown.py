"""The board as it is shown: a table that fits, ages, a document for programs, and what cannot be read again."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from status_times import AT, UNTIL

from console.status.command import BoardView, follow, shown
from console.status.document import document
from console.status.gather import Unread, first
from console.status.phrases import ago
from console.status.row import Board, ItemRow, Merged, Spent, Waiting, Whom
from shared.ci.verdict import CiVerdict
from shared.errors import EngineError, Gone, Misconfigured, Transient, Unauthorized
from shared.process import CommandFailed, Finished
from shared.workflow import Stage, Track
from shared.workflow.labels import Flag


def printed(*boards: Board, width: int, height: int = 100) -> str:
    out = StringIO()
    console = Console(file=out, width=width, height=height, color_system=None, force_terminal=False)
    for one in boards:
        console.print(shown(one, width))
    return out.getvalue()


def a_row(**more: Any) -> ItemRow:
    return ItemRow(Track.SPECIFICATION, 7, more.pop("title", "Search"), Stage.FAILED, AT - timedelta(minutes=5), **more)


@pytest.mark.parametrize("width", [40, 80, 160])
def test_what_strangers_write_neither_drives_a_terminal_nor_poses_as_markup(width: int) -> None:
    told = printed(Board("a/b", AT, (a_row(title="[red]x[/red] \x1b[2J\u202eevil\r\n"),)), width=width)
    assert "[red]" in told
    assert not {"\x1b", "\u202e", "\r"} & set(told)


@pytest.mark.parametrize("width", [60, 80, 130, 160])
def test_a_table_is_no_wider_than_its_terminal(width: int) -> None:
    found = Waiting(Whom.PERSON, "questions to answer", AT + timedelta(days=1))
    row = a_row(title="A long title " * 9, holder="worker-" + "a" * 30, waiting=found, flags=tuple(Flag)[:2], usd=3.5)
    told = printed(Board("a/b", AT, (row,)), width=width)
    assert max(len(line) for line in told.splitlines()) <= width
    assert "$3.50" in told
    assert "manual-intervention" in told


def test_a_wide_table_leaves_out_columns_that_nothing_is_in() -> None:
    assert "cost" not in printed(Board("a/b", AT, (a_row(),)), width=160)
    assert "cost" in printed(Board("a/b", AT, (a_row(usd=0.0),)), width=160)


def test_nothing_open_is_said_and_so_is_what_could_not_be_read() -> None:
    told = printed(Board("a/b", AT, complaint="GitHub answered 502"), width=80)
    assert "no open items" in told
    assert "Not read again: GitHub answered 502" in told


def test_a_view_says_how_much_does_not_fit_and_lets_ages_go_on() -> None:
    clock = [0.0]
    view = BoardView(lambda: clock[0])
    view.show([Board("a/b", AT, tuple(a_row() for _ in range(30)))])
    clock[0] = 120.0
    out = StringIO()
    Console(file=out, width=80, height=12, force_terminal=False).print(view)
    lines = out.getvalue().splitlines()
    assert len(lines) == 12
    assert "lines more: make the window taller" in lines[-1]
    assert "for 7m" in out.getvalue()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h 0m"),
        (86399, "23h 59m"),
        (90000, "1d 1h"),
        (-5, "0s"),
    ],
)
def test_how_long_is_told_in_two_units(seconds: int, told: str) -> None:
    assert ago(timedelta(seconds=seconds)) == told


def test_the_document_has_the_shape_that_is_promised() -> None:
    row = a_row(attempts=(2, 3), usd=1.23456, waiting=Waiting(Whom.TIME, "usage-limit", UNTIL), ci=CiVerdict.GREEN)
    (found,) = json.loads(document([Board("a/b", AT, (row,))]))["repositories"]
    assert (found["repository"], found["at"], found["complaint"]) == ("a/b", "2026-11-22T10:00:00+00:00", None)
    (item,) = found["items"]
    assert item == {
        "kind": "specification",
        "number": 7,
        "title": "Search",
        "stage": "failed",
        "moved_at": "2026-11-22T09:55:00+00:00",
        "holder": None,
        "held_since": None,
        "attempt": 2,
        "max_attempts": 3,
        "round": 0,
        "cost_usd": 1.2346,
        "ci": "green",
        "waits_for": {"whom": "time", "why": "usage-limit", "until": "2026-11-22T10:30:00+00:00"},
        "flags": [],
        "commands": [],
        "issue": None,
        "pull_request": None,
        "story": None,
    }


def test_what_was_merged_and_spent_is_told_to_people_and_programs() -> None:
    board = Board("a/b", AT, (a_row(),), merged=(Merged(7, 9, UNTIL, "Old"),), spent=Spent(1.23456, 100, 2, 500))
    (found,) = json.loads(document([board]))["repositories"]
    assert found["merged"] == [{"number": 7, "title": "Old", "pull_request": 9, "at": "2026-11-22T10:30:00+00:00"}]
    assert found["spent"] == {"day": 1.2346, "day_limit": 100, "week": 2, "week_limit": 500}
    assert "1 merged in 24 h, $1.23 of $100.00 spent in 24 h" in printed(board, width=160)


class Stopped(BaseException):
    """Somebody pressed Ctrl-C."""


class Again:
    """A repository whose looks end as a test says, and a clock on which time only passes in sleeps."""

    def __init__(self, *ends: Board | BaseException) -> None:
        self.ends = list(ends)
        self.slept: list[float] = []

    repository = "a/b"

    def unread(self, why: str) -> Board:
        return Board(self.repository, AT, complaint=why)

    async def look(self) -> Board:
        end = self.ends.pop(0)
        if isinstance(end, BaseException):
            raise end
        return end

    def now(self) -> float:
        return 0.0

    def boot(self) -> float:
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_what_cannot_be_read_just_now_stays_as_it_was_until_it_can() -> None:
    first, later = Board("a/b", AT, (a_row(),)), Board("a/b", AT + timedelta(minutes=1))
    one = Again(Transient("GitHub answered 502"), Unauthorized("no"), Gone("gone"), OSError("full"), later, Stopped())
    seen: list[Board] = []
    with pytest.raises(Stopped):
        await follow([one], [first], one, 7.0, lambda boards: seen.extend(boards))
    kept = [(first.rows, why) for why in ("GitHub answered 502", "no", "gone", "full")]
    assert [(board.rows, board.complaint) for board in seen] == [*kept, ((), "")]
    assert one.slept == [7.0] * 6


async def test_a_first_look_shows_what_can_be_read_and_says_of_the_rest_why_it_cannot() -> None:
    good = Board("a/b", AT, (a_row(),))
    boards = await first([Again(good), Again(CommandFailed(Finished(("git", "fetch"), 128, b"", b"bad packed-refs")))])
    assert [board.rows for board in boards] == [good.rows, ()]
    assert boards[1].complaint.startswith("a/b cannot be read on this machine: git fetch")
    assert "bad packed-refs" in boards[1].complaint


@pytest.mark.parametrize(
    ("error", "raised"), [(OSError("full"), Misconfigured), (Unauthorized("no"), Unauthorized), (Gone("x"), Gone)]
)
async def test_where_nothing_can_be_read_a_first_look_fails_with_what_is_in_the_way(
    error: Exception, raised: type[EngineError]
) -> None:
    others = Unread(Board("c/d", AT, complaint="it is not there"))
    with pytest.raises(raised, match=str(error)):
        await first([Again(error), others])
