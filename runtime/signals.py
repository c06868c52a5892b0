"""The orders that signals give to a process: stop, stop at once, drain, read the configuration again."""

from __future__ import annotations

import contextvars
import os
import signal
import threading
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import structlog

from shared.clock import Clock
from shared.errors import EngineError
from shared.process import kill_all

log = structlog.get_logger()

STOP_SECONDS = 28.0
"""Maximum seconds of a stop in order; what is not released by then runs out, or its agent goes on with it."""

OVERDUE = 1
"""The exit code of a process that could not stop in order in time."""


class Orders:
    """The orders that this process was given so far."""

    def __init__(self) -> None:
        self.stopped_by = 0
        """The signal that ended it, or 0."""
        self.stopped_at = 0.0
        """Time (boot clock) of that signal."""
        self.draining = False
        self.on_drain: list[Callable[[], None]] = []
        self.on_reload: list[Callable[[], None]] = []
        self.on_stop: list[Callable[[], None]] = []

    def drain(self) -> None:
        """Begin nothing more, end what is in work at the end of its phase, then end."""
        if not self.draining:
            self.draining = True
            log.info("draining", next_step="it ends by itself when the phases in work have ended")
            _each(self.on_drain)

    def reload(self) -> None:
        """Read the configuration again."""
        _each(self.on_reload)

    def stop(self, number: int) -> None:
        """Stop in order: tell all that listen for a stop."""
        log.info("stopping", signal=number)
        self.stopped_by = number
        _each(self.on_stop)


def ignore_until_attended() -> None:
    """Ignore drain and reload, so that they do not kill a process that has just begun."""
    for number in (signal.SIGUSR1, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


async def attend(
    orders: Orders, scope: anyio.CancelScope, clock: Clock, *, daemon: bool, stop_seconds: float = STOP_SECONDS
) -> None:
    """Obey signals until cancelled: the first TERM or INT cancels `scope`, a second one ends the process at once.

    So does a stop that takes longer than `stop_seconds`. Child processes end with it in both cases.
    USR1 drains. HUP reloads a daemon, and stops what is no daemon: its terminal is gone.
    """
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP)
    with anyio.open_signal_receiver(*numbers) as received:
        async with anyio.create_task_group() as group:
            async for number in received:
                if number == signal.SIGUSR1:
                    orders.drain()
                elif number == signal.SIGHUP and daemon:
                    orders.reload()
                elif orders.stopped_by:
                    _end(128 + number)
                else:
                    orders.stopped_at = clock.boot()
                    orders.stop(int(number))
                    scope.cancel()
                    group.start_soon(_end_overdue, clock, stop_seconds)


async def until_stopped(
    work: Callable[[], Awaitable[int]], failed: Callable[[EngineError], int], clock: Clock
) -> tuple[int | None, int]:
    """Run `work`; the first signal stops it in order, a second one at once.

    Return its exit code, which `failed` makes of an error, or None if it was stopped; and the signal, 0 if none came.
    """
    orders = Orders()
    code: int | None = None
    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        group.start_soon(partial(attend, orders, scope, clock, daemon=False))
        with scope:
            try:
                code = await work()
            except EngineError as error:  # before the group wraps it
                code = failed(error)
        group.cancel_scope.cancel()
    return code, orders.stopped_by


async def _end_overdue(clock: Clock, seconds: float) -> None:
    await clock.sleep(seconds)
    _overdue(seconds)


def _overdue(seconds: float) -> None:
    log.error("stop_overdue", outcome="failed", seconds=seconds)
    _end(OVERDUE)


class ShutdownNotice:
    """The last part of a stop: its event loop has ended, and waits for threads, such as one that looks up a name."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def begin(self, orders: Orders, clock: Clock, stop_seconds: float) -> None:
        """Wait only for threads from now on, and not any more once the stop has taken `stop_seconds` in all."""
        if orders.stopped_by:
            left = stop_seconds - (clock.boot() - orders.stopped_at)
            work = contextvars.copy_context().run  # so that what it logs names the agent
            self._timer = threading.Timer(max(0.0, left), work, (_overdue, stop_seconds))
            self._timer.daemon = True
            self._timer.start()

    def over(self) -> None:
        """Stop waiting, because the threads have ended."""
        if self._timer is not None:
            self._timer.cancel()


def _end(code: int) -> None:
    """End without another word. Nobody is left then to end children, so they are killed first."""
    kill_all()
    os._exit(code)


def _each(listeners: list[Callable[[], None]]) -> None:
    for listener in tuple(listeners):
        listener()
