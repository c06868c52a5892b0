"""The output of a Codex run: its events as they stream, the result derived from them, and its usage.

`codex exec --json` prints one event per line. Events of kind `error` are notices, as of a request
that is tried again; only `turn.failed` is a failure, and only its text tells its class. Events name
tokens only when the turn completes, and neither the model nor money: those are in the record that Codex keeps
of its session, which survives a killed run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from shared.filesystem.directories import open_regular, walk
from shared.llm.cli.endings import DISABLED, answered, of_text, patterns
from shared.llm.cli.stream import Event
from shared.llm.port import Ending, RunOutcome, Usage
from shared.llm.prices import Prices, Tokens, count_of, usage_of
from shared.retry_times import later

MOST_DIGITS = 9
"""Digits of a number in a time, at most; a longer one is not read."""

_FAILURES = patterns(
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
"""Patterns of a failed turn's text, the first match counts; "high demand" stands for a plain 500."""

_AGAIN = re.compile(
    r"try again in (?:(\d+)\s?h(?:ours?)?)?\s?(?:(\d+)\s?m(?:in(?:ute)?s?)?(?!s))?\s?(?:(\d+(?:\.\d+)?)\s?(ms|s))?",
    re.IGNORECASE,
)
"""The time that a rate limit inside a stream names, as in `11.054s`, `6m0s` or `28ms`."""

_NO_SANDBOX = "bwrap:"
"""Prefix of the complaints of the sandbox's helper: then the command itself has never run."""


@dataclass(slots=True)
class Transcript:
    """The few facts of a run that decide its result; its size does not depend on the output."""

    thread: str = ""
    """The id of its session."""
    text: str = ""
    failure: str | None = None
    completed: bool = False
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Tokens of the whole turn; empty for a turn that failed."""
    commands: int = 0
    stillborn: int = 0
    """Commands that the sandbox did not start."""
    refused: list[str] = field(default_factory=list)
    """Files whose change failed."""

    def take(self, event: Event) -> None:
        """Record the facts of one event."""
        match event:
            case {"type": "thread.started", "thread_id": str(thread)}:
                self.thread = thread
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


def verdict(transcript: Transcript, last: str, *, structured: bool, now: datetime) -> RunOutcome | None:
    """Return the run's result; None if its turn never ended, so that only its exit code and stderr are left.

    `last` is the last message, from the file that the CLI was told to write it to. A rate limit counts from `now`.
    """
    if transcript.failure is not None:
        ending = of_text(_FAILURES, transcript.failure) or Ending.UNKNOWN
        wait = _wait(transcript.failure) if ending is Ending.OVERLOADED else None
        return RunOutcome(ending, _sentence(transcript.failure), retry_at=None if wait is None else later(now, wait))
    if not transcript.completed:
        return None
    if transcript.commands and transcript.stillborn == transcript.commands:
        return RunOutcome(Ending.CONFIG, "no command could begin: Codex cannot start its sandbox on this machine")
    notes = (f"failed changes of files: {', '.join(sorted(set(transcript.refused)))}",) if transcript.refused else ()
    return answered(last, _object(last), structured=structured, notes=notes)


def _wait(failure: str) -> float | None:
    found = _AGAIN.search(failure)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, count, unit = found.groups()
    if max(map(len, filter(None, (hours, minutes, count)))) > MOST_DIGITS:
        return None
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(count or 0) / (1000 if unit == "ms" else 1)


def _sentence(failure: str) -> str:
    """Return the message alone if the vendor's whole answer was printed."""
    error = (_object(failure) or {}).get("error")
    return str(error["message"]) if isinstance(error, dict) and error.get("message") else failure


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


SOURCE = "price list"
"""Source of a run's cost: our own list of prices, applied to the tokens that Codex counted."""

_LONGEST_LINE = 2**20
"""Bytes of a line of the record that are read; lines that count tokens are short."""

