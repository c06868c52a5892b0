"""The lab's own doors, which GitHub does not have: faults, the mood of the CI and the clock, over HTTP."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from dataclasses import fields

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import TypeAdapter

from lab.github.ci.behaviours import MOODS, CiBehaviour, Wish
from lab.github.clock import LabClock
from lab.github.fault_injection.faults import Faults, read_fault, show_fault
from lab.github.fault_injection.lag import Lag

FAULTS_PATH = "/_lab/faults"
CI_PATH = "/_lab/ci"
CLOCK_PATH = "/_lab/clock"
LAG_PATH = "/_lab/lag"


AddWish = Callable[[str, Wish], None]
"""Takes a repository's full name and a wish for its CI; raises KeyError for a repository that does not exist."""


class Admin:
    """Lets the holder of the lab's own token plan faults, see which have not happened, and set moods and time."""

    def __init__(self, token: str, faults: Faults, clock: LabClock, add_wish: AddWish, lag: Lag) -> None:
        self._token = token
        self._faults = faults
        self._clock = clock
        self._add_wish = add_wish
        self._lag = lag

    def routes(self) -> list[web.RouteDef]:
        """To be added to the application's router."""
        return [
            web.get(FAULTS_PATH, self._guard(self._list_unused)),
            web.post(FAULTS_PATH, self._guard(self._plan)),
            web.delete(FAULTS_PATH, self._guard(self._clear)),
            web.post(CI_PATH, self._guard(self._set_mood)),
            web.post(CLOCK_PATH, self._guard(self._advance)),
            web.post(LAG_PATH, self._guard(self._fall_behind)),
        ]

    async def _list_unused(self, request: web.Request) -> web.Response:
        """The faults that have not happened, or not as often as planned."""
        return web.json_response([show_fault(fault) for fault in self._faults.unused])

    async def _plan(self, request: web.Request) -> web.Response:
        """One fault as a JSON object; its keys are those of `Fault`."""
        fault = self._faults.plan(read_fault(await request.read()))
        return web.json_response(show_fault(fault), status=201)

    async def _clear(self, request: web.Request) -> web.Response:
        """No more faults."""
        self._faults.clear()
        return web.Response(status=204)

    async def _set_mood(self, request: web.Request) -> web.Response:
        """`{"repository": ..., "mood": ...}` with `job`, `branch` and `sha` as in `Lab.ci_mood`.

        The mood is a name of `lab.github.ci.behaviours.MOODS`, or an object whose keys are those of `CiBehaviour`.
        """
        order = TypeAdapter(dict[str, object]).validate_json(await request.read())
        mood = _read_mood(order.pop("mood", None))
        words = TypeAdapter(dict[str, str]).validate_python(order)
        self._add_wish(words.pop("repository", ""), Wish(mood, **words))
        return web.Response(status=204)

    async def _advance(self, request: web.Request) -> web.Response:
        """`{"seconds": ...}` makes the lab's time jump; answers what time it is then."""
        seconds = TypeAdapter(dict[str, float]).validate_json(await request.read())["seconds"]
        self._clock.advance(seconds)
        return web.json_response({"now": self._clock.now()})

    async def _fall_behind(self, request: web.Request) -> web.Response:
        """`{"seed": ..., "share": 0.5}` lets the replicas lag from now on; a share of 0 ends it."""
        order = TypeAdapter(dict[str, float]).validate_json(await request.read())
        self._lag.begin(int(order.pop("seed", 0)), **order)
        return web.Response(status=204)

    def _guard(self, handler: Handler) -> Handler:
        """Return the handler, which is called for the token's holder only; what it cannot read or find is 422."""

        async def handle(request: web.Request) -> web.StreamResponse:
            given = request.headers.get("Authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
                raise web.HTTPUnauthorized(text="The lab's own token is needed.")
            try:
                return await handler(request)
            except (ValueError, TypeError, KeyError) as error:
                return web.json_response({"message": f"{type(error).__name__}: {error}"}, status=422)

        return handle


def _read_mood(value: object) -> CiBehaviour:
    """A mood by its name or by its fields; raises ValueError for anything else."""
    if isinstance(value, str):
        if value not in MOODS:
            raise ValueError(f"{value!r} is none of these moods: {', '.join(MOODS)}.")
        return MOODS[value]
    keys = {field.name for field in fields(CiBehaviour)}
    if not isinstance(value, dict) or value.keys() - keys:
        raise ValueError(f"A mood is a name, or an object with some of these keys: {', '.join(sorted(keys))}.")
    return TypeAdapter(CiBehaviour).validate_json(json.dumps(value))
