"""Tools that the vendor runs, through the real proxy: configured and bounded they pass, and cost what was counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web
from model_proxy_scene import MESSAGES, RESPONSES, Desk, cut, tried, vendor

from lab.model import anthropic, responses
from lab.model.script import Script, Tokens, Turn
from lab.model_server import ModelServer
from shared.llm.proxy.metering import LARGEST_PROMPT
from shared.llm.proxy.vendor_tools import MOST_USES, VendorTool

SEARCHED = Turn(say="Found.", usage=Tokens(searches=2))
BOTH = frozenset(VendorTool)
TOOL = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
USING = {**MESSAGES, "tools": [TOOL]}
ITS = {**RESPONSES, "tools": [{"type": "web_search"}]}
TOKENS, ITS_TOKENS = 1.78, 1.23
"""Cost in USD of one answer's tokens by the prices of `test_model_proxy`, for Anthropic and for OpenAI."""


async def test_a_configured_search_is_passed_on_bounded_and_charged() -> None:
    async with ModelServer(Script.of(SEARCHED)) as server:
        desk = Desk(server.url, tools=BOTH)
        async with desk.run(budget=9) as client:
            beta = {"x-api-key": client.endpoint.token, "anthropic-beta": "web-search-2025-03-05,mcp-client-2025-04-04"}
            assert (await client.post("/v1/messages", USING, **beta))[0] == 200
            assert (await client.post("/v1/responses", ITS))[0] == 200
            assert (await client.post("/v1/responses", {**ITS, "max_tool_calls": 2}))[0] == 200
            whole = {**USING, "stream": False}
            assert (await client.post("/v1/messages", whole))[0] == 200
    bounds = [seen.body.get("max_tool_calls") for seen in server.journal]
    assert bounds == [None, MOST_USES, 2, None]
    assert server.journal[0].headers["anthropic-beta"] == "web-search-2025-03-05"
    found = desk.read()
    assert found.usage.cost_usd == pytest.approx(2 * TOKENS + 2 * ITS_TOKENS + 8 * 0.01)
    assert (found.requests, found.refused, found.usage.cost_source) == (4, False, "proxy")


@pytest.mark.parametrize(
    ("tools", "path", "body"),
    [
        (frozenset(), "/v1/messages", USING),
        (frozenset(), "/v1/responses", ITS),
        (frozenset({VendorTool.WEB_FETCH}), "/v1/messages", USING),
        (frozenset({VendorTool.WEB_FETCH}), "/v1/responses", ITS),
        (BOTH, "/v1/messages", {**MESSAGES, "tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
        (BOTH, "/v1/messages", {**MESSAGES, "tools": [{**TOOL, "max_uses": MOST_USES + 1}]}),
        (BOTH, "/v1/responses", {**ITS, "max_tool_calls": MOST_USES + 1}),
        (BOTH, "/v1/responses", {**ITS, "max_tool_calls": None}),
        (BOTH, "/v1/messages", {**MESSAGES, "tools": [{"type": "code_execution_20250825", "name": "code_execution"}]}),
        (BOTH, "/v1/messages/count_tokens", {**MESSAGES, "tools": [{"type": "web_search_20250305"}]}),
    ],
)
async def test_what_is_not_configured_or_has_no_bound_reaches_no_vendor(
    tools: frozenset[VendorTool], path: str, body: dict[str, Any]
) -> None:
    async with ModelServer(Script.of(SEARCHED)) as server:
        desk = Desk(server.url, tools=tools)
        async with desk.run() as client:
            status, said = await client.post(path, body)
            assert (status, json.loads(said)["error"]["type"]) == (400, "invalid_request_error")
    assert server.journal == []
    assert desk.read().usage.cost_usd == 0


async def test_what_is_found_and_never_counted_is_paid_as_the_most_and_ends_the_run() -> None:
    turns = {"/v1/messages": anthropic.events(SEARCHED, 0, "m"), "/v1/responses": responses.events(SEARCHED, 0, "m")}
    for (path, events), body in zip(turns.items(), (USING, ITS), strict=True):
        marker = b"event: message_delta" if path == "/v1/messages" else b"event: response.completed"
        reached: list[str] = []
        broken = cut(b"".join(events), marker)

        async def answer(request: web.Request, reached: list[str] = reached, broken: Any = broken) -> Any:
            await request.read()
            reached.append(request.path)
            return await broken(request)

        async with vendor(answer) as desk:
            desk.proxy = Desk(desk.url, tools=BOTH).proxy
            async with desk.run(budget=9) as client:
                for _ in range(3):
                    await tried(client, path, body)
            found = desk.read()
        uses = 3 if path == "/v1/messages" else MOST_USES
        least = (uses + 1) * LARGEST_PROMPT * 1000 / 1e6 + uses * 0.01
        assert reached == [path], "the first may have used the budget up: no second one is sent"
        assert found.usage.cost_usd is not None
        assert least <= found.usage.cost_usd < 2 * least
        assert (found.refused, found.cut_off) == (True, True)


async def test_searches_stop_a_run_within_one_request_of_its_budget() -> None:
    free = Turn(say="x", usage=Tokens(input=1, cached=0, written=0, output=0, searches=3))
    async with ModelServer(Script.of(free)) as server:
        desk = Desk(server.url, tools=BOTH)
        async with desk.run(budget=0.05) as client:
            statuses = [(await client.post("/v1/messages", USING))[0] for _ in range(4)]
    assert statuses == [200, 200, 403, 403]
    assert len(server.journal) == 2
    assert desk.read().usage.cost_usd == pytest.approx(0.06, abs=0.003)
