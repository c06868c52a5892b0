"""Runs `workflow-engine status`: one look, or one after the other until somebody stops it.

The board for people: a table that fits the terminal, and the view that follows it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import anyio
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from config.loading import load
from config.settings import Settings
from console.history.repository_reader import OpenRepository, visited
from console.printer import Printer
from console.status.document import document
from console.status.gather import Look, Looking, Unread, again, first
from console.status.machine import Machine, lines, machine
from console.status.phrases import KIND, ago, cost, held, plain, tries, waits
from console.status.row import Board, ItemRow
from runtime.building.sign_in import with_gh_token
from runtime.exit_codes import OK, complain
from runtime.signals import until_stopped
from shared.budget.budgets import BudgetLimits
from shared.ci.verdict import CiVerdict
from shared.clock import Clock
from shared.errors import EngineError
from shared.workflow import HALTED

PIPED_COLUMNS = 160
"""Columns of a table whose output is no terminal."""


@dataclass(frozen=True, slots=True)
class StatusOptions:
    """Options of `status`; `interval` is in seconds, None for a single look."""

    repository: str | None = None
    config: Path | None = None
    json: bool = False
    interval: float | None = None


def print_board(options: StatusOptions, environment: Mapping[str, str], clock: Clock) -> int:
    """Print the board; 0, or 1 when GitHub did not answer, 2 for configuration, 4 for rights, 128+n for a signal."""
    console = Printer(highlight=False, width=None if sys.stdout.isatty() else PIPED_COLUMNS)
    try:
        settings = load(options.config, repository=options.repository, environment=environment)
        return anyio.run(_print_board, options, settings, with_gh_token(settings, environment), clock, console)
    except EngineError as error:
        return complain(error)


async def _print_board(
    options: StatusOptions, settings: Settings, environment: Mapping[str, str], clock: Clock, console: Console
) -> int:
    async def look() -> int:
        try:
            await _look(options, settings, environment, clock, console)
        except BrokenPipeError:  # as when the reader is `head`
            sys.stderr.close()
        return OK

    def failed(error: EngineError) -> int:
        code = complain(error)
        _tell(console, machine(settings.state_dir))  # for that nobody else is needed
        return code

    code, stopped_by = await until_stopped(look, failed, clock)
    return 128 + stopped_by if stopped_by else code or OK


async def _look(
    options: StatusOptions, settings: Settings, environment: Mapping[str, str], clock: Clock, console: Console
) -> None:
    here = partial(machine, settings.state_dir)
    async with visited(settings, environment, clock) as (opened, unusable):
        looks: list[Look] = [looking(settings, visit) for visit in opened]
        boards = await first(looks)
        for name, error in unusable.items():
            boards.append(Board(name, boards[0].at, complaint=str(error)))
            looks.append(Unread(boards[-1]))
        if options.interval is None or options.json or not console.is_terminal:

            def show(boards: Sequence[Board]) -> None:
                _print(console, boards, here(), json=options.json)

            show(boards)
            if options.interval is not None:
                await follow(looks, boards, clock, options.interval, show)
            return
        view = BoardView(clock.boot, beneath=lambda: lines(here()))
        view.show(boards)
        with Live(view, console=console, screen=True, refresh_per_second=1):
            await follow(looks, boards, clock, options.interval, view.show)


def looking(settings: Settings, visit: OpenRepository, *, titled: bool = False) -> Looking:
    """One opened repository as the configuration has it looked at; `titled` reads titles of merged issues."""
    own = settings.budgets
    limits = BudgetLimits(own.issue, own.day, own.week, own.warn, own.unknown_run)
    return Looking(visit, timeout=settings.lock.timeout, limits=limits, titled=titled)


async def follow(
    looks: Sequence[Look],
    boards: Sequence[Board],
    clock: Clock,
    interval: float,
    show: Callable[[Sequence[Board]], None],
) -> None:
    """Look again for ever; what cannot be read just now stays as it was, with the reason."""
    while True:
        await clock.sleep(interval)
        boards = [await again(look, board) for look, board in zip(looks, boards, strict=True)]
        show(boards)


def _print(console: Console, boards: Sequence[Board], here: Machine, *, json: bool) -> None:
    if json:
        sys.stdout.write(f"{document(boards, here)}\n")
        sys.stdout.flush()
        return
    for board in boards:
        console.print(shown(board, console.width))
    _tell(console, here)


def _tell(console: Console, here: Machine) -> None:
    for line in lines(here):
        console.print(plain(line), markup=False, soft_wrap=True)


WIDE = 130
"""Columns from which on every value has a column of its own; below, figures stand in a line under the title."""

_CI = {CiVerdict.GREEN: "green", CiVerdict.RED: "red", CiVerdict.RUNNING: "yellow"}


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


def _cells(row: ItemRow, at: datetime) -> Iterator[Text]:
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


def _details(row: ItemRow) -> Iterator[str]:
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


def _stage(row: ItemRow) -> Text:
    """Return the stage, with the flags beneath it."""
    style = "red" if row.stage in HALTED else "cyan" if row.holder else ""
    return Text.assemble((str(row.stage), style), *((f"\n{flag}", "red") for flag in row.flags))


def _waits(row: ItemRow, at: datetime) -> Text:
    """In bold what a person has to do."""
    return Text(waits(row, at), style="bold" if row.needs_a_person else "")


@dataclass
class BoardView:
    """The boards on a whole screen: ages go on between two looks, and what does not fit is said."""

    boot: Callable[[], float]
    boards: Sequence[Board] = ()
    looked: float = 0.0
    beneath: Callable[[], Iterable[str]] = tuple
    """Lines that stand below the boards."""

    def show(self, boards: Sequence[Board]) -> None:
        """Show newly read boards."""
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
