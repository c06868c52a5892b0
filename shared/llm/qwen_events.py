"""The events of a Qwen Code run, as they stream, and the result derived from them (pure).

`--output-format stream-json` prints one event per line; unknown kinds and keys are ignored. A run that used up its
turns ends without a `result`. A failed request is a `result` whose only class is the status in its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shared.llm.cli.stream import Event, denied_calls
from shared.llm.port import DISABLED, Ending, RunOutcome, Usage
from shared.llm.prices import count_of

TURNS_USED_UP = 53
"""The exit code of a run that used up its turns."""

_WORDS = tuple(
    (re.compile(words, re.IGNORECASE), ending)
    for words, ending in (
        (r"instead of calling the structured_output tool|structured_output .*(?:fail|invalid)", Ending.MALFORMED),
        (r"ended with empty response text", Ending.EMPTY),
        (r"API Error: (?:\d+ )?(?:Content|prompt) .*(?:flagged|filter)", Ending.REFUSED),
        (DISABLED, Ending.AUTH),
        (
            r"insufficient_quota|exceeded your current quota|credit balance|insufficient balance",
            Ending.BILLING,
        ),
        (r"usage limit", Ending.USAGE_LIMIT),
        (r"API Error: 40[13]\b|invalid (?:api|x-api)[- ]key", Ending.AUTH),
        (r"API Error: 402\b", Ending.BILLING),
        (r"API Error: 404\b|model_not_found|\bmodel\b.* (?:does not exist|not found)", Ending.CONFIG),
        (r"API Error: (?:429|529)\b|rate limit", Ending.OVERLOADED),
        (
            r"API Error: (?:408|5\d\d)\b|connection|ended without a finish reason|time?d? ?out",
            Ending.TRANSIENT,
        ),
        (r"API Error: 4\d\d\b", Ending.PERSISTENT),
    )
)
"""Patterns of a failed run's text, the first match counts."""


@dataclass(slots=True)
class Transcript:
    """The few facts of a run that decide its result; its size does not depend on the output."""

    result: Event | None = None
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    """Usage of the requests so far, for a run that is ended before its result."""

    def take(self, event: Event) -> None:
        """Record the facts of one event."""
        match event:
            case {"type": "result"}:
                self.result = event
            case {"type": "system", "subtype": "init", "model": str(model)}:
                self.usage = replace(self.usage, model=model)
            case {"type": "assistant", "message": dict(message)}:
                self._read_message(message)
            case _:
                return  # of no consequence, or of a newer version

    def _read_message(self, message: Mapping[str, Any]) -> None:
        content, counted = message.get("content"), message.get("usage")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "text":
                self.text = str(block.get("text", ""))
        if isinstance(counted, dict):
            seen, known = _usage(counted, self.usage.model), self.usage
            self.usage = replace(
                known,
                input_tokens=known.input_tokens + seen.input_tokens,
                output_tokens=known.output_tokens + seen.output_tokens,
                cached_tokens=known.cached_tokens + seen.cached_tokens,
            )

    @property
    def usage_so_far(self) -> Usage:
        """Tokens of the run: from its result if there is one, else the tokens seen; without a price."""
        counted = None if self.result is None else self.result.get("usage")
        return _usage(counted, self.usage.model) if isinstance(counted, dict) else self.usage


def verdict(transcript: Transcript, *, code: int, structured: bool) -> RunOutcome | None:
    """Return the run's result; None if it ended without one, so that only its exit code and stderr are left."""
    result = transcript.result
    if result is None:
        return RunOutcome(Ending.MAX_TURNS, transcript.text) if code == TURNS_USED_UP else None
    notes = denied_calls(result)
    if result.get("is_error"):
        error = result.get("error")
        text = str(error.get("message") if isinstance(error, dict) else error or "the run failed")
        ending = next((ending for words, ending in _WORDS if words.search(text)), Ending.UNKNOWN)
        return RunOutcome(ending, _sentence(text) if ending is not Ending.MALFORMED else transcript.text, notes=notes)
    text = str(result.get("result") or "")
    if structured:
        answer = result.get("structured_result")
        if not isinstance(answer, dict):
            return RunOutcome(Ending.MALFORMED, text, notes=notes)
        return RunOutcome(Ending.COMPLETED, json.dumps(answer), answer, notes=notes)
    if not text.strip():
        return RunOutcome(Ending.EMPTY, "it ended without saying anything", notes=notes)
    return RunOutcome(Ending.COMPLETED, text, notes=notes)


def _sentence(text: str) -> str:
    """Return a failure without the brackets around it."""
    found = re.fullmatch(r"\[API Error: (.*)\]", text, re.DOTALL)
    return found[1] if found else text


def _usage(counted: Mapping[str, Any], model: str) -> Usage:
    """Convert the counts; cached tokens are counted as input too."""
    cached = count_of(counted, "cache_read_input_tokens")
    fresh = max(count_of(counted, "input_tokens") - cached, 0)
    return Usage(fresh, count_of(counted, "output_tokens"), cached, model=model)
