"""Recordings of exchanges with a backend: written one file each, read back as the answers of a scenario.

A file is `NNNNNN-CALL.json`: the request, the outcome, and the whole files of the tree that the run has
changed. Failures of one call in a row become one answer that first fails as often.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shared.errors import Misconfigured
from shared.llm.port import Ending, Request, RunOutcome

VERSION = 1
"""Version of the files' format."""

PATTERN = "[0-9]*-*.json"
"""Pattern of the files' names."""


def written(request: Request, outcome: RunOutcome, edits: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> str:
    """Return one exchange as JSON text; `edits` are as in a scenario, `about` are facts that the recorder adds."""
    usage = outcome.usage
    exchange = {
        "v": VERSION,
        **about,
        "call": request.call,
        "item": request.item,
        "title": request.title,
        "body": request.body,
        "role": request.role,
        "attempt": request.attempt,
        "round": request.round,
        "retry": request.retry,
        "model": request.model or usage.model,
        "prompt": request.prompt,
        "schema": request.schema,
        "ending": outcome.ending,
        "text": outcome.text,
        "answer": outcome.answer,
        "edits": list(edits),
        "notes": list(outcome.notes),
        "usage": {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cached": usage.cached_tokens,
            "written": usage.cache_write_tokens,
            "usd": usage.cost_usd,
            "source": usage.cost_source,
        },
    }
    return json.dumps(exchange, indent=1, ensure_ascii=True) + "\n"


def tree_of(directory: Path, item: str) -> Path:
    """Return the path of the archive with the files that an item began with."""
    return directory / f"{''.join(character for character in item if character.isalnum()) or 'item'}.tar.gz"


def exchanges(directory: Path) -> list[dict[str, Any]]:
    """Return the exchanges recorded in `directory`, in their order; raise `Misconfigured` for what is no recording."""
    found = []
    for file in sorted(directory.glob(PATTERN)):
        try:
            exchange = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise Misconfigured(f"The recording {file} cannot be read: {error}.") from error
        if not isinstance(exchange, dict) or exchange.get("v") != VERSION:
            raise Misconfigured(f"{file} is no recording of this version: replay it with the version that made it.")
        found.append(exchange)
    if not found:
        raise Misconfigured(f"{directory} holds no recording: set llm.record to a directory and let an agent work.")
    return found


def scenario(found: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of the scenario that answers as the recorded backend did."""
    calls: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for one in found:
        key = tuple(one[name] for name in ("call", "title", "attempt", "round", "retry"))
        calls.setdefault(key, []).append(one)
    return json.dumps([_answer(same) for same in calls.values()], indent=1)


def _answer(same: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one call's entry: its last success, after as many failures as there were."""
    done = [one for one in same if one["ending"] == Ending.COMPLETED]
    failed = [one for one in same if one["ending"] != Ending.COMPLETED]
    last = (done or failed)[-1]
    entry: dict[str, Any] = {"call": last["call"], "for": last["title"]}
    entry |= {name: last[name] for name in ("attempt", "round", "retry")}
    if failed:
        entry["fails"] = failed[0]["ending"]
        if done:
            entry["times"] = len(failed)
    if not done:
        return entry | ({"text": last["text"]} if last["text"] else {})
    if last["answer"] is not None:
        entry["answer"] = last["answer"]
    elif last["text"]:
        entry["text"] = last["text"]
    if last["edits"]:
        entry["edits"] = last["edits"]
    return entry
