"""Servers of chat completions differ in how they stream; mini-swe-agent as the engine runs it understands them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from cli.coding import TOKEN
from cli.compatible import MODEL, ProxiedDesk
from shared.llm.cli.coder import CliCoder
from shared.llm.endpoint import Endpoint, Fixed
from shared.llm.mini import dialect
from shared.llm.port import CoderCall, Ending

CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "echo a >> ran"}'}}
USAGE = {"prompt_tokens": 10, "completion_tokens": 5}
WHOLE = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}], "usage": USAGE}


def pieces(*deltas: dict[str, Any], between: str = "\n\n", reason: str | None = "tool_calls") -> str:
    """Return a stream as most servers write it."""
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": USAGE}]
    return "".join(f"data: {json.dumps(chunk)}{between}" for chunk in chunks) + f"data: [DONE]{between}"


def cut(call: dict[str, Any], at: int, **more: Any) -> list[dict[str, Any]]:
    """Return a tool call in two pieces, of which only the first has the name."""
    text = call["function"]["arguments"]
    first = {**call, "function": {**call["function"], "arguments": text[:at]}, **more}
    return [{"tool_calls": [first]}, {"tool_calls": [{"function": {"arguments": text[at:]}, **more}]}]


ANSWERS = {
    "not streamed": json.dumps(WHOLE),
    "in pieces": pieces({"role": "assistant", "content": None}, *cut(CALL, 7, index=0)),
    "not numbered": pieces({"tool_calls": [CALL]}),
    "comments": ": PROCESSING\r\n\r\n" + pieces({"reasoning": "Hm."}, {"tool_calls": [CALL]}, between="\r\n\r\n"),
    "two calls": pieces(*cut(CALL, 3, index=0), *cut({**CALL, "id": "c2"}, 3, index=1)),
}

TROUBLES = {
    "an error in the stream": f"data: {json.dumps({'error': {'message': 'busy'}})}\n\n",
    "no end": pieces({"content": "I am d"}, reason=None),
    "no JSON": "data: {\n\n",
    "other JSON": "[]",
}


@asynccontextmanager
async def answering(*answers: str) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Serve these answers in turn, the last again and again; yield the address, and the list of requests."""
    asked: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        text = answers[min(len(asked), len(answers)) - 1]
        kind = "application/json" if text[0] in "{[" else "text/event-stream"
        return web.Response(text=text, content_type=kind)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_tool_call_is_understood_however_it_comes(mini: ProxiedDesk, name: str) -> None:
    async with answering(ANSWERS[name], pieces({"content": "Do"}, {"content": "ne."}, reason="stop")) as (url, asked):
        outcome = await _coder(mini, url).run(mini.request(CoderCall.IMPLEMENT, "Do it."))
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done."), outcome
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (20, 10)
    calls = 2 if name == "two calls" else 1
    assert (mini.tree / "ran").read_text() == "a\n" * calls
    (said,) = [one for one in asked[1]["messages"] if one["role"] == "assistant"]
    assert [call["function"] for call in said["tool_calls"]] == [CALL["function"]] * calls
    assert all(request["stream"] and request["stream_options"] == {"include_usage": True} for request in asked)


@pytest.mark.parametrize("name", TROUBLES)
async def test_an_answer_that_is_none_is_asked_for_again(mini: ProxiedDesk, name: str) -> None:
    async with answering(TROUBLES[name], pieces({"content": "Done."}, reason="stop")) as (url, asked):
        outcome = await _coder(mini, url).run(mini.request(CoderCall.IMPLEMENT, "Do it."))
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done."), outcome
    assert len(asked) == 2


def _coder(mini: ProxiedDesk, url: str) -> CliCoder:
    """Return the backend as the engine builds it, for the server at `url`."""
    made = dialect(mini.executable.resolve(), mini.launcher())
    return CliCoder(made, made.launcher, Fixed(Endpoint(url, TOKEN)), MODEL)
