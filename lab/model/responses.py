"""OpenAI's Responses API: a request read, a turn written, whole or as a stream of events.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lab.model.chat import error, text_of
from lab.model.script import ModelRequest, Turn, call_id, directory_in, event, turn_of

__all__ = ["error", "events", "message", "model_request"]

_WHERE = re.compile(r"<cwd>([^<\n]+)</cwd>")


def model_request(body: Mapping[str, Any]) -> ModelRequest:
    """Parse the body of a request."""
    given = body.get("input")
    items = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    ids = [str(item.get("call_id")) for item in items if item.get("type") in {"function_call", "custom_tool_call"}]
    answers = sum(item.get("role") == "assistant" for item in items)
    texts = [text_of(item) for item in items if item.get("role") == "user"]
    text = given if isinstance(given, str) else "\n".join(texts)
    turn = turn_of(ids, answers if not ids else 0)
    return ModelRequest(text, directory_in(text, _WHERE), turn, body.get("stream") is True)


def message(turn: Turn, number: int, model: str) -> dict[str, Any]:
    """The whole answer."""
    unfinished = {"reason": "max_output_tokens"} if turn.cut_off else None
    return {
        "id": f"resp_lab_{number}",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if turn.cut_off else "completed",
        "incomplete_details": unfinished,
        "error": None,
        "model": model,
        "output": _items(turn, number),
        "usage": _usage(turn),
    }


def events(turn: Turn, number: int, model: str) -> Iterator[bytes]:
    """The answer as server-sent events, in pieces that a connection may be cut between."""
    whole = message(turn, number, model)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield event({"type": "response.created", "response": begun})
    for index, item in enumerate(whole["output"]):
        yield event({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            text = {"item_id": item["id"], "output_index": index, "content_index": 0, "delta": turn.say}
            yield event({"type": "response.output_text.delta", **text})
        yield event({"type": "response.output_item.done", "output_index": index, "item": item})
    yield event({"type": f"response.{whole['status']}", "response": whole})


def _items(turn: Turn, number: int) -> list[dict[str, Any]]:
    text = json.dumps(turn.answer) if turn.answer is not None else turn.say
    search = {"action": {"type": "search", "query": "docs"}}
    items = [_item("web_search_call", number, 200 + index, **search) for index in range(turn.usage.searches)]
    if text:
        said = {"type": "output_text", "text": text, "annotations": []}
        part = {"type": "refusal", "refusal": text} if turn.refuses else said
        items.append(_item("message", number, 99, role="assistant", content=[part]))
    for index, tool in enumerate(turn.tools):
        about = {"call_id": call_id("call", number, index), "name": tool.name}
        if isinstance(tool.input, str):
            items.append(_item("custom_tool_call", number, index, **about, input=tool.input))
        else:
            items.append(_item("function_call", number, index, **about, arguments=json.dumps(tool.input)))
    return items


def _item(kind: str, turn: int, number: int, **rest: object) -> dict[str, Any]:
    return {"type": kind, "id": f"item_lab_{turn}_{number}", "status": "completed", **rest}


def _usage(turn: Turn) -> dict[str, Any]:
    tokens = turn.usage
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens.input + tokens.output,
    }
