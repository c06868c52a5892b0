"""OpenAI's chat completions, which many servers speak: a request read, a turn written, whole or as a stream of chunks.

https://platform.openai.com/docs/api-reference/chat/create https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lab.model.script import ModelRequest, Turn, call_id, directory_in, turn_of

_WHERE = re.compile(r"[Ww]orking (?:in the )?directory: ([^\n]+)")

_TYPES = {401: "invalid_request_error", 403: "permission_error", 429: "rate_limit_exceeded"}


def model_request(body: Mapping[str, Any]) -> ModelRequest:
    """Parse the body of a request."""
    messages = [message for message in body.get("messages", ()) if isinstance(message, dict)]
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    ids = [str(call.get("id")) for call in calls if isinstance(call, dict)]
    said = sum(message.get("role") == "assistant" for message in messages)
    users = [text_of(message) for message in messages if message.get("role") == "user"]
    directory = directory_in("\n".join(map(text_of, messages)), _WHERE)
    turn = turn_of(ids, said if not ids else 0)
    return ModelRequest("\n".join(users), directory, turn, body.get("stream") is True)


def message(turn: Turn, number: int, model: str) -> dict[str, Any]:
    """The whole answer."""
    said = {"role": "assistant", "content": _answer_text(turn), "refusal": turn.say if turn.refuses else None}
    calls = _calls(turn, number)
    choice = {"index": 0, "message": {**said, **({"tool_calls": calls} if calls else {})}, "logprobs": None}
    return {
        "id": f"chatcmpl-lab-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{**choice, "finish_reason": _reason(turn)}],
        "usage": _usage(turn),
    }


def events(turn: Turn, number: int, model: str) -> Iterator[bytes]:
    """The answer as server-sent events, in pieces that a connection may be cut between."""
    head = {"id": f"chatcmpl-lab-{number}", "object": "chat.completion.chunk", "created": 0, "model": model}

    def chunk(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        return _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": None})

    yield chunk({"role": "assistant", "content": ""})
    said = _answer_text(turn)
    half = len(said) // 2
    for piece in filter(None, (said[:half], said[half:])):
        yield chunk({"content": piece})
    if turn.refuses:
        yield chunk({"refusal": turn.say})
    for index, call in enumerate(_calls(turn, number)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, _reason(turn))
    yield _event({**head, "choices": [], "usage": _usage(turn)})
    yield b"data: [DONE]\n\n"


def error(status: int, kind: str | None, text: str) -> dict[str, Any]:
    """The body of a refused request; some of OpenAI's errors are told apart by their `code` alone."""
    return {"error": {"message": text, "type": kind or _TYPES.get(status, "server_error"), "code": kind, "param": None}}


def _answer_text(turn: Turn) -> str:
    if turn.answer is not None:
        return json.dumps(turn.answer)
    return "" if turn.refuses else turn.say


def _calls(turn: Turn, number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": call_id("call", number, index),
            "type": "function",
            "function": {"name": tool.name, "arguments": json.dumps(tool.input)},
        }
        for index, tool in enumerate(turn.tools)
    ]


def _reason(turn: Turn) -> str:
    if turn.cut_off:
        return "length"
    return "tool_calls" if turn.tools else "stop"


def _event(data: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def _usage(turn: Turn) -> dict[str, Any]:
    tokens = turn.usage
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose content is one text or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
