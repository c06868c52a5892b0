"""The addresses at which the lab listens: 127.0.0.1, and if wanted a unix socket."""

from __future__ import annotations

import socket
from pathlib import Path

from aiohttp import web

_GOODBYE_SECONDS = 0.5
"""Seconds for open requests to end when the lab stops."""


class Host:
    """One application on one loopback port; the port is taken at once, requests are served from `start`.

    `url` is the root of everything served, without a final slash.
    """

    def __init__(self, port: int, unix_socket: Path | None) -> None:
        self._listener = socket.create_server(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._unix_socket = unix_socket
        self._runner: web.AppRunner | None = None

    async def start(self, app: web.Application) -> None:
        """Serve."""
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_GOODBYE_SECONDS)
        await self._runner.setup()
        await web.SockSite(self._runner, self._listener).start()
        if self._unix_socket is not None:
            await web.UnixSite(self._runner, str(self._unix_socket)).start()

    async def stop(self) -> None:
        """Serve no more and free the port."""
        if self._runner is not None:
            await self._runner.cleanup()
        self._listener.close()
