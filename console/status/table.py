"""The board for people: a table that fits the terminal, and the view that follows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from console.status.phrases import KIND, ago, cost, held, plain, tries, waits
from console.status.row import Board, Row
from shared.ci.verdict import Verdict
from shared.workflow import HALTED

WIDE = 130
"""Columns from which on everything has one of its own; below, figures stand in a line under the title."""

_CI = {Verdict.GREEN: "green", Verdict.RED: "red", Verdict.RUNNING: "yellow"}


def shown(board: Board, width: int) -> RenderableType:
    """One repository's board, for a terminal of so many columns."""
    parts: list[RenderableType] = [_heading(board)]
    if board.complaint:
        parts.append(Text(f"Not read again: {plain(board.complaint)}", style="red"))
    if board.rows:
        parts.append(_wide(board) if width >= WIDE else _narrow(board))
    return Group(*parts)


def _heading(board: Board) -> Text:
    told = f"{len(board.rows)} open" if board.rows else "no open items"
    if mine := sum(row.needs_a_person for row in board.rows):
        told += f", {mine} of them for a person"
    if board.merged:
        told += f", {len(board.merged)} merged in 24 h"
    if board.spent is not None:
        told += f", ${board.spent.day:.2f} of ${board.spent.day_limit:.2f} spent in 24 h"
    return Text.assemble((board.repository, "bold"), f"  {told}  {board.at:%Y-%m-%d %H:%M:%S} UTC")


def _wide(board: Board) -> Table:
    """A column for each thing that any row has."""
    cells = [list(_cells(row, board.at)) for row in board.rows]
    used = [place for place, name in enumerate(_COLUMNS) if any(one[place].plain for one in cells)]
    table = _table(*(_COLUMNS[place] for place in used))
    for one in cells:
        table.add_row(*(one[place] for place in used))
    return table


_COLUMNS = ("", "kind", "title", "stage", "for", "held by", "waits for", "tries", "cost", "CI", "commands")


def _cells(row: Row, at: datetime) -> Iterator[Text]:
    yield Text(f"#{row.number}")
    yield Text(KIND[row.track])
    yield Text(plain(row.title))
    yield _stage(row)
    yield Text(ago(at - row.moved_at))
    yield Text(held(row, at))
    yield _waits(row, at)
    yield Text(tries(row))
    yield Text(cost(row))
    yield Text("") if row.ci is None else Text(row.ci, style=_CI.get(row.ci, ""))
    yield Text(" ".join(f"/{verb}" for verb in row.commands), style="dim")


def _narrow(board: Board) -> Table:
    table = _table("", "title", "stage", "held by, or waits for")
    for row in board.rows:
        what = Text.assemble(plain(row.title), *((f"\n{line}", "dim") for line in _details(row)))
        since = Text(f"\nfor {ago(board.at - row.moved_at)}", style="dim")
        who, waiting = held(row, board.at), _waits(row, board.at)
        both = Text("\n").join([Text(who)] * bool(who) + [waiting] * bool(waiting))
        table.add_row(Text(f"#{row.number}"), what, _stage(row) + since, both)
    return table


def _details(row: Row) -> Iterator[str]:
    figures = [
        KIND[row.track],
        f"try {row.attempts[0]} of {row.attempts[1]}" if row.attempts and row.attempts[0] else "",
        f"round {row.round}" if row.round else "",
        cost(row),
        f"CI {row.ci}" if row.ci is not None else "",
    ]
    yield ", ".join(filter(None, figures))
    if row.commands:
        yield " ".join(f"/{verb}" for verb in row.commands)


def _table(*names: str) -> Table:
    table = Table(expand=False, box=None, pad_edge=False, header_style="dim")
    for name in names:
        table.add_column(name, no_wrap=name in {"", "kind", "stage", "for", "tries", "CI"}, overflow="fold")
    return table


def _stage(row: Row) -> Text:
    """With the flags beneath it."""
    style = "red" if row.stage in HALTED else "cyan" if row.holder else ""
    return Text.assemble((str(row.stage), style), *((f"\n{flag}", "red") for flag in row.flags))


def _waits(row: Row, at: datetime) -> Text:
    """In bold what a person has to do."""
    return Text(waits(row, at), style="bold" if row.needs_a_person else "")


@dataclass
class View:
    """The boards on a whole screen: ages go on between two looks, and what does not fit is said."""

    boot: Callable[[], float]
    boards: Sequence[Board] = ()
    looked: float = 0.0
    beneath: Callable[[], Iterable[str]] = tuple
    """Lines that stand below the boards."""

    def show(self, boards: Sequence[Board]) -> None:
        """What was read just now."""
        self.boards, self.looked = boards, self.boot()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        passed = timedelta(seconds=self.boot() - self.looked)
        now = [replace(board, at=board.at + passed) for board in self.boards]
        parts: list[RenderableType] = [shown(board, options.max_width) for board in now] or [Text("Looking ...")]
        parts += [Text(plain(line)) for line in self.beneath()]
        height = console.size.height
        lines = console.render_lines(Group(*parts, Text("Ctrl-C ends.", style="dim")), options.update(height=None))
        if len(lines) > height:
            hidden = len(lines) - height + 1
            more = Text(f"{hidden} lines more: make the window taller, or name one repository.", style="dim")
            lines = [*lines[: height - 1], *console.render_lines(more, options.update(height=None))]
        for line in lines:
            yield from line
            yield Segment.line()
