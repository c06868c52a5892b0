"""Every method of the GitHub adapters that writes, found by its write permit, called with secrets in every argument."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, get_args, get_type_hints

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from shared.errors import EngineError
from shared.github.checks import Checks
from shared.github.client import GitHub
from shared.github.comments import Comments
from shared.github.issues import Issues
from shared.github.item_changes import ItemChange, ItemChanges
from shared.github.label_board import LabelBoard, WantedLabels
from shared.github.limits import Pacing
from shared.github.people import People
from shared.github.pulls import Pulls
from shared.github.reviews import Reviews
from shared.lock.hold import Held
from shared.lock.write_permit import Notice, OperatorPermit
from shared.loop.real_clock import RealClock
from shared.models import Account, Finding, Review, ReviewState
from shared.outgoing.outbound_filter import Outgoing
from shared.text import JOINER
from shared.text.redaction import holds
from shared.workflow import Stage
from shared.workflow.labels import Labels

TOKEN, KEY = "zq7KpVt3mXw9LrB2yN8dHc5J0aGfE6uT", "QkV3pLs8ZxT1nRf6WcYd"
CANARY = f"{TOKEN[:16]}\n{TOKEN[16:]} and {KEY[::-1]} of @ada fixes #9"

VALUES: Mapping[object, object] = {
    int: 7,
    bool: False,
    ReviewState: ReviewState.COMMENTED,
    Stage: Stage.READY,
}


@dataclass
class Door:
    """One way to write: an adapter's method, and its arguments full of canaries."""

    name: str
    call: Callable[[], Any]


def _value(annotation: Any) -> object:
    if annotation in VALUES:
        return VALUES[annotation]
    kinds = {annotation, *get_args(annotation)}
    if kinds & {Held, OperatorPermit, Notice}:
        return OperatorPermit("a test")
    if Finding in kinds:
        return [Finding("a.py", 3, CANARY)]
    if WantedLabels in kinds:
        return [WantedLabels(7, Stage.READY, frozenset())]
    if ItemChange in kinds:
        return [ItemChange(7, CANARY, on=(CANARY,)), ItemChange(8, CANARY, close=True, off=(CANARY,))]
    if Review in kinds:
        return [Review(1, Account(1, "ada"), ReviewState.COMMENTED, "", "", datetime.now(UTC), node_id=CANARY)]
    return [CANARY] if get_args(annotation)[:1] == (str,) else CANARY


def _doors(github: GitHub) -> list[Door]:
    adapters: list[Any] = [
        kind(github, "ada/app") for kind in (Issues, Comments, Pulls, Reviews, Checks, People, ItemChanges)
    ]
    _teach(github)
    adapters.append(LabelBoard(github, "ada/app", Labels()))
    doors = []
    for adapter in adapters:
        for name, method in inspect.getmembers(adapter, inspect.iscoroutinefunction):
            hints = {key: hint for key, hint in get_type_hints(method).items() if key != "return"}
            if name.startswith("_") or not {"permit", "held"} & hints.keys():
                continue
            optional = {key for key, it in inspect.signature(method).parameters.items() if it.default is not it.empty}
            given = {key: _value(hint) for key, hint in hints.items() if key not in optional or hint == str | None}
            doors.append(Door(f"{type(adapter).__name__}.{name}", partial(method, **given)))
    return doors


def _teach(github: GitHub) -> None:
    """Teach the client the ids of everything, so that it uses GraphQL."""
    for number in (7, 8):
        item = {"number": number, "node_id": f"I_{number}", "labels": [{"name": CANARY, "node_id": "LA_1"}]}
        github.ids.learn(f"/repos/ada/app/issues/{number}", item)


@pytest.fixture
async def sent() -> AsyncIterator[tuple[GitHub, list[str]]]:
    """Yield a client of a server that answers everything with an empty object, and the bodies that it got."""
    bodies: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        if request.method != "GET":
            bodies.append((await request.json() if request.can_read_body else None) or "")
        return web.json_response([] if request.path.endswith("/labels") else {})

    async def token() -> str:
        return TOKEN

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    clock = RealClock()
    async with TestServer(app) as server, aiohttp.ClientSession() as session:
        url = str(server.make_url("")).rstrip("/")
        pacing = Pacing(clock, write_interval_seconds=0)
        yield (
            GitHub(session, token=token, api_url=url, clock=clock, pacing=pacing, outgoing=Outgoing([KEY])),
            bodies,
        )


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case list():
            return [text for item in value for text in _texts(item)]
        case _:
            return []


async def test_no_door_lets_a_secret_out(sent: tuple[GitHub, list[Any]]) -> None:
    github, bodies = sent
    doors = _doors(github)
    for door in doors:
        with suppress(EngineError, KeyError):  # no answer for most of them; a label of ours has no such name
            await door.call()
    assert any("updateIssue" in str(body) and "variables" in body for body in bodies), "by GraphQL as well"
    told = [text for body in bodies for text in _texts(body)]
    names = {door.name for door in doors}
    assert {"Comments.post", "Comments.edit", "Issues.create", "Pulls.open", "Reviews.submit", "LabelBoard.add"} < names
    assert {"ItemChanges.at_once", "ItemChanges.carry_out"} < names
    assert len(names) >= 16
    assert len(bodies) >= len(names) - 2
    assert [text for text in told if holds(text, [TOKEN, KEY])] == []
    assert sum("***" in text for text in told) >= 10
    free = [text for text in told if "@" in text and f"@{JOINER}ada" not in text]
    assert all("***" in text for text in free)


async def test_the_token_in_use_is_a_secret_as_soon_as_it_was_used(sent: tuple[GitHub, list[Any]]) -> None:
    github, bodies = sent
    await github.get("/rate_limit")
    with suppress(EngineError):
        await Comments(github, "ada/app").post(7, f"The token is {TOKEN}.", Notice(7, "a test"))
    assert bodies == [{"body": "The token is ***."}]


async def test_the_canary_is_found_without_the_gate() -> None:
    assert holds(CANARY, [TOKEN])
    assert holds(CANARY, [KEY])
