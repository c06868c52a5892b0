"""The model proxy between a scripted vendor and a client that plays the CLI: what passes, what it costs, what not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from model_proxy_scene import KEY, MESSAGES, RESPONSES, Client, Desk, vendor

from lab.model import anthropic
from lab.model.script import Script, Turn
from lab.model_server import ModelServer
from shared.llm.endpoint import ESTIMATED, METERED, Endpoint

DATE = "Sun, 22 Nov 2026 02:00:00 GMT"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """Yield a vendor that gives the same answer each time."""
    async with ModelServer(Script.of(Turn(say="Done."))) as running:
        yield running


async def test_streams_pass_byte_for_byte_and_the_vendor_alone_sees_the_key(server: ModelServer) -> None:
    desk = Desk(server.url)
    async with desk.run() as client:
        assert await client.post("/v1/messages?beta=true", MESSAGES) == (200, await direct(server, MESSAGES))
        token = {"authorization": f"Bearer {client.endpoint.token}"}
        status, said = await client.post("/v1/responses", RESPONSES, **token)
        assert (status, said.count(b"event: response.completed")) == (200, 1)
        status, counted = await client.post("/v1/messages/count_tokens", MESSAGES)
        assert (status, "input_tokens" in json.loads(counted)) == (200, True)
    assert [seen.token for seen in server.journal] == ["direct" if n == 1 else KEY for n in range(3)]
    assert client.endpoint.token not in str(server.journal)
    found = desk.read()
    assert found.usage.cost_usd == pytest.approx(1.78 + 1.23)
    assert (found.usage.cost_source, found.requests, found.refused) == (METERED, 2, False)
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.cached_tokens) == (1700, 100, 600)
    assert desk.read_usage() == found.usage


async def direct(server: ModelServer, body: Mapping[str, Any]) -> bytes:
    """Return the vendor's own bytes."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/v1/messages", json=body, headers={"x-api-key": "direct"}) as answer,
    ):
        return await answer.read()


async def test_pieces_pass_at_once_and_a_killed_run_is_metered() -> None:
    first = b"".join(anthropic.events(Turn(say="x"), 0, "m")).partition(b"\n\n")[0] + b"\n\n"
    closed = asyncio.Event()

    async def stalled(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(first)
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        return response

    async with vendor(stalled) as desk, AsyncExitStack() as stack:
        client = await stack.enter_async_context(desk.run())
        headers = {"x-api-key": client.endpoint.token}
        answer = await client.session.post(f"{client.endpoint.base_url}/v1/messages", json=MESSAGES, headers=headers)
        assert (await answer.content.readuntil(b"\n\n")) == first
        answer.close()  # killed
        await asyncio.wait_for(closed.wait(), 5)
        await stack.aclose()
        found = desk.read()
    assert found.usage.cost_source == ESTIMATED
    assert found.usage.cost_usd == pytest.approx(1.28 + 0.5)  # the most that it could still have said
    assert desk.read_usage() == found.usage


@pytest.mark.parametrize(
    ("path", "body", "budget", "status", "word"),
    [
        ("/v1/messages", MESSAGES, 3.2, 403, "permission_error"),
        ("/v1/responses", RESPONSES, 2.0, 400, "budget_exceeded"),
    ],
)
async def test_a_run_is_stopped_within_one_request_of_its_budget(
    server: ModelServer, path: str, body: dict[str, Any], budget: float, status: int, word: str
) -> None:
    desk = Desk(server.url)
    async with desk.run(budget=budget) as client:
        statuses = [(await client.post(path, body))[0] for _ in range(4)]
        refused, said = await client.post(path, body)
    assert statuses == [200, 200, status, status]
    assert (refused, json.loads(said)["error"]["type"]) == (status, word)
    assert f"${budget:.2f}" in json.loads(said)["error"]["message"]
    assert len(server.journal) == 2
    found = desk.read()
    assert found.refused
    assert found.usage.cost_usd is not None
    assert budget <= found.usage.cost_usd < budget + 1.78


async def test_runs_do_not_share_budgets_or_tokens(server: ModelServer) -> None:
    desk = Desk(server.url)
    async with desk.run(run="a", budget=1.0) as one, desk.run(run="b", budget=1.0) as other:
        assert (await one.post("/v1/messages", MESSAGES))[0] == 200
        assert (await other.post("/v1/messages", MESSAGES, **{"x-api-key": one.endpoint.token}))[0] == 401
        assert (await other.post("/v1/messages", MESSAGES))[0] == 200
    assert len(server.journal) == 2
    with pytest.raises(aiohttp.ClientConnectorError):
        async with aiohttp.ClientSession() as session:
            await Client(one.endpoint, session).post("/v1/messages", MESSAGES)


@pytest.mark.fault(26)
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3600"}, 3600),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2m"}, 120),
    ],
)
async def test_the_reset_of_a_limit_is_read_from_the_refusal(headers: dict[str, str], seconds: int) -> None:
    async def limited(request: web.Request) -> web.Response:
        return web.json_response({"error": f"not with {KEY}"}, status=429, headers={**headers, "date": DATE})

    async with vendor(limited) as desk:
        async with desk.run() as client:
            status, said = await client.post("/v1/messages", MESSAGES)
        found = desk.read()
    assert (status, json.loads(said)) == (429, {"error": "not with ***"})
    assert found.retry_at == datetime(2026, 11, 22, 2, 0, tzinfo=UTC) + timedelta(seconds=seconds)
    assert found.usage.cost_usd == 0


async def test_an_answer_that_breaks_off_breaks_off_for_the_cli_too() -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"event: message_start\n")
        assert request.transport is not None
        request.transport.abort()
        return response

    async with vendor(cut) as desk:
        async with desk.run() as client:
            with pytest.raises(aiohttp.ClientError):
                await client.post("/v1/messages", MESSAGES)
        assert desk.read().usage.cost_source == ESTIMATED


async def test_a_sandbox_without_network_reaches_it_by_a_socket(server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "s").symlink_to(tmp_path / ("long" * 30))  # a longer path than a socket's address can be
    desk = Desk(server.url, sockets=tmp_path / ("long" * 30))
    async with desk.run() as client:
        path = client.endpoint.socket
        assert path is not None
        assert path.stat().st_mode & 0o777 == 0o600
        async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(tmp_path / "s" / path.name))) as session:
            inside = Client(Endpoint("http://127.0.0.1:1", client.endpoint.token), session)
            assert (await inside.post("/v1/messages", MESSAGES))[0] == 200
    assert not path.exists()
    assert desk.read().requests == 1
