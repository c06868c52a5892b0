"""Anthropic's Messages API: a request read, a turn written, whole or as a stream of events.

https://docs.anthropic.com/en/api/messages-streaming
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lab.model.script import ModelRequest, Turn, call_id, directory_in, event, turn_of

ANSWER_TOOL = "StructuredOutput"
"""The tool by which Claude Code wants an answer that fits a schema."""

_WHERE = re.compile(r"[Ww]orking directory: ([^\n]+)")

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def model_request(body: Mapping[str, Any]) -> ModelRequest:
    """Parse the body of a request."""
    messages = [message for message in body.get("messages", ()) if isinstance(message, dict)]
    blocks = [block for message in messages for block in _blocks(message.get("content"))]
    ids = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
    answers = sum(message.get("role") == "assistant" for message in messages)
    users = [message for message in messages if message.get("role") == "user"]
    text = _text(users[0].get("content")) if users else ""
    about = [_text(body.get("system")), *(_text(message.get("content")) for message in messages)]
    return ModelRequest(text, directory_in("\n".join(about), _WHERE), turn_of(ids, answers), body.get("stream") is True)


def message(turn: Turn, number: int, model: str) -> dict[str, Any]:
    """The whole answer."""
    content = [part for search in range(turn.usage.searches) for part in _search_blocks(f"srvtoolu_{number}_{search}")]
    content += [{"type": "text", "text": turn.say}] if turn.say else []
    calls = [(tool.name, tool.input) for tool in turn.tools]
    if turn.answer is not None:
        calls.append((ANSWER_TOOL, turn.answer))
    content += [
        {"type": "tool_use", "id": call_id("toolu", number, index), "name": name, "input": given}
        for index, (name, given) in enumerate(calls)
    ]
    return {
        "id": f"msg_lab_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": _stop_reason(turn, bool(calls)),
        "stop_sequence": None,
        "usage": _usage(turn),
    }


def events(turn: Turn, number: int, model: str) -> Iterator[bytes]:
    """The answer as server-sent events, in pieces that a connection may be cut between."""
    whole = message(turn, number, model)
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield event({"type": "message_start", "message": begun})
    for index, block in enumerate(whole["content"]):
        yield from _block(index, block)
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    usage = whole["usage"] if turn.usage.searches else {"output_tokens": turn.usage.output}
    yield event({"type": "message_delta", "delta": delta, "usage": usage})
    yield event({"type": "message_stop"})


def error(status: int, kind: str | None, text: str) -> dict[str, Any]:
    """The body of a refused request."""
    return {"type": "error", "error": {"type": kind or _TYPES.get(status, "api_error"), "message": text}}


def _block(index: int, block: Mapping[str, Any]) -> Iterator[bytes]:
    if block["type"] == "web_search_tool_result":
        yield event({"type": "content_block_start", "index": index, "content_block": block})
        yield event({"type": "content_block_stop", "index": index})
        return
    if block["type"] == "text":
        empty: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield event({"type": "content_block_start", "index": index, "content_block": empty})
    yield event({"type": "content_block_delta", "index": index, "delta": delta})
    yield event({"type": "content_block_stop", "index": index})


def _stop_reason(turn: Turn, calls: bool) -> str:
    if turn.refuses:
        return "refusal"
    if turn.cut_off:
        return "max_tokens"
    return "tool_use" if calls else "end_turn"


def _usage(turn: Turn) -> dict[str, Any]:
    return {
        "input_tokens": turn.usage.input,
        "cache_creation_input_tokens": turn.usage.written,
        "cache_read_input_tokens": turn.usage.cached,
        "output_tokens": turn.usage.output,
        "server_tool_use": {"web_search_requests": turn.usage.searches} if turn.usage.searches else None,
        "service_tier": "standard",
    }


def _search_blocks(name: str) -> list[dict[str, Any]]:
    """One search that the vendor has made, and what it found."""
    found = {
        "type": "web_search_result",
        "url": "https://docs.example",
        "title": "Docs",
        "encrypted_content": "Zm91bmQ=",
    }
    return [
        {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": "docs"}},
        {"type": "web_search_tool_result", "tool_use_id": name, "content": [found]},
    ]


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text(content: object) -> str:
    return "\n".join(str(block["text"]) for block in _blocks(content) if "text" in block)
