"""A backend behind the model proxy, at which every request has the same price."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cli.coding import Desk
from shared.llm import coder
from shared.llm.backend import Program, Setup
from shared.llm.endpoint import Endpoint, MeasuredRun
from shared.llm.port import Coder, Request
from shared.llm.prices import Price, Prices, Tokens
from shared.llm.proxy.api_protocols import ApiProtocol, Upstream
from shared.llm.proxy.server import ModelProxy
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Isolation

KEY = "sk-c4n4ry-the-real-key-0123456789"


class OnePrice(Prices):
    """Every request costs $3, whatever the model; the CLI's own reckoning stays far below that."""

    def __init__(self) -> None:
        super().__init__({"any": Price(input=0, output=0, cached=0, written=0)})

    def knows(self, model: str) -> bool:
        return True

    def cost(self, tokens: Tokens) -> float | None:
        return 3.0 if tokens.prompt else 0.0


class WatchedProxy(ModelProxy):
    """A proxy whose endpoints are kept: each says what was measured of its run."""

    def __init__(self, upstream: Upstream, sockets: Path | None) -> None:
        super().__init__([upstream], OnePrice(), RealClock(), sockets)
        self.opened: dict[str, Endpoint] = {}

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        async with super().open(request) as endpoint:
            self.opened[request.run] = endpoint
            yield endpoint

    def measurement(self, run: str) -> MeasuredRun:
        """Return the measurement of a run."""
        measured = self.opened[run].measured
        assert measured is not None
        return measured()


def metered(desk: Desk) -> tuple[Coder, WatchedProxy]:
    """Return the backend of a desk, behind a proxy that has the key, and the proxy."""
    protocol = {"claude": ApiProtocol.ANTHROPIC, "codex": ApiProtocol.OPENAI}[desk.backend]
    sockets = desk.root / ("long" * 30) if desk.wrap.kind is Isolation.SANDBOX else None
    proxy = WatchedProxy(Upstream(protocol, desk.server.url, KEY), sockets)
    program = Program(desk.executable.resolve(), desk.launcher(), proxy)
    return coder(desk.backend, Setup(RealClock(), program=program)), proxy
