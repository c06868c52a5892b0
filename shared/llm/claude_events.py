"""The events of a Claude Code run, as they stream, and the result derived from them (pure).

`--output-format stream-json` prints one event per line; unknown kinds and keys are ignored, because
they differ between versions. The `result` event is neither always there nor always the last line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from shared.llm.cli.endings import DISABLED, answered, denied_calls, of_status
from shared.llm.cli.stream import LINE_CAP, Event
from shared.llm.port import Ending, RunOutcome, Usage, plausible_usd
from shared.llm.prices import MOST_TOKENS, count_of
from shared.retry_times import since_1970

SOURCE = "claude"
"""Source of a run's cost: the CLI itself, from its own list of prices."""

_SUBTYPES = {
    "error_max_turns": Ending.MAX_TURNS,
    "error_max_budget_usd": Ending.MAX_BUDGET,
    "error_max_structured_output_retries": Ending.MALFORMED,
}
"""Results that are errors of the run and not of a request."""

_ERRORS = {
    "authentication_failed": Ending.AUTH,
    "billing_error": Ending.BILLING,
    "rate_limit": Ending.OVERLOADED,
    "overloaded": Ending.OVERLOADED,
    "server_error": Ending.TRANSIENT,
    "model_not_found": Ending.CONFIG,
    "max_output_tokens": Ending.PERSISTENT,
    "invalid_request": Ending.PERSISTENT,
}
"""The CLI's own words for a failed request."""

_DISABLED = re.compile(DISABLED, re.IGNORECASE)
_OUT_OF_CREDIT = re.compile(r"credit balance|billing", re.IGNORECASE)
_LIMIT_REACHED = re.compile(r"(?:hit|reached) your (?:\w+ ){0,3}limit|usage limit", re.IGNORECASE)
_RESET = re.compile(r"limit reached\|(\d{9,11})")
"""A subscription's limit; older versions put the time of its reset behind a bar, in seconds since 1970."""


