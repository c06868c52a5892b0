"""The proxy of each run: a listener on loopback with a token of its own, which exists as long as the run."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import anyio
import structlog

from shared.clock import Clock
from shared.llm.endpoint import Endpoint
from shared.llm.port import Request
from shared.llm.prices import Prices
from shared.llm.proxy.api_protocols import Upstream
from shared.llm.proxy.run_meter import RunMeter
from shared.llm.proxy.vendor_tools import VendorTool

if TYPE_CHECKING:
    from aiohttp import web

log = structlog.get_logger()

CONNECT_SECONDS = 30.0

GOODBYE_SECONDS = 1.0
"""Seconds for requests in progress to end when their run has ended."""

IDLE_SECONDS = 300.0
"""Seconds that a connection may be kept open after a request."""

BACKLOG = 16
"""Connections that the kernel keeps waiting, and that are accepted at a time."""

LINE_BYTES = 8190
"""Bytes of one line of a request's head."""

MOST_HEADERS = 64
"""Headers of one request: with `LINE_BYTES` they limit its head to half a MiB."""

MOST_CONNECTIONS = 32
"""Connections to the proxy of one run; a coding CLI has a handful."""

FIRST_SECONDS = 20.0
"""Seconds that a connection may be open before it has shown the run's token."""


class ModelProxy:
    """Gives each run an endpoint of its own; satisfies `shared.llm.endpoint.Endpoints`.

    With `sockets`, a directory, each run's proxy listens on a unix socket there as well, for a
    sandbox that has no network. The vendor's tools are refused unless they are in `tools`.
    """

    def __init__(
        self,
        upstreams: Iterable[Upstream],
        prices: Prices,
        clock: Clock,
        sockets: Path | None = None,
        tools: frozenset[VendorTool] = frozenset(),
    ) -> None:
        self._upstreams = {upstream.protocol: upstream for upstream in upstreams}
        self._prices = prices
        self._clock = clock
        self._sockets = sockets
        self._tools = tools

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        """Yield the endpoint of one run; leaving the block invalidates it and ends requests in progress."""
        from shared.llm.proxy.relay import Relay  # a server is more than an agent without a run should load

        run_meter = RunMeter(self._prices, request.limits.budget_usd)
        token = f"run-{secrets.token_hex(16)}"
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
        session = aiohttp.ClientSession(timeout=timeout, auto_decompress=False)
        limit = ConnectionLimit()
        relay = Relay(self._upstreams, run_meter, session, self._clock, limit.known, token, request.model, self._tools)
        try:
            async with _serve(relay.application(), limit, self._socket()) as (url, path):
                yield Endpoint(url, token, socket=path, tools=self._tools, measured=lambda: run_meter.measurement)
        finally:
            with anyio.CancelScope(shield=True):
                await session.close()
            measured = run_meter.measurement
            log.info(
                "run_metered",
                requests=measured.requests,
                cost_usd=measured.usage.cost_usd,
                source=measured.usage.cost_source,
                refused=measured.refused,
            )

    def _socket(self) -> Path | None:
        if self._sockets is None:
            return None
        self._sockets.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._sockets / f"{secrets.token_hex(6)}.sock"


@asynccontextmanager
async def _serve(
    application: web.Application, limit: ConnectionLimit, path: Path | None
) -> AsyncIterator[tuple[str, Path | None]]:
    """Serve at a port of loopback, or, with a `path`, at that socket alone: then the port is only reserved."""
    from aiohttp import web

    runner = web.AppRunner(
        application,
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=GOODBYE_SECONDS,
        lingering_time=GOODBYE_SECONDS,
        keepalive_timeout=IDLE_SECONDS,
        max_line_size=LINE_BYTES,
        max_field_size=LINE_BYTES,
        max_headers=MOST_HEADERS,
    )
    with socket.socket(socket.AF_INET) as port:
        port.bind(("127.0.0.1", 0))
        await runner.setup()
        server = runner.server
        assert server is not None
        listener = port if path is None else _unix(path)
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(lambda: limit.protocol(server()), sock=listener, backlog=BACKLOG)
        try:
            yield f"http://127.0.0.1:{port.getsockname()[1]}", path
        finally:
            with anyio.CancelScope(shield=True):
                listening.close()
                await runner.cleanup()
            _remove_socket(path)


def _unix(path: Path) -> socket.socket:
    """Return a socket at `path`, this user's alone; a path may be longer than the kernel's limit of 107 characters."""
    listener = socket.socket(socket.AF_UNIX)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{directory}/{path.name}")
    except OSError:
        listener.close()
        raise
    finally:
        os.close(directory)
    path.chmod(0o600)
    return listener


def _remove_socket(path: Path | None) -> None:
    if path is not None:
        path.unlink(missing_ok=True)


class ConnectionLimit:
    """Counts connections. If there are too many, the oldest without the run's token is closed, or else the newest."""

    def __init__(self) -> None:
        self._open: dict[asyncio.BaseTransport, bool] = {}

    def protocol(self, inner: asyncio.Protocol) -> asyncio.Protocol:
        """Return a protocol that serves one connection as `inner` does, and counts it."""
        return _Counted(inner, self)

    def known(self, transport: asyncio.BaseTransport | None) -> None:
        """Note that a request on this connection had the run's token."""
        if transport in self._open:
            self._open[transport] = True

    def enter(self, transport: asyncio.BaseTransport) -> None:
        """Count a new connection; if there are too many, close it or an older one."""
        if len(self._open) >= MOST_CONNECTIONS:
            oldest = next((one for one, is_known in self._open.items() if not is_known), transport)
            self._open.pop(oldest, None)
            _abort(oldest)
            if oldest is transport:
                return
        self._open[transport] = False
        asyncio.get_running_loop().call_later(FIRST_SECONDS, self._late, transport)

    def leave(self, transport: asyncio.BaseTransport) -> None:
        """Forget a connection that is over."""
        self._open.pop(transport, None)

    def _late(self, transport: asyncio.BaseTransport) -> None:
        if self._open.get(transport) is False:
            _abort(transport)


class _Counted(asyncio.Protocol):
    """Passes everything on to the protocol that does the work."""

    def __init__(self, inner: asyncio.Protocol, limit: ConnectionLimit) -> None:
        self._inner = inner
        self._limit = limit
        self._transport: asyncio.BaseTransport | None = None

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._inner.connection_made(transport)
        self._limit.enter(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._limit.leave(self._transport)
        self._inner.connection_lost(exc)


def _abort(transport: asyncio.BaseTransport) -> None:
    with suppress(OSError):
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
        else:
            transport.close()
