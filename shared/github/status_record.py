"""The part of a status comment that stays whatever else it says: commands given, and what was ignored (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.text import neutralise, one_line

KEPT = ("commands", "ignored")
"""Keys of the data that later status comments carry on."""

MOST = 20
"""So many entries of each kind are kept, the newest; what is older belongs to stages that are over."""

SHOWN = 5
"""So many commands are told to people."""

_BEGIN, _END = "<!-- commands -->", "<!-- end of commands -->"
_DETAILS = "\n<details><summary>For programs</summary>\n"

Record = Mapping[str, Sequence[Mapping[str, Any]]]
"""`commands`: `{id, by, command, outcome}`; `ignored`: `{id, why}`."""


def read(body: str) -> Mapping[str, Any]:
    """What a body of ours says to programs: its last JSON block, in which no line can begin with a back quote."""
    block = body.replace("\r\n", "\n").rpartition("\n```json\n")[2].partition("\n```")[0]
    return json.loads(block) if block.startswith("{") else {}


def kept(body: str) -> Record:
    """The record that a body carries."""
    data = read(body)
    return {key: data[key] for key in KEPT if data.get(key)}


def merged(old: Record, new: Record) -> Record:
    """Both, each entry once by its comment, the newest last. What was dropped because it is too old stays so."""
    found = {}
    for key in KEPT:
        before = list(old.get(key, ()))
        entries = {one["id"]: one for one in (*before, *_fresh(before, new.get(key, ())))}
        if entries:
            found[key] = list(entries.values())[-MOST:]
    return found


def dropped_below(ids: Sequence[Any]) -> int:
    """The id below which a list of entries with these ids may have dropped older ones; 0 while it has room.

    Ids are those of comments; an entry about an edited comment has a name instead.
    """
    numbers = (id for id in ids if isinstance(id, int))
    return min(numbers, default=0) if len(ids) >= MOST else 0


def added(data: Mapping[str, Any], record: Record, *, older: bool = False) -> Mapping[str, Any]:
    """Data with another record in it, which is newer than its own unless it is `older`."""
    own = {key: data[key] for key in KEPT if data.get(key)}
    return {**data, **(merged(record, own) if older else merged(own, record))}


def _fresh(before: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    known = [one["id"] for one in before]
    oldest = dropped_below(known)
    for one in new:
        if one["id"] in known or not isinstance(one["id"], int) or one["id"] > oldest:
            yield one


def end(data: Mapping[str, Any]) -> list[str]:
    """The last lines of a body: commands for people, then everything for programs."""
    lines = list(_told(data))
    if lines:
        lines = ["", _BEGIN, *lines, _END]
    if data:
        text = json.dumps(data, indent=1, sort_keys=True, default=str)
        lines += ["", *_DETAILS.strip("\n").split("\n"), "", "```json", text, "```", "", "</details>"]
    return lines


def beginning(body: str) -> str:
    """A body of ours without its first line and without `end`."""
    text = body.replace("\r\n", "\n").partition("\n")[2]
    for mark in (f"\n{_BEGIN}\n", _DETAILS):
        text = text.partition(mark)[0]
    return text.rstrip("\n")


def _told(data: Mapping[str, Any]) -> Iterator[str]:
    for one in list(data.get("commands", ()))[-SHOWN:]:
        said = one_line(str(one.get("outcome", "")), 200)
        where = f" (comment {one['id']})" if isinstance(one.get("id"), int) else ""
        yield f"- `{one.get('command')}` by {one.get('by')}{where}: {neutralise(said)}"
    reasons: dict[str, list[str]] = {}
    for one in data.get("ignored", ()):
        reasons.setdefault(str(one.get("why", "")), []).append(str(one.get("id")))
    for why, which in reasons.items():
        yield f"- Ignored: comment {', '.join(which[-SHOWN:])}: {neutralise(one_line(why, 160))}"
