"""The server and token that a backend's CLI uses during one call; with a proxy the token is never the real key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from shared.llm.measured_run import MeasuredRun
from shared.llm.port import Request, Usage


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`base_url` has no final slash and no `/v1`; None means the vendor's own.

    `login` is True if `token` belongs to a subscription and is no API key, and `file` is the path of the
    program's login file, of which each call gets a copy. `socket` is a unix socket that answers as
    `base_url` does, if there is one. `tools` are those of the vendor that are let through and metered.
    `measured` returns the proxy's measurement of the call, during or after it; None without a proxy.
    """

    base_url: str | None
    token: str = field(repr=False)
    login: bool = False
    socket: Path | None = None
    file: Path | None = None
    tools: frozenset[str] = frozenset()
    measured: Callable[[], MeasuredRun] | None = field(default=None, repr=False, compare=False)


class Endpoints(Protocol):
    """Gives each call its endpoint for as long as the call lasts."""

    def open(self, request: Request) -> AbstractAsyncContextManager[Endpoint]:
        """Yield the endpoint of one call and set its `usage_so_far`; leaving the block invalidates the endpoint."""
        ...


class Fixed:
    """The same endpoint for every call: a person's own key or login, without a proxy in between."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        """Yield the endpoint; from now on the usage of the call is unknown until its program tells it."""
        request.usage_so_far.read = Usage
        yield self._endpoint
