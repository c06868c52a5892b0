"""The scripted model server as both vendors' clients see it: turns, streams, faults, and a journal of it all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from lab.model.script import Script
from lab.model_server import ModelServer
from shared.errors import Misconfigured

STORY = """
- for: user search
  turns:
    - say: I will write it.
      tools: [{name: Write, input: {file_path: "{cwd}/a.py", content: "x = 1"}}]
    - say: Done.
      usage: {input: 7, output: 3}
- turns: [{answer: {verdict: approve}}]
"""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ModelServer]:
    """Yield a server with a story of two scenes."""
    story = tmp_path / "story.yml"
    story.write_text(STORY)
    async with ModelServer(Script.load(story)) as server:
        yield server


async def post(server: ModelServer, path: str, body: dict[str, Any]) -> tuple[int, str]:
    """Send a request; return status and text of the answer."""
    headers = {"x-api-key": "k3y"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/v1/{path}", json=body, headers=headers) as response,
    ):
        return response.status, await response.text()


def events(text: str) -> list[dict[str, Any]]:
    """Return the data of a stream's events."""
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


def messages(*contents: Any, **more: Any) -> dict[str, Any]:
    """Return a request to Anthropic; every second message is the model's."""
    turns = [{"role": ("user", "assistant")[at % 2], "content": content} for at, content in enumerate(contents)]
    return {"model": "m", "system": "Primary working directory: /w", "messages": turns, **more}


async def test_a_session_with_anthropic_goes_from_turn_to_turn_by_its_own_history(server: ModelServer) -> None:
    begin = "Please add User Search."
    _, text = await post(server, "messages", messages(begin))
    first = json.loads(text)
    call = first["content"][1]
    assert call["input"] == {"file_path": "/w/a.py", "content": "x = 1"}
    assert first["stop_reason"] == "tool_use"
    done = [{"type": "tool_result", "tool_use_id": call["id"], "content": "ok"}]
    _, text = await post(server, "messages", messages(begin, first["content"], done, stream=True))
    stream = events(text)
    assert [event["type"] for event in stream][::6] == ["message_start"]
    assert stream[0]["message"]["usage"]["input_tokens"] == 7
    assert stream[-2]["usage"] == {"output_tokens": 3}
    assert stream[-1]["type"] == "message_stop"
    _, again = await post(server, "messages", messages(begin))
    assert json.loads(again) == first
    assert [seen.token for seen in server.journal] == ["k3y"] * 3


async def test_a_session_with_openai_does_the_same(server: ModelServer) -> None:
    begin = [{"role": "user", "content": "<cwd>/w</cwd>"}, {"role": "user", "content": [{"text": "user search"}]}]
    _, text = await post(server, "responses", {"model": "m", "input": begin, "stream": True})
    stream = events(text)
    assert stream[0]["type"] == "response.created"
    whole = stream[-1]["response"]
    said, call = whole["output"]
    assert said["content"][0]["text"] == "I will write it."
    assert json.loads(call["arguments"])["file_path"] == "/w/a.py"
    history = [*begin, said, call, {"type": "function_call_output", "call_id": call["call_id"], "output": "ok"}]
    _, text = await post(server, "responses", {"model": "m", "input": history})
    answer = json.loads(text)
    assert answer["output"][0]["content"][0]["text"] == "Done."
    assert answer["usage"]["output_tokens"] == 3


async def test_an_answer_by_a_schema_is_a_tool_call_for_one_vendor_and_text_for_the_other(server: ModelServer) -> None:
    _, text = await post(server, "messages", messages("Review it."))
    assert json.loads(text)["content"][0]["name"] == "StructuredOutput"
    _, text = await post(server, "responses", {"model": "m", "input": "Review it."})
    assert json.loads(json.loads(text)["output"][0]["content"][0]["text"]) == {"verdict": "approve"}


@pytest.mark.parametrize("path", ["messages", "responses"])
async def test_a_status_comes_as_often_as_it_should_with_its_header(server: ModelServer, path: str) -> None:
    trouble = {"kind": "status", "status": 429, "retry_after": 2, "times": 2, "message": "slow down"}
    server.script = Script.of({"say": "Done.", "trouble": trouble})
    body = {"model": "m", "input": "x", "messages": [{"role": "user", "content": "x"}]}
    answers = [await post(server, path, body) for _ in range(3)]
    assert [status for status, _ in answers] == [429, 429, 200]
    assert json.loads(answers[0][1])["error"]["message"] == "slow down"
    assert [seen.answered for seen in server.journal] == [429, 429, 200]


@pytest.mark.parametrize("path", ["messages", "responses"])
async def test_a_cut_stream_ends_in_the_middle(server: ModelServer, path: str) -> None:
    server.script = Script.of({"trouble": {"kind": "cut"}})
    with pytest.raises(aiohttp.ClientPayloadError):
        await post(server, path, {"input": "x", "messages": [{"role": "user", "content": "x"}], "stream": True})


async def test_a_silent_server_does_not_answer_and_can_still_be_stopped() -> None:
    async with ModelServer(Script.of({"trouble": {"kind": "silent"}})) as server, aiohttp.ClientSession() as session:
        short = aiohttp.ClientTimeout(total=0.2)
        with pytest.raises(TimeoutError):
            await session.post(f"{server.url}/v1/messages", json=messages("x"), timeout=short)
        assert [seen.answered for seen in server.journal] == [0]


async def test_what_nobody_scripted_is_refused_and_noted(server: ModelServer) -> None:
    server.script = Script.read([{"for": "only this", "turns": [{"say": "x"}]}])
    status, _ = await post(server, "messages", messages("something else"))
    missing, _ = await post(server, "embeddings", {})
    assert (status, missing) == (400, 404)
    assert server.unscripted == ["something else", "POST /v1/embeddings"]


@pytest.mark.parametrize(
    ("scenes", "fault"),
    [
        ([{"turns": []}], "turns"),
        ([{"turns": [{"sey": "x"}]}], "sey"),
        ([{"turns": [{"trouble": {"kind": "sad"}}]}], "kind"),
        ([3], "dict"),
    ],
)
def test_a_script_with_a_fault_is_refused_with_its_place(scenes: list[Any], fault: str) -> None:
    with pytest.raises(Misconfigured, match=fault):
        Script.read(scenes)
