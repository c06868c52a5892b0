"""The line below an ACK's first: the part for programs, of any version of the engine (pure).

`ack/2` stands in comments of their own, of engines whose fences have format 1; `ack/3` in the one comment of a kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

UNKNOWN_PREV = -1
"""The predecessor of an ACK that does not name it in a known form: it counts as naming the holder at that time."""

OPAQUE_SECONDS = 7200
"""Longest timeout in seconds that is believed of an ACK that cannot be checked."""

_VERSION = 2

_STATES = ("active", "released", "done")

# Digits are ASCII and bounded: a comment can hold more of them than `int` and `timedelta` take.
_OURS = re.compile(
    rf"<!-- ack/{_VERSION} prev=([0-9]{{1,19}}) nonce=([0-9a-f]{{32}}) state=({'|'.join(_STATES)}) "
    r"hb=([0-9]{1,9}) ttl=([0-9]{1,8})(?: [a-z][a-z0-9_]*=[^\s<>]*)*? mac=\S* -->"
)
"""Unknown fields may follow ours: only the version that wrote them knows their meaning."""

_NEWER = re.compile(r"<!-- ack/([1-9][0-9]{0,3})(?: [^<>]*)? -->")

_FIELDS = {
    "prev": re.compile(r"[0-9]{1,19}"),
    "nonce": re.compile(r"[0-9a-f]{32}"),
    "state": re.compile("|".join(_STATES)),
    "ttl": re.compile(r"[0-9]{1,8}"),
}
"""Known fields, and the values that are believed in a newer version's line."""

_PLAIN = {"prev": str(UNKNOWN_PREV), "nonce": "0" * 32, "state": "active", "ttl": "1800"}
"""Defaults for fields that a newer version does not have: nothing that could free the item early."""


@dataclass(frozen=True, slots=True)
class Trailer:
    """The fields of `ack/2`. `opaque`: nothing can be checked, so it holds for somebody else until its timeout."""

    prev: int
    nonce: str
    state: str
    heartbeat: int
    ttl_seconds: int
    opaque: bool = False


LEGACY = Trailer(prev=0, nonce="0" * 32, state="active", heartbeat=0, ttl_seconds=1800, opaque=True)
"""The trailer of an ACK of the first format, its first line alone: no predecessor, never renewed."""


@dataclass(frozen=True, slots=True)
class TrailerFields:
    """The fields of `ack/3`. The body around it has the MAC, and the number of its edits."""

    epoch: int
    nonce: str
    state: str
    ttl_seconds: int


_LINE = re.compile(
    rf"<!-- ack/3 epoch=([0-9]{{1,9}}) nonce=([0-9a-f]{{32}}) state=({'|'.join(_STATES)}) ttl=([0-9]{{1,8}})"
    r"(?: [a-z][a-z0-9_]*=[^\s<>]*)*? -->"
)


def spell_line(line: TrailerFields) -> str:
    """Return the `ack/3` line; raises `ValueError` for one that nobody could read back."""
    text = f"<!-- ack/3 epoch={line.epoch} nonce={line.nonce} state={line.state} ttl={line.ttl_seconds} -->"
    if not _LINE.fullmatch(text):
        raise ValueError(f"no ACK can be written as {text!r}")
    return text


def parse_line(text: str) -> TrailerFields | None:
    """Return the fields of an `ack/3` line; None for any other line."""
    found = _LINE.fullmatch(text)
    return None if found is None else TrailerFields(int(found[1]), found[2], found[3], int(found[4]))


def parse(line: str) -> Trailer | None:
    """Return the trailer that a line spells: ours, or a newer version's, which is opaque; None if it spells none."""
    found = _OURS.fullmatch(line)
    if found is not None:
        return Trailer(int(found[1]), found[2], found[3], int(found[4]), int(found[5]))
    newer = _NEWER.fullmatch(line)
    return parse_foreign(line) if newer is not None and int(newer[1]) > _VERSION else None


def parse_foreign(line: str) -> Trailer:
    """Return the trailer of a newer version's line, by the fields that are known."""
    pairs = (word.partition("=") for word in line.split())
    said = {name: value for name, _, value in pairs if name in _FIELDS and _FIELDS[name].fullmatch(value)}
    known = _PLAIN | said
    ttl = min(int(known["ttl"]), OPAQUE_SECONDS)
    return Trailer(int(known["prev"]), known["nonce"], known["state"], 0, ttl, opaque=True)
