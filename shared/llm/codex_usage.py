"""What a run of Codex took: from the record that it keeps of its session, which also lives when the run is killed.

The events name tokens only when the turn completes, and neither the model nor money.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from shared.directories import open_regular, walk
from shared.llm.port import Usage
from shared.llm.prices import MOST_TOKENS, Prices, Tokens

SOURCE = "price list"
"""Who says what a run has cost: our own list of prices, by the tokens that Codex counted."""

_LONGEST_LINE = 2**20
"""Bytes of a line of the record that is read; those that count tokens are short."""

_MOST_BYTES = 64 * 2**20
"""Of one record, so much is read."""

_LONGEST_PATH = 64
"""Bytes of a directory's path below `sessions`: a year, a month and a day."""

_MOST_FILES = 16
"""A call has one record; its tools can write more."""

_MOST_ENTRIES = 10_000
"""Names among which it is looked for: whoever hides it behind more has a run of unknown cost."""


@dataclass(frozen=True, slots=True)
class Record:
    """The model, and what each answered request took; one that was cut off in the middle is not among them."""

    model: str
    requests: tuple[Tokens, ...]


def recorded(codex_home: Path) -> Record | None:
    """What the session records in `codex_home` say; None without one."""
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


def usage(record: Record | None, said: Mapping[str, Any], prices: Prices) -> Usage:
    """Tokens and money; `said` is the turn's own sum, for a version that keeps no such record."""
    model = record.model if record is not None else ""
    requests = record.requests if record is not None else ()
    if not requests and said:
        requests = (tokens(said, model),)
    costs = [prices.cost(one) for one in requests]
    known = record is not None and None not in costs
    return Usage(
        input_tokens=sum(one.input for one in requests),
        output_tokens=sum(one.output for one in requests),
        cached_tokens=sum(one.cached for one in requests),
        cache_write_tokens=sum(one.written for one in requests),
        model=model,
        cost_usd=sum(cost or 0.0 for cost in costs) if known else None,
        cost_source=SOURCE if known else "unknown",
    )


def tokens(counted: Mapping[str, Any], model: str) -> Tokens:
    """Codex counts what came from the cache, or went to it, as input too, and reasoning as output."""
    cached, written = _count(counted, "cached_input_tokens"), _count(counted, "cache_write_input_tokens")
    fresh = max(_count(counted, "input_tokens") - cached - written, 0)
    return Tokens(model=model, input=fresh, output=_count(counted, "output_tokens"), cached=cached, written=written)


def _rollouts(codex_home: Path) -> Iterator[Path]:
    """Where Codex keeps them; its tools may have written anything there, and no link is followed."""
    root = codex_home / "sessions"
    if root.is_symlink() or codex_home.is_symlink():
        return
    for entry in islice(walk(root, deepest=len(os.fsencode(root)) + _LONGEST_PATH), _MOST_ENTRIES):
        if entry.name.startswith("rollout-") and entry.name.endswith(".jsonl"):
            yield Path(entry.path)


def _entries(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Kind and content of the lines that matter; a last one that was cut off is none, and a link leads nowhere."""
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


def _count(part: Mapping[str, Any], key: str) -> int:
    value = part.get(key)
    return int(value) if isinstance(value, int | float) and 0 <= value <= MOST_TOKENS else 0
