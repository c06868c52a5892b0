"""A run that wants to spend more than it may: whatever its answers say, it passes its budget by one request at most."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web
from model_proxy_scene import cut, tried, vendor

from lab.model import anthropic, responses
from lab.model.script import Tokens, Turn

MESSAGES = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "x" * 200}]}
RESPONSES = {"model": "m", "max_output_tokens": 100, "input": [{"role": "user", "content": "x" * 200}]}
BUDGET = 3.0
TRUE = 0.2 * 1.0 + 100 * 0.01
"""Cost of one request by the prices of `test_model_proxy`: 200 tokens of prompt, 100 answered."""

CEILING = 0.32 * 1.25 + 100 * 0.01
"""Most that the proxy may charge for the request: one token for each of its bytes."""

TRIES = 12

TURN = Turn(say="x", usage=Tokens(input=200, cached=0, written=0, output=100))


@dataclass
class Vendor:
    """One that answers by `write`, and counts what it was really paid for."""

    write: Callable[[web.Request], Any]
    spent: float = 0.0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        if not request.path.endswith("count_tokens"):
            self.spent += TRUE
        response: web.StreamResponse = await self.write(request)
        return response


def whole(body: dict[str, Any], indent: int | None = None) -> Callable[[web.Request], Any]:
    async def write(request: web.Request) -> web.Response:
        return web.Response(body=json.dumps(body, indent=indent).encode(), content_type="application/json")

    return write


def without(body: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in keys}


ANTHROPIC, OPENAI = anthropic.message(TURN, 0, "m"), responses.message(TURN, 0, "m")

TRICKS: dict[str, tuple[str, dict[str, Any], Callable[[web.Request], Any]]] = {
    "indented": ("/v1/messages", MESSAGES, whole(ANTHROPIC, indent=2)),
    "indented openai": ("/v1/responses", RESPONSES, whole(OPENAI, indent=2)),
    "no usage": ("/v1/messages", MESSAGES, whole(without(ANTHROPIC, "usage"))),
    "no usage openai": ("/v1/responses", RESPONSES, whole(without(OPENAI, "usage"))),
    "cut": ("/v1/messages", MESSAGES, cut(b"".join(anthropic.events(TURN, 0, "m")), b"event: message_delta")),
    "cut at once": ("/v1/messages", MESSAGES, cut(b"event: x", b"event: x")),
    "hidden reasoning": (
        "/v1/responses",
        RESPONSES,
        cut(b"".join(responses.events(TURN, 0, "m")), b"event: response.completed"),
    ),
    "negative": ("/v1/messages", MESSAGES, whole({**ANTHROPIC, "usage": {"input_tokens": -9, "output_tokens": -9}})),
    "not a number": ("/v1/responses", RESPONSES, whole({**OPENAI, "usage": {"input_tokens": float("nan")}})),
}


@pytest.mark.parametrize("trick", TRICKS.values(), ids=TRICKS)
@pytest.mark.parametrize("at_once", [1, 8])
async def test_no_trick_passes_the_budget_by_more_than_one_request(
    trick: tuple[str, dict[str, Any], Callable[[web.Request], Any]], at_once: int
) -> None:
    path, body, write = trick
    model = Vendor(write)
    async with vendor(model.answer) as desk:
        async with desk.run(budget=BUDGET) as client:
            for _ in range(TRIES):
                await asyncio.gather(*(tried(client, path, body) for _ in range(at_once)))
                await tried(client, "/v1/messages/count_tokens", without(MESSAGES, "max_tokens"))
        told = desk.read().usage.cost_usd
    assert TRUE <= model.spent < BUDGET + CEILING
    assert told is not None
    assert told >= model.spent - TRUE * 0.1, "nothing was spent that is not counted"


@pytest.mark.parametrize(("trick", "broken"), [("cut", True), ("hidden reasoning", True), ("indented", False)])
async def test_what_used_the_budget_up_is_told_broken_answers_or_whole_ones(trick: str, broken: bool) -> None:
    path, body, write = TRICKS[trick]
    async with vendor(Vendor(write).answer) as desk:
        async with desk.run(budget=BUDGET) as client:
            for _ in range(TRIES):
                await tried(client, path, body)
        seen = desk.read()
    assert (seen.refused, seen.cut_off) == (True, broken)


async def test_an_answer_that_the_proxy_cuts_is_not_the_vendor_s_trouble() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        delta = json.dumps({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x" * 300}})
        with suppress(ConnectionError):
            for _ in range(200):
                await response.write(f"event: content_block_delta\ndata: {delta}\n\n".encode())
        return response

    async with vendor(Vendor(endless).answer) as desk:
        async with desk.run(budget=BUDGET) as client:
            await tried(client, "/v1/messages", MESSAGES)
        seen = desk.read()
    assert (seen.requests, seen.refused, seen.cut_off) == (1, True, False)


async def test_a_client_that_hangs_up_has_paid_for_it() -> None:
    begun = asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"event: ping\n\n")
        begun.set()
        await asyncio.sleep(30)
        return response

    model = Vendor(slow)
    async with vendor(model.answer) as desk, desk.run(budget=BUDGET) as client:
        headers = {"x-api-key": client.endpoint.token}
        for _ in range(TRIES):
            begun.clear()
            url = f"{client.endpoint.base_url}/v1/messages"
            answer = await client.session.post(url, json=MESSAGES, headers=headers)
            if answer.status != 200:
                break
            await begun.wait()
            answer.close()
            await asyncio.sleep(0.05)
    assert model.spent < BUDGET + CEILING
