"""The events of a mini-swe-agent run, as it goes, and the result derived from them (pure).

Each message of the run is one line, as mini-swe-agent keeps it in its trajectory; the last has the role `exit` and
the reason. Unknown kinds and keys are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shared.llm.cli.endings import DISABLED, of_status, of_text, patterns
from shared.llm.cli.stream import Event
from shared.llm.port import Ending, RunOutcome, Usage
from shared.llm.prices import count_of

_WORDS = patterns(
    (DISABLED, Ending.AUTH),
    (r"insufficient_quota|exceeded your current quota|credit balance|insufficient balance", Ending.BILLING),
    (r"usage limit", Ending.USAGE_LIMIT),
    (r"invalid (?:api|x-api)[- ]key", Ending.AUTH),
    (r"model_not_found|\bmodel\b.* (?:does not exist|not found)", Ending.CONFIG),
    (r"content_filter|content_policy|flagged", Ending.REFUSED),
)
"""Patterns of a refused request, the first match counts; they go before its status, which many servers choose badly."""


@dataclass(slots=True)
class Transcript:
    """The few facts of a run that decide its result; its size does not depend on the output."""

    exit: Event | None = None
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    """Usage of the requests so far, without a price."""

    def take(self, event: Event) -> None:
        """Record the facts of one event."""
        match event:
            case {"type": "run", "model": str(model)}:
                self.usage = replace(self.usage, model=model)
            case {"type": "message", "role": role}:
                self._read_message(role, event)
            case _:
                return  # of no consequence, or of a newer version

    def _read_message(self, role: object, event: Event) -> None:
        counted, said = event.get("usage"), event.get("content") if role == "assistant" else event.get("said")
        if isinstance(counted, dict):
            self.usage = self.usage.plus(_usage(counted))
        if isinstance(said, str) and said.strip():
            self.text = said
        if role == "exit":
            self.exit = event


def verdict(transcript: Transcript, *, structured: bool) -> RunOutcome | None:
    """Return the run's result; None if it printed no end, so that only its exit code and stderr are left."""
    match transcript.exit:
        case None:
            return None
        case {"exit_status": "Submitted"} as told:
            return _submitted_outcome(told, transcript.text, structured=structured)
        case {"exit_status": "LimitsExceeded"}:
            return RunOutcome(Ending.MAX_TURNS, transcript.text)
        case {"exit_status": "Declined"} as told:
            return RunOutcome(Ending.REFUSED, str(told.get("content")))
        case {"exit_status": "RepeatedFormatError"}:
            if structured or transcript.text:
                return RunOutcome(Ending.MALFORMED, transcript.text)
            return RunOutcome(Ending.EMPTY, "it ended without saying anything")
        case {"exit_status": "Refused" | "Failed"} as told:
            return _failed_outcome(told)
        case told:
            return RunOutcome(Ending.UNKNOWN, f"{told.get('exit_status')}: {told.get('content')}")


def _submitted_outcome(event: Event, text: str, *, structured: bool) -> RunOutcome:
    answer = event.get("answer")
    if not structured:
        return RunOutcome(Ending.COMPLETED, str(event.get("content")))
    if not isinstance(answer, dict):
        return RunOutcome(Ending.MALFORMED, text)
    return RunOutcome(Ending.COMPLETED, json.dumps(answer), answer)


def _failed_outcome(event: Event) -> RunOutcome:
    status, text, kind = event.get("status"), str(event.get("content")), str(event.get("kind", ""))
    if not isinstance(status, int):
        return RunOutcome(Ending.TRANSIENT, text)
    return RunOutcome(of_text(_WORDS, f"{text} {kind}") or of_status(status), f"{status} {text}")


def _usage(counted: Mapping[str, Any]) -> Usage:
    """Convert the counts of a request; cached tokens are part of its input count."""
    details = counted.get("prompt_tokens_details")
    cached = count_of(details, "cached_tokens") if isinstance(details, dict) else 0
    fresh = max(count_of(counted, "prompt_tokens") - cached, 0)
    return Usage(fresh, count_of(counted, "completion_tokens"), cached)
