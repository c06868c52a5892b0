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
