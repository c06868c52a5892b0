"""Runs `workflow-engine status`: one look, or one after the other until somebody stops it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from rich.console import Console
from rich.live import Live

from config.loading import load
from config.settings import Settings
from console.history.repository_reader import OpenRepository, visited
from console.status.document import document
from console.status.gather import Looking
from console.status.look import Look, Unread, again, first
from console.status.machine import Machine, machine
from console.status.machine import told as lines
from console.status.phrases import plain
from console.status.row import Board
from console.status.table import View, shown
from runtime.building.sign_in import completed
from runtime.launch import OK, complain
from runtime.signals import Orders, attend
from shared.clock import Clock
from shared.errors import EngineError
from shared.governance.budgets import Limits

PIPED_COLUMNS = 160
"""How wide a table is that no terminal shows."""


@dataclass(frozen=True, slots=True)
class StatusOptions:
    """What was asked for; `interval` is in seconds, None for a single look."""

    repository: str | None = None
    config: Path | None = None
    json: bool = False
    interval: float | None = None


def told(wishes: StatusOptions, environment: Mapping[str, str], clock: Clock) -> int:
    """Print the board; 0, or 1 when GitHub did not answer, 2 for configuration, 4 for rights, 128+n for a signal."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_COLUMNS)
    try:
        settings = load(wishes.config, repository=wishes.repository, environment=environment)
        return anyio.run(_told, wishes, settings, completed(settings, environment), clock, console)
    except EngineError as error:
        return complain(error)


async def _told(
    wishes: StatusOptions, settings: Settings, environment: Mapping[str, str], clock: Clock, console: Console
) -> int:
    orders = Orders()
    code = OK
    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        group.start_soon(partial(attend, orders, scope, clock, daemon=False))
        with scope:
            try:
                await _look(wishes, settings, environment, clock, console)
            except EngineError as error:  # before the group wraps it
                code = complain(error)
                _tell(console, machine(settings.state_dir))  # for that nobody else is needed
            except BrokenPipeError:  # as when the reader is `head`
                sys.stderr.close()
        group.cancel_scope.cancel()
    return 128 + orders.stopped_by if orders.stopped_by else code


async def _look(
    wishes: StatusOptions, settings: Settings, environment: Mapping[str, str], clock: Clock, console: Console
) -> None:
    here = partial(machine, settings.state_dir)
    async with visited(settings, environment, clock) as (opened, unusable):
        looks: list[Look] = [looking(settings, visit) for visit in opened]
        boards = await first(looks)
        for name, error in unusable.items():
            boards.append(Board(name, boards[0].at, complaint=str(error)))
            looks.append(Unread(boards[-1]))
        if wishes.interval is None or wishes.json or not console.is_terminal:

            def show(boards: Sequence[Board]) -> None:
                _print(console, boards, here(), json=wishes.json)

            show(boards)
            if wishes.interval is not None:
                await follow(looks, boards, clock, wishes.interval, show)
            return
        view = View(clock.boot, beneath=lambda: lines(here()))
        view.show(boards)
        with Live(view, console=console, screen=True, refresh_per_second=1):
            await follow(looks, boards, clock, wishes.interval, view.show)


def looking(settings: Settings, visit: OpenRepository, *, titled: bool = False) -> Looking:
    """One opened repository as the configuration has it looked at; `titled` reads titles of merged issues."""
    own = settings.budgets
    limits = Limits(own.issue, own.day, own.week, own.warn, own.unknown_run)
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
