"""A coder of which only so many runs go on at once in one process, however many items it holds."""

from __future__ import annotations

import anyio

from shared.llm.port import Coder, Request, RunOutcome


class ConcurrencyLimit:
    """Another coder behind a limiter: an item that is woken while the slots are taken waits its turn."""

    def __init__(self, coder: Coder, limiter: anyio.CapacityLimiter) -> None:
        self._coder = coder
        self._limiter = limiter

    @property
    def name(self) -> str:
        """The configured word."""
        return self._coder.name

    async def run(self, request: Request) -> RunOutcome:
        """Make one call as soon as there is room."""
        async with self._limiter:
            return await self._coder.run(request)
