"""What people do between two requests of somebody else: deeds that happen right before one of them is carried out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Handler

Interlude = Callable[[str, str], Awaitable[None]]
"""Is told method and path of the request that comes next, git's too, and may do anything to the world before it."""


class InterleavedActions:
    """All of them, in the order in which they were planned."""

    def __init__(self) -> None:
        self._planned: list[Interlude] = []

    def plan(self, interlude: Interlude) -> None:
        """Ask `interlude` before every request from now on."""
        self._planned.append(interlude)

    @web.middleware
    async def play(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """To be placed around everything that is served."""
        for interlude in self._planned:
            await interlude(request.method, request.path)
        return await handler(request)
