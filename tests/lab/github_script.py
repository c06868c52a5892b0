"""A GitHub that gives planned answers over real HTTP, in order, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, TypeVar

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from fakes.clock import PassingClock

from shared.github.client import GitHub
from shared.github.limits import Pacing
from shared.lock.claimant import Claimant
from shared.lock.codec import Ack, ItemKey
from shared.lock.fence import Fence
from shared.lock.hold import Held, begin
from shared.lock.lease import Lease
from shared.lock.port import Operation, Reply
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage

T = TypeVar("T")

START = 1000.0
TOKEN = "canary-token-7f3a"
NOW = datetime(2023, 11, 21, 10, 0, 0, tzinfo=UTC)
"""Server time when a script starts; it runs with the script's clock."""


@dataclass
class Plan:
    """One answer. `drop` breaks the connection after the request was received."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    type: str = "application/json; charset=utf-8"
    drop: bool = False


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def call(self) -> str:
        return f"{self.method} {self.path}"


class Script:
    """The plan of one test."""

    def __init__(self, plans: tuple[Plan, ...]) -> None:
        self.plans = list(plans)
        self.asked: list[Asked] = []
        self.unplanned: list[str] = []
        self.clock = PassingClock()
        self.root = ""

    @property
    def calls(self) -> list[str]:
        return [asked.call for asked in self.asked]

    def plan(self, *plans: Plan) -> None:
        self.plans += plans

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.method, request.raw_path, headers, json.loads(body) if body else None))
        if not self.plans:
            self.unplanned.append(self.asked[-1].call)
            return web.Response(status=418)
        plan = self.plans.pop(0)
        if plan.drop:
            assert request.transport is not None
            request.transport.close()
        date = format_datetime(NOW + timedelta(seconds=int(self.clock.seconds - START)), usegmt=True)
        fixed = {"Date": date} | {name: value.replace("ROOT", self.root) for name, value in plan.headers.items()}
        content = json.dumps(plan.body).encode() if plan.raw is None else plan.raw
        if plan.status in {204, 304}:
            return web.Response(status=plan.status, headers=fixed)
        return web.Response(status=plan.status, body=content, headers=fixed | {"Content-Type": plan.type})


@asynccontextmanager
async def scripted(
    *plans: Plan, connector: aiohttp.BaseConnector | None = None, interval: float = 0.0
) -> AsyncIterator[tuple[GitHub, Script]]:
    """Yield a client against a script; assert at the end that exactly the planned answers were asked for."""
    script = Script(plans)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", script.answer)

    async def token() -> str:
        return TOKEN

    async with TestServer(app) as server, aiohttp.ClientSession(connector=connector) as session:
        script.root = str(server.make_url("")).rstrip("/")
        pacing = Pacing(script.clock, write_interval_seconds=interval)
        yield GitHub(session, token=token, api_url=script.root, clock=script.clock, pacing=pacing), script
    assert script.unplanned == []
    assert script.plans == []


class _NoPort:
    """A lease under test asks nothing of the world."""

    def __init__(self, clock: PassingClock) -> None:
        self._clock = clock

    async def request(self, operation: Operation[T]) -> Reply[T]:
        raise AssertionError(f"unexpected {operation}")

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)

    def now(self) -> float:
        return self._clock.now()

    def boot(self) -> float:
        return self._clock.boot()


class _NoNonces:
    def fresh(self) -> str:
        return "0" * 32

    def mine(self, nonce: str) -> bool:
        return False

    def forget(self, nonce: str) -> None:
        return


def lease(clock: PassingClock) -> Held:
    """Return a lease that holds for 1,500 seconds of `clock`."""
    key = ItemKey(Role.WORKER, 42)
    ack = Ack(key=key, agent="worker-1", millis=0, prev=0, nonce="0" * 32, ttl_seconds=1800, id=1)
    fence = Fence(key=key, ack_id=1, nonce="0" * 32, agent="worker-1", stage=Stage.IMPLEMENTING, at=NOW)
    claimant = Claimant("worker-1", frozenset({1}), Keyring(1), _NoNonces())
    return begin(_NoPort(clock), Lease(ack, fence, NOW, clock.boot()), claimant)


def user(login: str = "ada", id: int = 7) -> dict[str, Any]:
    return {"login": login, "id": id, "type": "User"}


def issue(number: int = 42, **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "title": "Add user search",
        "body": "As a user",
        "labels": [{"name": "status:ready"}],
        "user": user(),
        "created_at": "2023-11-21T09:00:00Z",
        "updated_at": "2023-11-21T09:30:00Z",
        "state": "open",
        "locked": False,
    } | changes


def comment(id: int = 1, number: int = 42, **changes: Any) -> dict[str, Any]:
    return {
        "id": id,
        "issue_url": f"https://api.github.com/repos/o/r/issues/{number}",
        "user": user(),
        "body": f"comment {id}",
        "created_at": "2023-11-21T09:00:00Z",
        "updated_at": "2023-11-21T09:30:00Z",
    } | changes


def pull(number: int = 57, **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "title": "Add user search",
        "body": None,
        "user": user("engine", 8),
        "labels": [],
        "head": {"ref": "auto/issue-42", "sha": "a" * 40, "repo": None},
        "base": {"ref": "main", "sha": "b" * 40},
        "state": "open",
        "merged": False,
        "merge_commit_sha": "c" * 40,
        "mergeable": None,
    } | changes
