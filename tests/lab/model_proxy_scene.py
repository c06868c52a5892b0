"""The model proxy before a scripted vendor, as its tests use it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from shared.llm.endpoint import Endpoint, MeasuredRun
from shared.llm.port import CoderCall, Request, RunLimits, Usage
from shared.llm.prices import Price, Prices
from shared.llm.proxy.api_protocols import ApiProtocol, Upstream
from shared.llm.proxy.server import ModelProxy
from shared.llm.proxy.vendor_tools import VendorTool
from shared.loop.real_clock import RealClock

KEY = "sk-ant-c4n4ry-0123456789"

PRICES = Prices({"m": Price(input=1000, output=10_000, cached=100, written=1250)})
"""One request of the script costs 1 + 0.03 + 0.25 + 0.5 = $1.78, at OpenAI 0.7 + 0.03 + 0.5 = $1.23."""

MESSAGES = {"model": "m", "stream": True, "max_tokens": 50, "messages": [{"role": "user", "content": "Go."}]}

RESPONSES = {"model": "m", "stream": True, "max_output_tokens": 50, "input": [{"role": "user", "content": "Go."}]}


@dataclass
class Client:
    """A client of the model proxy, which uses its endpoint as a CLI does."""

    endpoint: Endpoint
    session: aiohttp.ClientSession

    async def post(self, path: str, body: Mapping[str, Any], **headers: str) -> tuple[int, bytes]:
        """Send a request; return status and content. The token is in Anthropic's header, unless others are given."""
        sent = headers or {"x-api-key": self.endpoint.token}
        async with self.session.post(f"{self.endpoint.base_url}{path}", json=body, headers=sent) as answer:
            return answer.status, await answer.read()


@dataclass
class Desk:
    """A proxy before one server."""

    url: str
    sockets: Path | None = None
    tools: frozenset[VendorTool] = frozenset()
    proxy: ModelProxy = field(init=False)
    _opened: dict[str, Endpoint] = field(default_factory=dict)

    def __post_init__(self) -> None:
        upstreams = [Upstream(protocol, self.url, KEY) for protocol in ApiProtocol]
        self.proxy = ModelProxy(upstreams, PRICES, RealClock(), self.sockets, self.tools)

    @asynccontextmanager
    async def run(self, *, run: str = "r1", budget: float = 5.0) -> AsyncIterator[Client]:
        """Open one run, and yield its client."""
        request = Request(
            CoderCall.IMPLEMENT, "#1", "t", "developer", "p", limits=RunLimits(budget_usd=budget), run=run
        )
        async with self.proxy.open(request) as endpoint, aiohttp.ClientSession() as session:
            self._opened[run] = endpoint
            yield Client(endpoint, session)

    def read(self, run: str = "r1") -> MeasuredRun:
        """Return the proxy's measurement of a run."""
        measured = self._opened[run].measured
        assert measured is not None
        return measured()

    def read_usage(self, run: str = "r1") -> Usage:
        """Return the usage of a run as whoever settles it after a cancellation reads it."""
        return self._opened[run].usage()


@asynccontextmanager
async def vendor(handler: Any) -> AsyncIterator[Desk]:
    """Yield a desk before a server of one handler."""
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{tail:.*}", handler)
    async with TestServer(app) as running:
        yield Desk(str(running.make_url("")).rstrip("/"))


def cut(text: bytes, before: bytes) -> Callable[[web.Request], Any]:
    async def write(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(text.partition(before)[0])
        assert request.transport is not None
        request.transport.abort()
        return response

    return write


async def tried(client: Client, path: str, body: dict[str, Any]) -> None:
    with suppress(aiohttp.ClientError):
        await client.post(path, body)
