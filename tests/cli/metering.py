"""A backend behind the model proxy, at which every request has the same price."""

from __future__ import annotations

from cli.coding import Desk
from shared.llm import coder
from shared.llm.backend import Program, Setup
from shared.llm.port import Coder
from shared.llm.prices import Price, Prices, Tokens
from shared.llm.proxy.metered_coder import MeteredCoder
from shared.llm.proxy.server import ModelProxy
from shared.llm.proxy.vendors import Upstream, Vendor
from shared.loop.real_clock import RealClock
from shared.sandbox.wrap import Isolation

KEY = "sk-c4n4ry-the-real-key-0123456789"


class OnePrice(Prices):
    """Every request costs $3, whatever the model; the CLI's own reckoning stays far below that."""

    def __init__(self) -> None:
        super().__init__({"any": Price(input=0, output=0, cached=0, written=0)})

    def knows(self, model: str) -> bool:
        return True

    def cost(self, tokens: Tokens) -> float | None:
        return 3.0 if tokens.prompt else 0.0


def metered(desk: Desk) -> tuple[Coder, ModelProxy]:
    """Return the backend of a desk, behind a proxy that has the key, and the proxy."""
    vendor = {"claude": Vendor.ANTHROPIC, "codex": Vendor.OPENAI}[desk.backend]
    sockets = desk.root / ("long" * 30) if desk.wrap.kind is Isolation.SANDBOX else None
    proxy = ModelProxy([Upstream(vendor, desk.server.url, KEY)], OnePrice(), RealClock(), sockets)
    program = Program(desk.executable.resolve(), desk.launcher(), proxy)
    return MeteredCoder(coder(desk.backend, Setup(RealClock(), program=program)), proxy), proxy
