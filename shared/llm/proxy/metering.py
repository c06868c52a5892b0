"""What one answered request took, read from its bytes as they pass: both vendors' streams and plain answers (pure).

Of an answer that was cut, what is missing is estimated, rather too much than too little.
https://docs.anthropic.com/en/api/messages-streaming https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shared.llm.prices import Tokens

BYTES_PER_TOKEN = 3
"""Fewer than vendors count on average, so that an estimate is not too low."""

LONGEST_LINE = 16 * 2**20
"""A longer line is not read: no event that counts is so long."""


class Meter:
    """Reads one answer of status 200; `total` may be asked at any time."""

    def __init__(self, model: str, request_bytes: int) -> None:
        self._tokens = Tokens(model=model)
        self._request_bytes = request_bytes
        self._line = bytearray()
        self._skipping = False
        self._said = 0
        self._begun = False
        self._whole = False

    def feed(self, chunk: bytes) -> None:
        """The next bytes, as they came."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            self._collect(part)
            self._take(bytes(self._line))
            self._line.clear()
            self._skipping = False
        self._collect(rest)

    def end(self) -> None:
        """The answer is over, complete or not."""
        self._take(bytes(self._line))
        self._line.clear()

    @property
    def whole(self) -> bool:
        """Whether the vendor has said what all of it took: cutting it now would save nothing."""
        return self._whole

    @property
    def total(self) -> Tokens:
        """What it took so far."""
        found = self._tokens
        if self._whole:
            return found
        if not self._begun:
            found = replace(found, input=self._request_bytes // BYTES_PER_TOKEN)
        return replace(found, output=max(found.output, self._said // BYTES_PER_TOKEN), estimated=True)

    def _collect(self, part: bytes) -> None:
        if len(self._line) + len(part) > LONGEST_LINE:
            self._skipping = True
            self._said += len(part)
            self._line.clear()
        elif not self._skipping:
            self._line += part

    def _take(self, line: bytes) -> None:
        text = line.removeprefix(b"data:").strip()
        if not text.startswith(b"{"):
            return
        try:
            event = json.loads(text)
        except ValueError:
            return
        if isinstance(event, dict):
            self._note(event)

    def _note(self, event: Mapping[str, Any]) -> None:
        match event:
            case {"type": "message_start", "message": {"usage": dict(usage), **message}}:
                self._anthropic(usage, message.get("model"))
            case {"type": "message_delta", "usage": dict(usage)}:
                self._anthropic(usage, None)
                self._whole = self._begun
            case {"type": "message", "usage": dict(usage), **message}:
                self._anthropic(usage, message.get("model"))
                self._whole = True
            case {"type": str(kind), "response": {"usage": dict(usage), **response}} if kind.startswith("response."):
                self._openai(usage, response.get("model"))
            case {"object": "response", "usage": dict(usage), **response}:
                self._openai(usage, response.get("model"))
            case {"delta": str(delta)}:
                self._said += len(delta.encode())
            case {"delta": dict(delta)}:
                self._said += sum(len(part.encode()) for part in delta.values() if isinstance(part, str))
            case _:
                return  # it takes nothing

    def _anthropic(self, usage: Mapping[str, Any], model: object) -> None:
        """Counts are totals of the request; a later event names those again that have grown."""
        old = self._tokens
        parts = usage.get("cache_creation")
        hour = _count(parts, "ephemeral_1h_input_tokens", 0) if isinstance(parts, dict) else old.written_hour
        written = _count(usage, "cache_creation_input_tokens", old.written + old.written_hour)
        self._tokens = Tokens(
            model=model if isinstance(model, str) and model else old.model,
            input=_count(usage, "input_tokens", old.input),
            output=_count(usage, "output_tokens", old.output),
            cached=_count(usage, "cache_read_input_tokens", old.cached),
            written=max(written - hour, 0),
            written_hour=hour,
        )
        self._begun = True

    def _openai(self, usage: Mapping[str, Any], model: object) -> None:
        """Its input includes what was cached; its output includes the reasoning."""
        details = usage.get("input_tokens_details")
        details = details if isinstance(details, dict) else {}
        cached, written = _count(details, "cached_tokens", 0), _count(details, "cache_write_tokens", 0)
        self._tokens = Tokens(
            model=model if isinstance(model, str) and model else self._tokens.model,
            input=max(_count(usage, "input_tokens", 0) - cached - written, 0),
            output=_count(usage, "output_tokens", 0),
            cached=cached,
            written=written,
        )
        self._begun = self._whole = True


def _count(part: Mapping[str, Any], key: str, otherwise: int) -> int:
    value = part.get(key)
    return int(value) if isinstance(value, int | float) and value >= 0 else otherwise
