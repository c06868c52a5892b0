"""The usage of one answered request, read from its bytes as they pass: the vendors' streams and plain answers (pure).

An answer that did not report its usage, cut or not, counts as the most that its request could cost.
https://docs.anthropic.com/en/api/messages-streaming https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shared.llm.prices import Tokens, count_of

BYTES_PER_TOKEN = 3
"""Fewer than vendors count on average; estimates the part of an answer that has passed so far."""

LARGEST_OUTPUT = 128_000
"""Tokens of one answer, reasoning included: no listed model gives more."""

LARGEST_PROMPT = 1_100_000
"""Tokens that a model reads at a time: no listed one reads more."""

LONGEST_LINE = 16 * 2**20
"""Bytes of a line, or of a plain answer, that are read: nothing that counts is longer."""

FINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
"""OpenAI's last events; only they report the usage of the whole answer."""


@dataclass(frozen=True, slots=True)
class RequestBound:
    """The most that one request can take: `prompt` and `output` in tokens.

    `uses` of the vendor's own tools make as many rounds more, of which each may read and answer the most;
    `searches` of them cost by their number.
    """

    model: str
    prompt: int
    output: int = LARGEST_OUTPUT
    uses: int = 0
    searches: int = 0

    @property
    def most_prompt(self) -> int:
        """Tokens read in all rounds together: what a tool of the vendor finds has no limit."""
        return (self.uses + 1) * max(LARGEST_PROMPT, self.prompt) if self.uses else self.prompt

    @property
    def most_output(self) -> int:
        """Tokens answered in all rounds together."""
        return (self.uses + 1) * self.output