_MOST_BYTES = 64 * 2**20
"""Bytes of one record that are read."""

_LONGEST_PATH = 64
"""Bytes of a directory's path below `sessions`: a year, a month and a day."""

_MOST_FILES = 16
"""Records that are read, at most; a call has one, but its tools can write more."""

_MOST_ENTRIES = 10_000
"""Names that are searched for records, at most; a record hidden behind more leaves the run's cost unknown."""


@dataclass(frozen=True, slots=True)
class Record:
    """The model, and the tokens of each answered request, without requests that were cut off."""

    model: str
    requests: tuple[Tokens, ...]


def recorded(codex_home: Path) -> Record | None:
    """Read the session records in `codex_home`; None if there are none."""
    files = sorted(islice(_rollouts(codex_home), _MOST_FILES))
    if not files:
        return None
    model, requests = "", []
    for kind, payload in (entry for file in files for entry in _entries(file)):
        if kind == "turn_context":
            model = str(payload.get("model") or model)
        elif kind == "token_usage_record" and isinstance(payload.get("usage"), dict):
            requests.append(tokens(payload["usage"], model))
    return Record(model, tuple(requests))


SUMS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
"""Counts at the end of a turn; in a continued session they cover all its turns."""

REQUESTS = "requests"


def counted(record: Record | None, usage_fields: Mapping[str, Any]) -> dict[str, float]:
    """Return the counts of a session so far, which are counted again when it is continued."""
    return {name: float(count_of(usage_fields, name)) for name in SUMS} | {
        REQUESTS: len(record.requests) if record else 0
    }


def usage(
    record: Record | None, usage_fields: Mapping[str, Any], prices: Prices, before: Mapping[str, float] | None = None
) -> Usage:
    """Return tokens and cost; `usage_fields` is the turn's own sum, for a version that keeps no such record.

    `before` is the result of `counted` for a session that was continued: those tokens were paid for before.
    """
    before = before or {}
    model = record.model if record is not None else ""
    whole = record.requests if record is not None else ()
    requests = whole[int(before.get(REQUESTS, 0)) :]
    if not whole and usage_fields:
        requests = (tokens({name: count_of(usage_fields, name) - before.get(name, 0) for name in SUMS}, model),)
    costs = [prices.cost(request) for request in requests]
    priced = record is not None and None not in costs
    cost = sum(cost or 0.0 for cost in costs) if priced else None
    return usage_of(requests, model, cost, SOURCE if priced else "unknown")


def tokens(counted: Mapping[str, Any], model: str) -> Tokens:
    """Convert Codex's counts: it counts cached tokens, read or written, as input too, and reasoning as output."""
    cached, written = count_of(counted, "cached_input_tokens"), count_of(counted, "cache_write_input_tokens")
    fresh = max(count_of(counted, "input_tokens") - cached - written, 0)
    return Tokens(model=model, input=fresh, output=count_of(counted, "output_tokens"), cached=cached, written=written)


def _rollouts(codex_home: Path) -> Iterator[Path]:
    """Yield the session records; tools may have written anything there, so no link is followed."""
    root = codex_home / "sessions"
    if root.is_symlink() or codex_home.is_symlink():
        return
    for entry in islice(walk(root, deepest=len(os.fsencode(root)) + _LONGEST_PATH), _MOST_ENTRIES):
        if entry.name.startswith("rollout-") and entry.name.endswith(".jsonl"):
            yield Path(entry.path)


def _entries(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield kind and content of the relevant lines; a truncated last line is skipped, and no link is followed."""
    with suppress(OSError), open_regular(file) as lines:
        while lines.tell() < _MOST_BYTES and (line := lines.readline(_LONGEST_LINE)):
            if b'"token_usage_record"' not in line and b'"turn_context"' not in line:
                continue
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict) and isinstance(entry.get("payload"), dict):
                yield str(entry.get("type")), entry["payload"]
