"""The server and token that a backend's CLI uses during one call; with a proxy the token is never the real key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from shared.llm.port import Request


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`base_url` has no final slash and no `/v1`; None means the vendor's own.

    `login` is True if `token` belongs to a subscription and is no API key, and `file` is the path of the
    program's login file, of which each call gets a copy. `socket` is a unix socket that answers as
    `base_url` does, if there is one. `tools` are those of the vendor that are let through and metered.
    """

    base_url: str | None
    token: str = field(repr=False)
    login: bool = False
    socket: Path | None = None
    file: Path | None = None
    tools: frozenset[str] = frozenset()


class Endpoints(Protocol):
    """Gives each call its endpoint for as long as the call lasts."""

    def open(self, request: Request) -> AbstractAsyncContextManager[Endpoint]:
        """Yield the endpoint of one call; leaving the block invalidates it."""
        ...


class Fixed:
    """The same endpoint for every call: a person's own key or login, without a proxy in between."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._handed_out: set[str] = set()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        """Yield the endpoint, and remember that the run got it."""
        self._handed_out.add(request.run)
        yield self._endpoint

    def was_handed_out(self, run: str) -> bool:
        """Return whether the run got the endpoint: a run without it has started no program."""
        return run in self._handed_out

    def forget(self, run: str) -> None:
        """Forget whether the run got the endpoint."""
        self._handed_out.discard(run)
