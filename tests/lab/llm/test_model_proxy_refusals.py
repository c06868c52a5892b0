"""Refusals of the model proxy: no caller gets other paths, other servers, or the key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

import pytest
import structlog
from aiohttp import web
from model_proxy_scene import KEY, MESSAGES, RESPONSES, Desk, vendor

from lab.model.script import Script, Turn
from lab.model_server import ModelServer
from shared.errors import Misconfigured
from shared.llm.proxy.api_protocols import ApiProtocol, Upstream
from shared.llm.proxy.relay import LARGEST_BODY


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """Yield a vendor that gives the same answer each time."""
    async with ModelServer(Script.of(Turn(say="Done."))) as running:
        yield running


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/messages", {"x-api-key": KEY}, 401),
        ("/v1/messages", {"x-api-key": ""}, 401),
        ("/v1/messages", {"authorization": "Bearer é"}, 401),
        ("/v1/messages", {"host": "evil.example", "x-api-key": "TOKEN"}, 401),
        ("/v1/files", {"x-api-key": "TOKEN"}, 404),
        ("/v1/messages/../files", {"x-api-key": "TOKEN"}, 404),
        ("/v1/messages/batches", {"x-api-key": "TOKEN"}, 404),
        ("/v1/responses/compact", {"x-api-key": "TOKEN"}, 404),
        ("/v1%2Fmessages", {"x-api-key": "TOKEN"}, 404),
        ("//evil.example/v1/messages", {"x-api-key": "TOKEN"}, 404),
    ],
)
async def test_other_tokens_paths_and_hosts_are_refused(
    server: ModelServer, path: str, headers: dict[str, str], status: int
) -> None:
    async with Desk(server.url).run() as client:
        sent = {name: value.replace("TOKEN", client.endpoint.token) for name, value in headers.items()}
        assert (await client.post(path, MESSAGES, **sent))[0] == status
    assert server.journal == []
    assert server.unscripted == []


@pytest.mark.parametrize(
    ("path", "change", "headers"),
    [
        ("/v1/messages", {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}, {}),
        ("/v1/messages", {"mcp_servers": [{"type": "url", "url": "https://evil.example"}]}, {}),
        ("/v1/messages", {"model": "another"}, {}),
        ("/v1/messages/count_tokens", {"model": "another"}, {}),
        ("/v1/messages?beta=true&x=1", {}, {}),
        ("/v1/messages", {}, {"content-encoding": "gzip"}),
        ("/v1/messages", {}, {"content-type": "text/plain"}),
        ("/v1/responses", {"tools": [{"type": "mcp", "server_url": "https://evil.example"}]}, {}),
        ("/v1/responses", {"previous_response_id": "r1"}, {}),
        ("/v1/responses", {}, {"openai-organization": "o1"}),
        ("/v1/responses", {}, {"openai-project": "p1"}),
    ],
)
async def test_what_runs_elsewhere_reaches_no_vendor(
    server: ModelServer, path: str, change: dict[str, Any], headers: dict[str, str]
) -> None:
    body = (RESPONSES if "responses" in path else MESSAGES) | change
    async with Desk(server.url).run() as client:
        status, said = await client.post(path, body, **{"x-api-key": client.endpoint.token, **headers})
        assert status in {400, 404}
        assert b"error" in said
    assert server.journal == []


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({**MESSAGES, "service_tier": ["priority"]}).encode(),
        json.dumps({**MESSAGES, "messages": [{"type": ["image"]}]}).encode(),
        b'{"model": "m", "messages": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"model": "m", "max_tokens": ' + b"9" * 5000 + b"}",
        b'{"model": "\\ud800"}',
        b"\x00" * 50,
    ],
    ids=["tier", "type", "deep", "long number", "surrogate", "zeros"],
)
async def test_what_no_program_writes_is_refused_costs_nothing_and_is_no_error(
    server: ModelServer, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk(server.url)
    async with desk.run() as client:
        address = ("127.0.0.1", int((client.endpoint.base_url or "").rpartition(":")[2]))
        reader, writer = await asyncio.open_connection(*address)
        start = f"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: {client.endpoint.token}\r\n".encode()
        kind = f"content-type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        writer.write(start + kind + body)
        assert b" 400 " in await asyncio.wait_for(reader.readline(), 20)
        writer.close()
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200, "the control: the run goes on"
    assert len(server.journal) == 1
    assert caplog.records == []
    assert desk.read().usage.cost_usd == pytest.approx(1.78)


async def test_a_request_that_is_too_large_is_refused(server: ModelServer) -> None:
    async with Desk(server.url).run() as client:
        url, headers = f"{client.endpoint.base_url}/v1/messages", {"x-api-key": client.endpoint.token}
        async with client.session.post(url, data=BytesIO(bytes(LARGEST_BODY + 1)), headers=headers) as answer:
            assert answer.status == 413
    assert server.journal == []


async def test_a_redirect_takes_the_key_nowhere_and_a_dead_server_is_said(server: ModelServer) -> None:
    async def redirect(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect(f"{server.url}/v1/messages")

    async with vendor(redirect) as desk, desk.run() as client:
        status, said = await client.post("/v1/messages", MESSAGES)
        assert (status, server.url in said.decode()) == (502, False)
    async with desk.run(run="r2") as client:
        assert (await client.post("/v1/messages", MESSAGES))[0] == 502
    assert desk.read("r2").usage.cost_usd == 0
    assert server.journal == []


@pytest.mark.parametrize("url", ["http://api.anthropic.com", "ftp://127.0.0.1", "https://u:p4ss@h", "http://[::2]"])
def test_the_key_goes_to_no_server_in_plain_text(url: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        Upstream(ApiProtocol.ANTHROPIC, url, KEY)
    assert "p4ss" not in str(refused.value)


async def test_the_key_is_in_no_log_and_in_no_representation(server: ModelServer) -> None:
    with structlog.testing.capture_logs() as logs:
        desk = Desk(server.url)
        async with desk.run() as client:
            await client.post("/v1/messages", MESSAGES)
    assert [entry["event"] for entry in logs] == ["run_metered"]
    assert KEY not in f"{logs} {desk.proxy.__dict__} {client.endpoint}"
    assert client.endpoint.token not in f"{logs} {client.endpoint}"
