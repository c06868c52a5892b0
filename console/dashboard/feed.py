"""Content of the page: boards and newest events; read again only if a page asks for them and they are old."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio

from console.status.gather import Look, again, first
from console.status.row import Board
from shared.errors import EngineError
from shared.telemetry.events import Event

EVENTS = 60
"""Newest events that the page shows."""


@dataclass(frozen=True, slots=True)
class Shown:
    """`events` are newest first; `trouble` says why they could not be read, else it is empty."""

    boards: tuple[Board, ...]
    events: tuple[Event, ...] = ()
    trouble: str = ""


class Feed:
    """Cache of the newest boards and events. Requests during a read get the result of that read."""

    def __init__(
        self,
        looks: Sequence[Look],
        events: Callable[[], Awaitable[Sequence[Event]]],
        boot: Callable[[], float],
        interval: float,
    ) -> None:
        """`events` gives those that came since it was asked last, oldest first; `interval` is in seconds."""
        self._looks, self._new_events, self._boot, self._interval = looks, events, boot, interval
        self._recent: deque[Event] = deque(maxlen=EVENTS)
        self._shown: Shown | None = None
        self._looked = 0.0
        self._one = anyio.Lock()
        self.news = anyio.Event()
        """Set when what is shown is known to be out of date before its interval is over."""

    def outdate(self) -> None:
        """Mark the content as out of date, after a change: the next request reads it again."""
        self._looked = self._boot() - self._interval
        news, self.news = self.news, anyio.Event()
        news.set()

    async def newest(self) -> Shown:
        """At most `interval` old. What cannot be read again stays as it was, with the reason.

        Raises what the first look raises, because there is nothing to show yet.
        """
        async with self._one:
            if self._shown is None or self._boot() - self._looked >= self._interval:
                self._shown = await self._read(self._shown)
                self._looked = self._boot()
            return self._shown

    async def _read(self, before: Shown | None) -> Shown:
        if before is None:
            boards = await first(self._looks)
        else:
            pairs = zip(self._looks, before.boards, strict=True)
            boards = [await again(look, board) for look, board in pairs]
        try:
            self._recent.extend(await self._new_events())
        except EngineError as error:
            return Shown(tuple(boards), tuple(reversed(self._recent)), str(error))
        return Shown(tuple(boards), tuple(reversed(self._recent)))
