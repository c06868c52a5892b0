"""The lasting part of a status comment: commands given, and comments that were ignored (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.text import neutralise, one_line

KEPT = ("commands", "ignored")
"""Keys of the data that later status comments carry on."""

MOST = 20
"""Most entries of each kind that are kept, the newest; older ones belong to stages that are over."""

SHOWN = 5
"""Most commands that are shown to people."""

_BEGIN, _END = "<!-- commands -->", "<!-- end of commands -->"
_DETAILS = "\n<details><summary>For programs</summary>\n"
"""The beginning of the collapsed part in older engines' status comments."""

Record = Mapping[str, Sequence[Mapping[str, Any]]]
"""`commands`: `{id, by, command, outcome}`; `ignored`: `{id, why}`."""


def read(body: str) -> Mapping[str, Any]:
    """Return the data in a body of ours: its last JSON block, in which no line can begin with a back quote."""
    block = f"\n{body}".replace("\r\n", "\n").rpartition("\n```json\n")[2].partition("\n```")[0]
    return json.loads(block) if block.startswith("{") else {}


def read_record(body: str) -> Record:
    """Return the record in a body."""
    data = read(body)
    return {key: data[key] for key in KEPT if data.get(key)}


def merged(old: Record, new: Record) -> Record:
    """Return both, each entry once by its comment, the newest last. Entries dropped for their age stay dropped."""
    found = {}
    for key in KEPT:
        before = list(old.get(key, ()))
        entries = {one["id"]: one for one in (*before, *_fresh(before, new.get(key, ())))}
        if entries:
            found[key] = list(entries.values())[-MOST:]
    return found


def dropped_below(ids: Sequence[Any]) -> int:
    """Return the id below which a list of entries with these ids may have dropped older ones; 0 while it has room.

    Ids are those of comments; an entry about an edited comment has a name instead.
    """
    numbers = (id for id in ids if isinstance(id, int))
    return min(numbers, default=0) if len(ids) >= MOST else 0


def added(data: Mapping[str, Any], record: Record, *, older: bool = False) -> Mapping[str, Any]:
    """Return data with another record in it, which is newer than its own unless it is `older`."""
    own = {key: data[key] for key in KEPT if data.get(key)}
    return {**data, **(merged(record, own) if older else merged(own, record))}


def _fresh(before: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    known = [one["id"] for one in before]
    oldest = dropped_below(known)
    for one in new:
        if one["id"] in known or not isinstance(one["id"], int) or one["id"] > oldest:
            yield one


def record_text(data: Mapping[str, Any]) -> str:
    """Return the latest commands with their outcomes, and ignored comments, for people; empty without any."""
    lines = list(_record_lines(data))
    return "\n".join([_BEGIN, *lines, _END]) if lines else ""


def machine_readable(data: Mapping[str, Any]) -> str:
    """Return all data, for programs."""
    return f"```json\n{json.dumps(data, indent=1, sort_keys=True, default=str)}\n```" if data else ""


def without_record_text(text: str) -> str:
    """Return the text for people, without the part of `record_text`."""
    before, _, rest = text.partition(_BEGIN)
    return f"{before.rstrip()}{rest.rpartition(_END)[2]}".strip("\n")


def beginning(body: str) -> str:
    """Return the text for people in an older engine's status comment; `body` lacks its first line."""
    text = f"\n{body}"
    for mark in (f"\n{_BEGIN}\n", _DETAILS):
        text = text.partition(mark)[0]
    return text.strip("\n")


def _record_lines(data: Mapping[str, Any]) -> Iterator[str]:
    for entry in list(data.get("commands", ()))[-SHOWN:]:
        said = one_line(str(entry.get("outcome", "")), 200)
        place = f" (comment {entry['id']})" if isinstance(entry.get("id"), int) else ""
        yield f"- `{entry.get('command')}` by {entry.get('by')}{place}: {neutralise(said)}"
    reasons: dict[str, list[str]] = {}
    for entry in data.get("ignored", ()):
        reasons.setdefault(str(entry.get("why", "")), []).append(str(entry.get("id")))
    for reason, which in reasons.items():
        yield f"- Ignored: comment {', '.join(which[-SHOWN:])}: {neutralise(one_line(reason, 160))}"
