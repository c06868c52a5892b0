"""The lab's own doors, which GitHub does not have: planning faults over HTTP."""

from __future__ import annotations

import hmac

from aiohttp import web

from lab.faults import Faults, read_fault, show_fault

PATH = "/_lab/faults"


class Admin:
    """Lets the holder of the lab's own token plan faults and see which have not happened."""

    def __init__(self, faults: Faults, token: str) -> None:
        self._faults = faults
        self._token = token

    def routes(self) -> list[web.RouteDef]:
        """To be added to the application's router."""
        return [
            web.get(PATH, self._unused),
            web.post(PATH, self._plan),
            web.delete(PATH, self._clear),
        ]

    async def _unused(self, request: web.Request) -> web.Response:
        self._check(request)
        return web.json_response([show_fault(fault) for fault in self._faults.unused])

    async def _plan(self, request: web.Request) -> web.Response:
        """One fault as a JSON object; its keys are those of `Fault`."""
        self._check(request)
        try:
            fault = self._faults.plan(read_fault(await request.read()))
        except ValueError as error:
            return web.json_response({"message": str(error)}, status=422)
        return web.json_response(show_fault(fault), status=201)

    async def _clear(self, request: web.Request) -> web.Response:
        self._check(request)
        self._faults.clear()
        return web.Response(status=204)

    def _check(self, request: web.Request) -> None:
        given = request.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            raise web.HTTPUnauthorized(text="The lab's own token is needed.")
