"""What Codex says of a run, as it streams, and what a run has led to (pure).

`codex exec --json` prints one event per line. Events of kind `error` are notices, as of a request
that is tried again; only `turn.failed` is a failure, and its class stands nowhere but in its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.llm.cli.stream import Event
from shared.llm.port import DISABLED, Ending

MOST_DIGITS = 9
"""A time with more is not read."""

_FAILURES = tuple(
    (re.compile(words, re.IGNORECASE), ending)
    for words, ending in (
        (r"\binvalid_prompt\b|prompt was flagged", Ending.REFUSED),
        (DISABLED, Ending.AUTH),
        (r"401 Unauthorized|403 Forbidden|Missing environment variable|(?:log|sign) in again", Ending.AUTH),
        (r"usage limit", Ending.USAGE_LIMIT),
        (r"Quota exceeded|402 Payment Required", Ending.BILLING),
        (
            r"429 Too Many Requests|rate_limit_exceeded|Rate limit reached|at capacity|unexpected status 529",
            Ending.OVERLOADED,
        ),
        (r"404 Not Found|model_not_found|\bmodel\b.* does not exist", Ending.CONFIG),
        (r"high demand|unexpected status (?:5|408)|stream disconnected|Connection failed", Ending.TRANSIENT),
        (r"idle timeout|timed out|timeout waiting", Ending.TRANSIENT),
        (r"unexpected status 4|invalid_request_error|max_output_tokens|context window", Ending.PERSISTENT),
    )
)
"""The words of a failed turn, the first that fits; "high demand" is what a plain 500 is called."""

_AGAIN = re.compile(
    r"try again in (?:(\d+)\s?h(?:ours?)?)?\s?(?:(\d+)\s?m(?:in(?:ute)?s?)?(?!s))?\s?(?:(\d+(?:\.\d+)?)\s?(ms|s))?",
    re.IGNORECASE,
)
"""How a limit inside of a stream names its time, as in `11.054s`, `6m0s` or `28ms`."""

_NO_SANDBOX = "bwrap:"
"""What the sandbox's helper begins its complaints with: then the command itself has never run."""


@dataclass(slots=True)
class Transcript:
    """The few facts of a run that decide, however much it says."""

    text: str = ""
    failure: str | None = None
    completed: bool = False
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Tokens of the whole turn; nothing is said of one that failed."""
    commands: int = 0
    stillborn: int = 0
    """Commands that the sandbox did not let begin."""
    refused: list[str] = field(default_factory=list)
    """Files whose change failed."""

    def take(self, event: Event) -> None:
        """Note what one event says."""
        match event:
            case {"type": "item.completed", "item": {"type": "agent_message", "text": str(text)}}:
                self.text = text
            case {"type": "item.completed", "item": {"type": "command_execution", **item}}:
                self.commands += 1
                said = str(item.get("aggregated_output") or "")
                self.stillborn += item.get("status") == "failed" and said.startswith(_NO_SANDBOX)
            case {"type": "item.completed", "item": {"type": "file_change", "status": "failed", "changes": list(all)}}:
                self.refused += [str(one.get("path", "?")) for one in all if isinstance(one, dict)]
            case {"type": "turn.completed"}:
                self.completed = True
                usage = event.get("usage")
                self.usage = usage if isinstance(usage, dict) else {}
            case {"type": "turn.failed"}:
                error = event.get("error")
                self.failure = str(error.get("message") if isinstance(error, dict) else error or "the turn failed")
            case _:
                return  # of no consequence, or of a newer version


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run ended that ended by itself; `answer` is the structured one, `text` what was said last."""

    ending: Ending
    text: str
    answer: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    wait_seconds: float | None = None
    """After how long a rate limit is over, where it names a time."""


def verdict(transcript: Transcript, last: str, *, structured: bool) -> Verdict | None:
    """What the run has led to; None when its turn never ended, so that only its exit and stderr are left.

    `last` is the last message, from the file that the CLI was told to write it to.
    """
    if transcript.failure is not None:
        ending = _class_of(transcript.failure)
        wait = _wait(transcript.failure) if ending is Ending.OVERLOADED else None
        return Verdict(ending, _sentence(transcript.failure), wait_seconds=wait)
    if not transcript.completed:
        return None
    if transcript.commands and transcript.stillborn == transcript.commands:
        return Verdict(Ending.CONFIG, "no command could begin: Codex cannot start its sandbox on this machine")
    notes = (f"failed changes of files: {', '.join(sorted(set(transcript.refused)))}",) if transcript.refused else ()
    if structured:
        answer = _object(last)
        return Verdict(Ending.COMPLETED if answer is not None else Ending.MALFORMED, last, answer, notes)
    if not last.strip():
        return Verdict(Ending.EMPTY, "it ended without saying anything", notes=notes)
    return Verdict(Ending.COMPLETED, last, notes=notes)


def _class_of(failure: str) -> Ending:
    return next((ending for words, ending in _FAILURES if words.search(failure)), Ending.UNKNOWN)


def _wait(failure: str) -> float | None:
    found = _AGAIN.search(failure)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, count, unit = found.groups()
    if max(map(len, filter(None, (hours, minutes, count)))) > MOST_DIGITS:
        return None
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(count or 0) / (1000 if unit == "ms" else 1)


def _sentence(failure: str) -> str:
    """The message alone, where the vendor's whole answer was printed."""
    error = (_object(failure) or {}).get("error")
    return str(error["message"]) if isinstance(error, dict) and error.get("message") else failure


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