class UsageMeter:
    """Reads one answer of status 200; `total` and `most` may be asked at any time."""

    def __init__(self, request_bound: RequestBound) -> None:
        self._request_bound = request_bound
        self._tokens = Tokens(model=request_bound.model)
        self._line = bytearray()
        self._data: list[bytes] = []
        self._plain = bytearray()
        self._is_plain: bool | None = None
        self._skipping = False
        self._output_bytes = 0
        self._begun = False
        self._used = 0
        self.whole = False
        """True if the vendor has reported the usage of the whole answer."""
        self.failed = False
        """True if the vendor reported inside the answer that it cannot be completed."""
        self.finished = False
        """True if a chat completion has given its reason to end."""

    def feed(self, chunk: bytes) -> None:
        """Read the next bytes, as they came."""
        if self._is_plain is None and (begin := chunk.lstrip()):
            self._is_plain = begin.startswith(b"{")
        if self._is_plain:
            self._output_bytes += len(chunk)
            self._plain += chunk[: LONGEST_LINE - len(self._plain)]
            return
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            self._collect(part)
            self._end_line()
        self._collect(rest)

    def end(self) -> None:
        """Process the end of the answer, complete or not."""
        if self._is_plain:
            self._take(bytes(self._plain))
            self._plain.clear()
        self._end_line()
        self._end_event()

    @property
    def worth_cutting(self) -> bool:
        """True if cutting the answer now may save cost: a cut answer never reports the usage of the vendor's tools."""
        return not self.whole and not self._request_bound.uses

    @property
    def total(self) -> Tokens:
        """The usage so far, as far as can be seen; hidden reasoning cannot."""
        found = self._tokens
        if self.whole:
            return found
        if not self._begun:
            found = replace(found, input=self._request_bound.prompt // BYTES_PER_TOKEN)
        said = max(found.output, self._output_bytes // BYTES_PER_TOKEN)
        return replace(found, output=said, searches=min(self._used, self._request_bound.searches), estimated=True)

    @property
    def most(self) -> tuple[Tokens, ...]:
        """The largest possible usage, one of these: it is unknown how the prompt's tokens are charged."""
        if self.whole:
            return (self._tokens,)
        bound = self._request_bound
        output = max(self._tokens.output, bound.most_output, self._output_bytes // BYTES_PER_TOKEN)
        found = replace(self._tokens, output=output, searches=bound.searches, estimated=True)
        if self._begun and not bound.uses:
            return (found,)
        return replace(found, input=bound.most_prompt), replace(found, written_hour=bound.most_prompt)

    def _collect(self, part: bytes) -> None:
        if len(self._line) + len(part) > LONGEST_LINE:
            self._skipping = True
            self._output_bytes += len(part)
            self._line.clear()
        elif not self._skipping:
            self._line += part

    def _end_line(self) -> None:
        """Process one line of an event stream; an event's data may have several lines, and ends with an empty one."""
        line = bytes(self._line).rstrip(b"\r")
        self._line.clear()
        self._skipping = False
        if line.startswith(b"data:"):
            self._data.append(line.removeprefix(b"data:"))
            if sum(map(len, self._data)) > LONGEST_LINE:
                self._data.clear()
        elif not line:
            self._end_event()

    def _end_event(self) -> None:
        if self._data:
            self._take(b"\n".join(self._data))
            self._data.clear()

    def _take(self, text: bytes) -> None:
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            return
        if isinstance(event, dict):
            self._used += _uses(event)
            self._note(event)

    def _note(self, event: Mapping[str, Any]) -> None:
        match event:
            case {"type": "message_start", "message": {"usage": dict(usage), **message}}:
                self._anthropic(usage, message.get("model"))
            case {"type": "message_delta", "usage": dict(usage)}:
                self._anthropic(usage, None)
                # The first count is that of the first round.
                known = not self._used or _has_counts(usage, "input_tokens")
                self.whole = self._begun and known and _has_counts(usage, "output_tokens")
            case {"type": "message", "usage": dict(usage), **message}:
                self._anthropic(usage, message.get("model"))
                self.whole = self._begun and _has_counts(usage, "input_tokens", "output_tokens")
            case {"type": str(kind), "response": {"usage": dict(usage), **response}} if kind in FINAL:
                self.failed |= kind == "response.failed"
                self._openai(usage, response)
            case {"type": "error" | "response.failed"}:
                self.failed = True
            case {"object": "response", "usage": dict(usage), **response}:
                self._openai(usage, response)
            case {"delta": str(delta)}:
                self._output_bytes += len(delta.encode())
            case {"delta": dict(delta)}:
                self._output_bytes += sum(len(part.encode()) for part in delta.values() if isinstance(part, str))
            case _:
                self._chat(event)

    def _anthropic(self, usage: Mapping[str, Any], model: object) -> None:
        """Note Anthropic's counts: totals of the request; a later event repeats those that have grown."""
        old = self._tokens
        parts = usage.get("cache_creation")
        hour = count_of(parts, "ephemeral_1h_input_tokens", 0) if isinstance(parts, dict) else old.written_hour
        written = count_of(usage, "cache_creation_input_tokens", old.written + old.written_hour)
        self._tokens = Tokens(
            model=model if isinstance(model, str) and model else old.model,
            input=count_of(usage, "input_tokens", old.input),
            output=count_of(usage, "output_tokens", old.output),
            cached=count_of(usage, "cache_read_input_tokens", old.cached),
            written=max(written - hour, 0),
            written_hour=hour,
            searches=self._searches(usage),
        )
        self._begun = self._begun or (_has_counts(usage, "input_tokens") and self._is_plausible(self._tokens))

    def _chat(self, event: Mapping[str, Any]) -> None:
        """Note a chunk, or a plain answer; some servers count in every chunk, and only the last count is complete."""
        self.failed |= isinstance(event.get("error"), dict)
        choices = event.get("choices")
        if not isinstance(choices, list):
            return  # it takes nothing
        parts = [choice for choice in choices if isinstance(choice, dict)]
        self._output_bytes += sum(map(_length, (choice.get("delta") for choice in parts)))
        self.finished |= any(choice.get("finish_reason") for choice in parts)
        usage = event.get("usage")
        if not isinstance(usage, dict) or not _has_counts(usage, "prompt_tokens", "completion_tokens"):
            return
        model, details = event.get("model"), usage.get("prompt_tokens_details")
        hit = count_of(usage, "prompt_cache_hit_tokens", 0)
        cached = count_of(details, "cached_tokens", hit) if isinstance(details, dict) else hit
        found = Tokens(
            model=model if isinstance(model, str) and model else self._tokens.model,
            input=max(count_of(usage, "prompt_tokens", 0) - cached, 0),
            output=count_of(usage, "completion_tokens", 0),
            cached=cached,
        )
        if not self._is_plausible(found):
            return
        self._tokens = found
        self._begun = True
        self.whole = all(choice.get("finish_reason") for choice in parts)

    def _searches(self, usage: Mapping[str, Any]) -> int:
        """Return the vendor's count of searches; without one the most, but 0 if no tool was used."""
        told = usage.get("server_tool_use")
        unknown = self._request_bound.searches if self._used else 0
        return count_of(told if isinstance(told, dict) else {}, "web_search_requests", unknown)

    def _openai(self, usage: Mapping[str, Any], response: Mapping[Any, Any]) -> None:
        """Note OpenAI's counts: input includes cached tokens; output includes reasoning, and lists the searches."""
        model, items = response.get("model"), response.get("output")
        searches = max(self._used, _count_items(items, "web_search_call"))
        details = usage.get("input_tokens_details")
        details = details if isinstance(details, dict) else {}
        cached, written = count_of(details, "cached_tokens", 0), count_of(details, "cache_write_tokens", 0)
        if not _has_counts(usage, "input_tokens", "output_tokens"):
            return
        found = Tokens(
            model=model if isinstance(model, str) and model else self._tokens.model,
            input=max(count_of(usage, "input_tokens", 0) - cached - written, 0),
            output=count_of(usage, "output_tokens", 0),
            cached=cached,
            written=written,
            searches=searches if isinstance(items, list) else max(searches, self._request_bound.searches),
        )
        if not self._is_plausible(found):
            return
        self._tokens = found
        self._begun = self.whole = True

    def _is_plausible(self, found: Tokens) -> bool:
        """Return whether counts can be true: some servers report zeros where they count nothing."""
        return found.prompt > 0 or self._request_bound.prompt == 0


def _uses(event: Mapping[str, Any]) -> int:
    """Return the number of uses of a vendor's tool in an event, or in a plain answer of Anthropic's."""
    match event:
        case {"type": "content_block_start", "content_block": {"type": "server_tool_use"}}:
            return 1
        case {"type": "response.output_item.done", "item": {"type": "web_search_call"}}:
            return 1
        case {"type": "message", "content": list(content)}:
            return _count_items(content, "server_tool_use")
        case _:
            return 0


def _count_items(items: object, kind: str) -> int:
    return sum(isinstance(one, dict) and one.get("type") == kind for one in items) if isinstance(items, list) else 0


def _length(delta: object) -> int:
    """Return the bytes of text in a piece of an answer: text, reasoning, tool calls."""
    found, waiting = 0, [delta]
    while waiting:
        one = waiting.pop()
        found += len(one.encode()) if isinstance(one, str) else 0
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return found


def _has_counts(usage: Mapping[str, Any], *keys: str) -> bool:
    return all(count_of(usage, key, -1) >= 0 for key in keys)
