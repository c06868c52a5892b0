"""A run that asks the model for many things at once: neither their number nor their cost passes its bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from model_proxy_scene import MESSAGES, RESPONSES, Client, Desk, vendor

from lab.model import anthropic
from lab.model.script import Turn
from shared.llm.proxy.relay import MOST_AT_ONCE

BEGUN, _, REST = b"".join(anthropic.events(Turn(say="x"), 0, "m")).partition(b"\n\n")


class Slow:
    """A vendor that begins each answer and goes on when it is let; counts what it was asked."""

    def __init__(self, rest: bytes) -> None:
        self.asked = 0
        self.rest = rest
        self.let = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(BEGUN + b"\n\n")
        await self.let.wait()
        await response.write(self.rest)
        return response


@asynccontextmanager
async def slow(rest: bytes = REST) -> AsyncIterator[tuple[Slow, Desk]]:
    """Yield a slow vendor, and a desk before it."""
    model = Slow(rest)
    async with vendor(model.answer) as desk:
        yield model, desk


@asynccontextmanager
async def streams(client: Client, count: int) -> AsyncIterator[list[aiohttp.ClientResponse]]:
    """Begin so many streamed answers, one after the other."""
    url, headers = f"{client.endpoint.base_url}/v1/messages", {"x-api-key": client.endpoint.token}
    opened = [await client.session.post(url, json=MESSAGES, headers=headers) for _ in range(count)]
    yield opened
    for one in opened:
        one.close()


async def test_no_more_than_eight_requests_of_a_run_are_open() -> None:
    async with slow() as (model, desk), desk.run(budget=100.0) as client:
        async with streams(client, MOST_AT_ONCE) as opened:
            status, said = await asyncio.wait_for(client.post("/v1/messages", MESSAGES), 10)
            assert (status, b"rate_limit_error" in said) == (429, True)
            assert model.asked == MOST_AT_ONCE == 8
            async with desk.run(run="other", budget=100.0) as other, streams(other, 1):
                assert model.asked == MOST_AT_ONCE + 1  # another run has its own
            model.let.set()
            assert [BEGUN in await one.read() for one in opened] == [True] * MOST_AT_ONCE
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200
        assert not desk.read().refused


async def test_answers_under_way_are_cut_when_together_they_use_up_the_budget() -> None:
    more = REST.partition(b"\n\n")[0] + b"\n\n"
    async with slow(more) as (model, desk), desk.run(budget=2.0) as client, streams(client, 1) as (first,):
        assert await first.content.readuntil(b"\n\n") == BEGUN + b"\n\n"  # $1.28 so far
        with pytest.raises(aiohttp.ClientError):
            await asyncio.wait_for(client.post("/v1/messages", MESSAGES), 10)  # another $1.28
        assert (await client.post("/v1/messages", MESSAGES))[0] == 403
        model.let.set()
        with pytest.raises(aiohttp.ClientError):
            await first.read()
        found = desk.read()
        assert (model.asked, found.requests, found.refused) == (2, 2, True)
        assert found.usage.cost_usd == pytest.approx(2 * 1.78, abs=0.1)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/responses", {**RESPONSES, "background": True}, 400),
        ("/v1/responses", {**RESPONSES, "background": False}, 200),
        ("/v1/responses", [], 400),
        ("/v1/messages", {**MESSAGES, "background": True}, 200),
    ],
)
async def test_answers_that_would_outlive_the_run_are_not_asked_for(path: str, body: Any, status: int) -> None:
    async with slow() as (model, desk), desk.run() as client:
        model.let.set()
        assert (await client.post(path, body))[0] == status
        assert model.asked == (status == 200)
