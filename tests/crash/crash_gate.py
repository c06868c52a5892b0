"""A gate before the lab: passes every request on, knows whose it is, and strikes one of them."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum

import aiohttp
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from lab.github.http.host import Host

_OWN_OF_A_HOP = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "expect", "host", "content-length"}
)
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

_PUSH = "/git-receive-pack"

_POLL = "sort=updated&direction=desc"
"""The list that every tick asks for; how often it comes in between is chance, so it is no point of a life."""


class Blow(StrEnum):
    """The fault that happens at a request."""

    KILLED_BEFORE = "killed before"
    """The agent is killed and the request is never carried out."""
    KILLED_AFTER = "killed after"
    """The request is carried out, and the agent is killed before it learns of that."""
    LOST_REPLY = "lost reply"
    """The request is carried out, and the connection breaks without an answer."""
    PAUSED = "paused"
    """The request is carried out, and the agent is suspended for 40 minutes before it learns of that."""
    TWICE = "carried out twice"
    """The request is carried out twice, as by a client's blind retry: the planted bug that the checks must notice."""


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """A request of one agent: the `read`-th read after its `write`-th write, or that write itself (`read` 0).

    A write that is refused, as by a replica that lags, is not counted: the next attempt is the same point.
    """

    write: int
    read: int


@dataclass(slots=True)
class Asked:
    """One request of the watched agent; `at` is the machine's monotonic time of its arrival.

    `pushed` is the object to which a push moves its first ref.
    """

    point: Point
    method: str
    path: str
    at: float
    executed: bool = False
    pushed: str = ""
    status: int = 0

    @property
    def refused(self) -> bool:
        """True if the request is a write that was answered with an error and not carried out."""
        return self.point.read == 0 and self.status >= 400

    @property
    def records(self) -> bool:
        """True if the request records the result of a paid call: a push, a comment or a review."""
        return self.method == "POST" and self.path.endswith((_PUSH, "/comments", "/reviews"))


@dataclass
class Strike:
    """A blow at one request of the watched agent; `struck` is set when it has happened.

    An agent that stands still gets its answer when `resumed` is set.
    """

    blow: Blow
    point: Point
    halt: Callable[[], Awaitable[None]]
    path: str = ""
    struck: asyncio.Event = field(default_factory=asyncio.Event)
    resumed: asyncio.Event = field(default_factory=asyncio.Event)


class Gate:
    """The server's only address; `watched` is the token of the agent whose requests are counted."""

    def __init__(self, host: Host, target: str, session: aiohttp.ClientSession) -> None:
        self.url = host.url
        self.watched = ""
        self.asked: list[Asked] = []
        self.strike: Strike | None = None
        self._target, self._session = target, session
        self._write = self._read = 0
        self.dead = False
        self.busy_at = time.monotonic()
        """Time of the last request that was more than a poll for news."""

    def watch(self, token: str, strike: Strike | None = None) -> None:
        """Count the requests under `token` from now on."""
        self.watched, self.strike, self.asked, self.dead = token, strike, [], False
        self._write = self._read = 0

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Pass one request on, unless it is the one to strike."""
        self.busy_at = self.busy_at if _POLL in request.path_qs else time.monotonic()
        body = await request.read()
        if not self.watched or _token(request.headers.get("Authorization", "")) != self.watched:
            return await self._forward(request, body)
        if self.dead:  # what an agent has started lives on a little longer; like the agent, it reaches nothing more
            return _cut(request)
        asked = self._count(request)
        if asked is None:
            return await self._forward(request, body)
        strike = self.strike
        if strike is None or strike.point != asked.point or strike.struck.is_set():
            return await self._carried_out(asked, request, body)
        return await self._struck(strike, asked, request, body)

    async def _struck(self, strike: Strike, asked: Asked, request: web.Request, body: bytes) -> web.StreamResponse:
        """Let it happen at this request; one that is refused is passed on, and the next attempt struck."""
        strike.path = f"{request.method} {request.path}"
        self.dead = strike.blow is Blow.KILLED_BEFORE
        if self.dead:
            await strike.halt()
            strike.struck.set()
            return _cut(request)
        answer = await self._carried_out(asked, request, body)
        if asked.refused:
            strike.path = ""
            return answer
        if strike.blow is Blow.TWICE:
            answer = await self._forward(request, body)
        self.dead = strike.blow is Blow.KILLED_AFTER
        if self.dead or strike.blow is Blow.PAUSED:
            await strike.halt()
        strike.struck.set()
        if strike.blow is Blow.PAUSED:
            await strike.resumed.wait()
        if strike.blow in {Blow.KILLED_AFTER, Blow.LOST_REPLY}:
            return _cut(request)
        return answer

    def _count(self, request: web.Request) -> Asked | None:
        if _POLL in request.path_qs:
            return None
        read_only = request.method not in _WRITES or request.path.endswith("/git-upload-pack")
        self._write, self._read = (self._write, self._read + 1) if read_only else (self._write + 1, 0)
        asked = Asked(Point(self._write, self._read), request.method, request.path_qs, time.monotonic())
        self.asked.append(asked)
        return asked

    async def _carried_out(self, asked: Asked, request: web.Request, body: bytes) -> web.StreamResponse:
        if request.path.endswith(_PUSH):
            asked.pushed = _new_object(body)
        answer = await self._forward(request, body)
        asked.status, asked.executed = answer.status, answer.status < 400
        if asked.refused:
            self._write -= 1
        return answer

    async def _forward(self, request: web.Request, body: bytes) -> web.Response:
        url = URL(self._target + request.raw_path, encoded=True)
        headers = _end_to_end(request.headers, "content-encoding")
        sent = self._session.request(request.method, url, headers=headers, data=body or None, allow_redirects=False)
        async with sent as answer:
            back = _end_to_end(answer.headers)
            for name in {"link", "location"} & {key.casefold() for key in back}:
                back[name] = back[name].replace(self._target, self.url)
            return web.Response(status=answer.status, headers=back, body=await answer.read())


@asynccontextmanager
async def gate_before(target: str) -> AsyncIterator[Gate]:
    """Yield a gate in front of the server at `target` (a root URL without a final slash)."""
    host = Host(0, None)
    skipped = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")
    async with aiohttp.ClientSession(auto_decompress=False, skip_auto_headers=skipped) as session:
        gate = Gate(host, target, session)
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{tail:.*}", gate.serve)
        await host.start(app)
        try:
            yield gate
        finally:
            await host.stop()


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=502)


def _new_object(push: bytes) -> str:
    """Return the new object of a push's first command, `<length> <old> <new> <ref>`; empty if it has none."""
    words = push[4:85].split()
    return words[1].decode() if len(words) == 2 else ""


def _token(header: str) -> str:
    scheme, _, value = header.partition(" ")
    if scheme.casefold() == "basic":
        return base64.b64decode(value).decode().partition(":")[2]
    return value


def _end_to_end(headers: CIMultiDictProxy[str], also: str = "") -> CIMultiDict[str]:
    dropped = _OWN_OF_A_HOP | {also}
    return CIMultiDict((name, value) for name, value in headers.items() if name.casefold() not in dropped)
