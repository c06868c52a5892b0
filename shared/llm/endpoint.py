"""Where a backend's CLI sends its requests during one call, and with which token: never the real key of a proxy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from shared.llm.port import Request


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`base_url` without a final slash and without `/v1`; None means the vendor's own.

    `login` says that `token` is the token of a subscription and not an API key, and `file` is where the
    program keeps that login, of which each call gets a copy. `socket` is a unix socket that answers as
    `base_url` does, where there is one. `tools` are those of the vendor that are let through and metered.
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
        """The endpoint of one call; leaving the block ends what it accepts."""
        ...


class Fixed:
    """The same endpoint for every call: a person's own key or login, without a proxy in between."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._given: set[str] = set()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        """It."""
        self._given.add(request.run)
        yield self._endpoint

    def given(self, run: str) -> bool:
        """Whether the run was given it, and forget that: for one that was not, no program was started."""
        known = run in self._given
        self._given.discard(run)
        return known
