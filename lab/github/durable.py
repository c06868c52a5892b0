"""Writes the lab's world down before a change is answered: what was told is then on disk."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

_READS = frozenset({"GET", "HEAD"})


def keeping(save: Callable[[], None]) -> Middleware:
    """A middleware that calls `save` after every request that may have changed something."""

    @web.middleware
    async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        if request.method not in _READS:
            save()
        return response

    return keep
