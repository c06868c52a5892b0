"""The page over HTTP, for browsers on this machine alone: no other site can use it, and orders need the token.

Each open page is sent what changed, while somebody looks; without readers nothing is asked.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files

import anyio
from aiohttp import ClientConnectionResetError, web
from aiohttp.typedefs import Handler, Middleware

from console.dashboard.order_endpoint import OrderEndpoint
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured
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


HOST = "127.0.0.1"

GOODBYE_SECONDS = 1.0

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_FILES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}

Answer = Callable[[], Awaitable[str]]


class Site:
    """Requests of the page and their answers. `page` and `status` raise `EngineError` while nothing can be shown."""

    def __init__(self, page: Answer, status: Answer, live: Live, orders: OrderEndpoint) -> None:
        self._page, self._status, self._live, self._desk = page, status, live, orders

    @asynccontextmanager
    async def served(self, port: int) -> AsyncIterator[str]:
        """Answer while the block runs; gives the address. Port 0 takes any. Raises `Misconfigured`."""
        with _listener(port) as listening:
            bound = int(listening.getsockname()[1])
            runner = web.AppRunner(self._application(bound), access_log=None, shutdown_timeout=GOODBYE_SECONDS)
            await runner.setup()
            try:
                await web.SockSite(runner, listening).start()
                yield f"http://{HOST}:{bound}/"
            finally:
                with anyio.CancelScope(shield=True):
                    self._live.end()
                    await runner.cleanup()

    def _application(self, port: int) -> web.Application:
        own = {f"{name}:{port}" for name in (HOST, "localhost")}
        app = web.Application(middlewares=[_host_guard(own)], client_max_size=4096)
        app.on_response_prepare.append(_with_headers)
        app.router.add_get("/", _text_handler(self._page, "text/html"))
        app.router.add_get("/api/status", _text_handler(self._status, "application/json"))
        app.router.add_get("/live", self._live.stream)
        app.router.add_post("/api/orders", self._desk.take)
        for name, kind in _FILES.items():
            app.router.add_get(f"/{name}", _file_handler(name, kind))
        return app


def _text_handler(answer: Answer, kind: str) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        try:
            return web.Response(text=await answer(), content_type=kind, charset="utf-8")
        except EngineError as error:
            return web.Response(status=503, text=f"{error}\n", headers={"Retry-After": "10"})

    return handler


def _file_handler(name: str, kind: str) -> Handler:
    content = files(__package__).joinpath(name).read_bytes()

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(body=content, content_type=kind, charset="utf-8")

    return handler


def _host_guard(own: Iterable[str]) -> Middleware:
    """Refuse a request whose host is not one of our `own` names: other names may be pointed here by other sites."""
    names = frozenset(own)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.host not in names:
            return web.Response(status=421, text="This page is for browsers on this machine.\n")
        return await handler(request)

    return guard


async def _with_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)


def _listener(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Misconfigured(f"--port {port} is taken on {HOST}; name another one, or 0 for any.") from None
        raise Misconfigured(f"--port {port}: nothing can listen there: {error.strerror}.") from None
