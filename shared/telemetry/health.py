"""The endpoints `/metrics`, `/healthz` and `/readyz` of one process, over HTTP, on loopback by default."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import structlog
from aiohttp import web

from shared.errors import Misconfigured
from shared.telemetry.events import EventLog
from shared.telemetry.fold import Tallies
from shared.telemetry.health_state import HealthState
from shared.workflow import Role

log = structlog.get_logger()

PORTS = 32
"""Ports that are tried, from the configured one on: several agents of one machine are found in one range."""

GOODBYE_SECONDS = 1.0


class Health:
    """The health endpoints of a process; they show figures and sentences, no content of any issue."""

    def __init__(self, agent: str, role: Role, tallies: Tallies, health: HealthState, event_log: EventLog) -> None:
        self._about = agent, role, tallies, health, event_log
        self._health = health

    @asynccontextmanager
    async def served(self, host: str, port: int) -> AsyncIterator[int]:
        """Serve while the block runs; yields the port. Raises `Misconfigured` if nothing can listen."""
        app = web.Application()
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/healthz", _answer_with(self._health.stuck, "alive", self._aside))
        app.router.add_get("/readyz", _answer_with(self._health.unready, "ready", self._aside))
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=GOODBYE_SECONDS)
        with listener(host, port) as listening:
            await runner.setup()
            try:
                await web.SockSite(runner, listening).start()
                bound = int(listening.getsockname()[1])
                log.info("health_served", host=host, port=bound)
                yield bound
            finally:
                with anyio.CancelScope(shield=True):
                    await runner.cleanup()

    def _aside(self) -> str:
        """Return a line for each repository that cannot be used: no reason to restart the process."""
        return "".join(f"{name} is set aside: {reason}\n" for name, reason in self._health.aside.items())

    async def _metrics(self, request: web.Request) -> web.Response:
        from shared.telemetry.metrics import CONTENT_TYPE, Figures  # when somebody asks: an idle agent is small

        return web.Response(body=Figures(*self._about).text(), headers={"Content-Type": CONTENT_TYPE})


def listener(host: str, port: int) -> socket.socket:
    """Return a socket on the first free port from `port` on, else on any; raise `Misconfigured` on other errors."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in (*range(port, min(port + PORTS, 2**16)), 0):
        try:
            return socket.create_server((host, wanted), family=family)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                reason = error.strerror
                raise Misconfigured(f"health: nothing can listen at {host} port {wanted}: {reason}.") from None
    raise Misconfigured(f"health: no port is free at {host}.")


def _answer_with(
    unwell: Callable[[], str], well: str, more: Callable[[], str]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        reason = unwell()
        return web.Response(text=f"{reason or well}\n{more()}", status=503 if reason else 200)

    return answer
