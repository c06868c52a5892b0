"""The limit on connections to one run's proxy: their number, whoever opens them, and the time to a first request."""

from __future__ import annotations

import asyncio
from contextlib import suppress

MOST_CONNECTIONS = 32
"""Connections to the proxy of one run; a coding CLI has a handful."""

FIRST_SECONDS = 20.0
"""Seconds that a connection may be open before it has shown the run's token."""


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

    def __init__(self, inner: asyncio.Protocol, door: ConnectionLimit) -> None:
        self._inner = inner
        self._door = door
        self._transport: asyncio.BaseTransport | None = None

    def data_received(self, data: bytes) -> None:
        """Pass received bytes on."""
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass on that the other side sends nothing more."""
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        """Pass on that the other side does not read."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the other side reads again."""
        self._inner.resume_writing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection when it opens."""
        self._transport = transport
        self._inner.connection_made(transport)
        self._door.enter(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection when it is over."""
        if self._transport is not None:
            self._door.leave(self._transport)
        self._inner.connection_lost(exc)


def _abort(transport: asyncio.BaseTransport) -> None:
    with suppress(OSError):
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
        else:
            transport.close()
