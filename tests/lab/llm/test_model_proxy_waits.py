"""A vendor that asks for a later try: short waits are the program's, for long ones its run ends at once."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from model_proxy_scene import MESSAGES, RESPONSES, Client, vendor

ASKED = [("/v1/messages", MESSAGES), ("/v1/responses", RESPONSES)]


class Busy:
    """A vendor that refuses everything with one status and one wait."""

    def __init__(self, status: int, wait: str) -> None:
        self.requests = 0
        self._answer = (status, {"retry-after": wait})

    async def answer(self, request: web.Request) -> web.Response:
        self.requests += 1
        await request.read()
        status, headers = self._answer
        return web.json_response({"error": {"message": "busy"}}, status=status, headers=headers)


async def asked(client: Client, path: str, body: dict[str, Any]) -> tuple[int, str | None, bytes]:
    url, token = f"{client.endpoint.base_url}{path}", {"x-api-key": client.endpoint.token}
    async with client.session.post(url, json=body, headers=token) as answer:
        return answer.status, answer.headers.get("retry-after"), await answer.read()


@pytest.mark.parametrize("status", [429, 503, 529])
@pytest.mark.parametrize(("path", "body"), ASKED)
async def test_a_long_wait_ends_the_run_and_asks_the_vendor_once(path: str, body: dict[str, Any], status: int) -> None:
    busy = Busy(status, "1800")
    gives_up = "3600" if path == "/v1/messages" else None
    async with vendor(busy.answer) as desk, desk.run() as client:
        first = await asked(client, path, body)
        assert first == (429, gives_up, b'{"error": {"message": "busy"}}')
        assert (await asked(client, path, body))[:2] == (429, gives_up)
        found = desk.read()
    assert busy.requests == 1
    assert found.retry_at is not None
    assert found.answers == {status}


@pytest.mark.parametrize(("path", "body"), ASKED)
async def test_a_short_wait_is_passed_on_as_it_is(path: str, body: dict[str, Any]) -> None:
    busy = Busy(503, "2")
    async with vendor(busy.answer) as desk, desk.run() as client:
        for _ in range(2):
            assert await asked(client, path, body) == (503, "2", b'{"error": {"message": "busy"}}')
    assert busy.requests == 2


CHAT = {"model": "m", "stream": True, "max_tokens": 50, "messages": [{"role": "user", "content": "Go."}]}


@pytest.mark.parametrize("status", [500, 503, 529, 429])
async def test_a_compatible_server_that_fails_on_ends_the_run_after_a_few_times(status: int) -> None:
    busy = Busy(status, "2")
    path = "/v1/chat/completions"
    async with vendor(busy.answer) as desk, desk.run() as client:
        seen = [await asked(client, path, CHAT) for _ in range(6)]
        found = desk.read()
    assert [one[:2] for one in seen] == [(status, "2")] * 3 + [(400, None)] * 3
    assert b"busy" in seen[3][2]
    assert busy.requests == 4
    assert found.gave_up == status
    assert found.answers == {status}


async def test_a_long_wait_at_a_compatible_server_ends_the_run_at_once() -> None:
    busy = Busy(429, "1800")
    async with vendor(busy.answer) as desk, desk.run() as client:
        seen = [(await asked(client, "/v1/chat/completions", CHAT))[:2] for _ in range(2)]
        found = desk.read()
    assert (seen, busy.requests, found.gave_up) == ([(400, None)] * 2, 1, 429)
    assert found.retry_at is not None
