"""The page over HTTP, for browsers on this machine alone: two addresses, read only, and no other site can use it."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.resources import files

import anyio
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from shared.errors import EngineError, Misconfigured

HOST = "127.0.0.1"

GOODBYE_SECONDS = 1.0

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

Page = Callable[[], Awaitable[bytes]]


@asynccontextmanager
async def served(page: Page, port: int) -> AsyncIterator[str]:
    """Answer while the block runs; gives the address. Port 0 takes any. Raises `Misconfigured`."""
    with _listener(port) as listening:
        bound = int(listening.getsockname()[1])
        runner = web.AppRunner(_application(page, bound), access_log=None, shutdown_timeout=GOODBYE_SECONDS)
        await runner.setup()
        try:
            await web.SockSite(runner, listening).start()
            yield f"http://{HOST}:{bound}/"
        finally:
            with anyio.CancelScope(shield=True):
                await runner.cleanup()


def _application(page: Page, port: int) -> web.Application:
    style = files(__package__).joinpath("page.css").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        try:
            return web.Response(body=await page(), content_type="text/html", charset="utf-8")
        except EngineError as error:
            return web.Response(status=503, text=f"{error}\n", headers={"Retry-After": "10"})

    async def styled(request: web.Request) -> web.Response:
        return web.Response(body=style, content_type="text/css", charset="utf-8")

    own = {f"{name}:{port}" for name in (HOST, "localhost")}
    app = web.Application(middlewares=[_guarded(own)])
    app.router.add_get("/", answer)
    app.router.add_get("/page.css", styled)
    return app


def _guarded(own: Iterable[str]) -> Middleware:
    """Only for who asks by one of its `own` names: a name that somebody else lets point here is none."""
    names = frozenset(own)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.host not in names:
            return web.Response(status=421, text="This page is for browsers on this machine.\n", headers=_HEADERS)
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(_HEADERS)
            raise
        response.headers.update(_HEADERS)
        return response

    return guard


def _listener(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Misconfigured(f"--port {port} is taken on {HOST}; name another one, or 0 for any.") from None
        raise Misconfigured(f"--port {port}: nothing can listen there: {error.strerror}.") from None