@dataclass(slots=True)
class Transcript:
    """The few facts of a run that decide its result; its size does not depend on the output."""

    result: Event | None = None
    model: str = ""
    error: str = ""
    """The class of the last failed request, in the CLI's words."""
    status: int | None = None
    """The HTTP status of the last request that was tried again."""
    resets_at: datetime | None = None
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    """Usage of the requests so far, for a run that is ended before its result."""
    first_cached: int = 0
    """Tokens that its first request read from the vendor's cache."""
    context: int = 0
    """Length of the session in tokens, by its newest request and answer."""

    def take(self, event: Event) -> None:
        """Record the facts of one event."""
        match event:
            case {"type": "result"}:
                self.result = event
            case {"type": "system", "subtype": "init", "model": str(model)}:
                self.model = model
            case {"type": "system", "subtype": "api_retry"}:
                self.error = str(event.get("error") or "")
                status = event.get("error_status")
                self.status = status if isinstance(status, int) else None
            case {"type": "assistant", "message": dict(message)}:
                self._read_message(message, event.get("error"))
            case {"type": "stream_event", "event": {"type": "message_start", "message": {"usage": dict(usage)}}}:
                self._begin_request(usage)
            case {"type": "stream_event", "event": {"type": "message_delta", "usage": dict(usage)}}:
                output = count_of(usage, "output_tokens")
                self.context += output
                self.usage = replace(self.usage.plus(Usage(output_tokens=output)), model=self.model)
            case {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": int(at)}}:
                self.resets_at = since_1970(at)
            case _:
                return  # of no consequence, or of a newer version

    def _read_message(self, message: Mapping[str, Any], error: object) -> None:
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "text":
                self.text = str(block.get("text", ""))
        if isinstance(error, str):
            self.error = error

    def _begin_request(self, usage: Mapping[str, Any]) -> None:
        cached, written = count_of(usage, "cache_read_input_tokens"), count_of(usage, "cache_creation_input_tokens")
        prompt = Usage(count_of(usage, "input_tokens"), cached_tokens=cached, cache_write_tokens=written)
        if not self.context:
            self.first_cached = cached
        self.context = cached + prompt.input_tokens + written
        self.usage = replace(self.usage.plus(prompt), model=self.model)

    @property
    def usage_so_far(self) -> Usage:
        """Tokens and cost of the run: from its result if there is one, else the tokens seen, without a cost."""
        if self.result is None:
            return self.usage
        cost = plausible_usd(self.result.get("total_cost_usd"))
        models = self.result.get("modelUsage")
        named = models.items() if isinstance(models, dict) else ()
        parts = {name: part for name, part in named if isinstance(part, dict)}
        return Usage(
            input_tokens=sum(count_of(part, "inputTokens") for part in parts.values()),
            output_tokens=sum(count_of(part, "outputTokens") for part in parts.values()),
            cached_tokens=sum(count_of(part, "cacheReadInputTokens") for part in parts.values()),
            cache_write_tokens=sum(count_of(part, "cacheCreationInputTokens") for part in parts.values()),
            model=max(parts, key=lambda name: _number(parts[name].get("costUSD")), default=self.model),
            cost_usd=cost,
            cost_source="unknown" if cost is None else SOURCE,
        )


def uncounted(session: bytes) -> bytes:
    """Remove the cost sums of a session's runs from its file, so that a run that continues it is counted by itself.

    2.1.330 keeps them there and continues them, 2.1.202 does not. Its tools can write the file: lines that are not
    JSON for Python are removed, too, because the CLI may read them. Empty if it is no session.
    """
    lines = session.split(b"\n")
    if max(map(len, lines)) > LINE_CAP:
        return b""
    return b"".join(line + b"\n" for line in lines if _belongs(line))


def _belongs(line: bytes) -> bool:
    try:
        entry = json.loads(line.decode("utf-8", "replace"), parse_int=float)
    except (ValueError, RecursionError):
        return False
    return b"\r" not in line and isinstance(entry, dict) and entry.get("type") != "cost-state"


def verdict(transcript: Transcript, *, structured: bool) -> RunOutcome | None:
    """Return the run's result; None if it ended without one, so that only its exit code and stderr are left."""
    result = transcript.result
    if result is None:
        return None
    subtype = result.get("subtype")
    text = str(result.get("result") or "")
    if subtype != "success":
        errors = result.get("errors")
        text = "; ".join(map(str, errors if isinstance(errors, list) else ())) or str(subtype)
        return RunOutcome(_SUBTYPES.get(str(subtype), Ending.UNKNOWN), text)
    if result.get("stop_reason") == "refusal":
        return RunOutcome(Ending.REFUSED, text)
    if result.get("is_error"):
        return _classify_failure(transcript, result, text)
    return answered(text, result.get("structured_output"), structured=structured, notes=denied_calls(result))


def _classify_failure(transcript: Transcript, result: Event, text: str) -> RunOutcome:
    """Classify a request that failed for good: by its status first, then by the CLI's word for it."""
    status = result.get("api_error_status")
    status = status if isinstance(status, int) else None
    reset = _RESET.search(text)
    resets_at = transcript.resets_at if reset is None else since_1970(int(reset[1]))
    if resets_at is not None or _LIMIT_REACHED.search(text):
        return RunOutcome(Ending.USAGE_LIMIT, text, retry_at=resets_at)
    if _DISABLED.search(text):
        return RunOutcome(Ending.AUTH, text)
    if transcript.error == "billing_error" or (status in {400, 403} and _OUT_OF_CREDIT.search(text)):
        return RunOutcome(Ending.BILLING, text)
    if status is None and transcript.status == 529:
        status = 529  # 2.1.197 reports no status after it has met several of these
    ending = _ERRORS.get(transcript.error) if status is None else of_status(status)
    if ending is None and text.startswith("API Error:"):
        ending = Ending.TRANSIENT  # no status and no word for it: an answer that was no answer
    return RunOutcome(ending or Ending.UNKNOWN, text)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value <= MOST_TOKENS else 0.0
