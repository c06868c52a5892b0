"""Server-sent events: each open page gets what changed, while somebody looks; without readers nothing is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
from aiohttp import ClientConnectionResetError, web

from shared.clock import Clock
from shared.errors import EngineError
from shared.loop.first_event import first_of

MOST_READERS = 20
"""Pages that may be open at once; a further one is told to try again."""


class Live:
    """The stream of one page. `newest` gives the time of the last look and the part of the page that changes."""

    def __init__(
        self,
        newest: Callable[[], Awaitable[tuple[str, str]]],
        news: Callable[[], anyio.Event],
        clock: Clock,
        interval: float,
    ) -> None:
        """`news` is set when there is something before `interval` seconds are over."""
        self._newest, self._news, self._clock, self._interval = newest, news, clock, interval
        self._readers = 0
        self._over = anyio.Event()

    def end(self) -> None:
        """Let every stream end."""
        self._over.set()

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Send what changes until the reader leaves."""
        if self._readers >= MOST_READERS:
            return web.Response(status=503, text="Too many pages are open.\n", headers={"Retry-After": "30"})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        self._readers += 1
        try:
            await self._send(response)
        except (ClientConnectionResetError, ConnectionError):  # the reader has left
            pass
        finally:
            self._readers -= 1
        return response

    async def _send(self, response: web.StreamResponse) -> None:
        before = ""
        while not self._over.is_set():
            news = self._news()
            try:
                at, html = await self._newest()
            except EngineError as error:
                await response.write(event("trouble", str(error)))
            else:
                if html != before:
                    await response.write(event("board", html))
                    before = html
                await response.write(event("looked", at))
            await self._wait(news)

    async def _wait(self, news: anyio.Event) -> None:
        due = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(partial(self._ring, due))
            await first_of(due, news, self._over)
            group.cancel_scope.cancel()

    async def _ring(self, due: anyio.Event) -> None:
        await self._clock.sleep(self._interval)
        due.set()


def event(name: str, text: str) -> bytes:
    """One event as it is sent: each line of its text is a line of data."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {name}\n{lines}\n".encode()
