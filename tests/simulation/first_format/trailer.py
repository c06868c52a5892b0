"""The second line of an ACK: data for programs, written by any version of the engine (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNKNOWN_PREV = -1
"""Predecessor of an ACK whose own is not readable: it counts as naming the holder of its time."""

OPAQUE_SECONDS = 7200
"""Longest timeout, in seconds, that is believed of an ACK that cannot be checked."""

_VERSION = 2

_STATES = ("active", "released", "done")

# Digits are ASCII and bounded: a comment can hold more of them than `int` and `timedelta` take.
_OURS = re.compile(
    rf"<!-- ack/{_VERSION} prev=([0-9]{{1,19}}) nonce=([0-9a-f]{{32}}) state=({'|'.join(_STATES)}) "
    r"hb=([0-9]{1,9}) ttl=([0-9]{1,8})(?: [a-z][a-z0-9_]*=[^\s<>]*)*? mac=\S* -->"
)
"""Unknown fields may follow ours: other versions of the engine write and read them."""

_NEWER = re.compile(r"<!-- ack/([1-9][0-9]{0,3})(?: [^<>]*)? -->")

_FIELDS = {
    "prev": re.compile(r"[0-9]{1,19}"),
    "nonce": re.compile(r"[0-9a-f]{32}"),
    "state": re.compile("|".join(_STATES)),
    "ttl": re.compile(r"[0-9]{1,8}"),
}
"""Values that are believed of a newer version's field of the same name."""

_PLAIN = {"prev": str(UNKNOWN_PREV), "nonce": "0" * 32, "state": "active", "ttl": "1800"}
"""Values for fields that a newer version does not have: none of them could free the item early."""


@dataclass(frozen=True, slots=True)
class Trailer:
    """The fields. `opaque`: nothing of it can be checked, so it holds for somebody else until its timeout."""

    prev: int
    nonce: str
    state: str
    heartbeat: int
    ttl_seconds: int
    opaque: bool = False


LEGACY = Trailer(prev=0, nonce="0" * 32, state="active", heartbeat=0, ttl_seconds=1800, opaque=True)
"""The trailer that stands for an ACK of its first line alone: no predecessor, never renewed."""


def spell(trailer: Trailer) -> str | None:
    """The line, with an empty MAC; None for one that nobody could read back."""
    line = (
        f"<!-- ack/{_VERSION} prev={trailer.prev} nonce={trailer.nonce} state={trailer.state} "
        f"hb={trailer.heartbeat} ttl={trailer.ttl_seconds} mac= -->"
    )
    return line if _OURS.fullmatch(line) else None


def parse(line: str) -> Trailer | None:
    """The trailer that a line spells: ours, or a newer version's, which is opaque; None when it spells none."""
    found = _OURS.fullmatch(line)
    if found is not None:
        return Trailer(int(found[1]), found[2], found[3], int(found[4]), int(found[5]))
    newer = _NEWER.fullmatch(line)
    return _foreign(line) if newer is not None and int(newer[1]) > _VERSION else None


def _foreign(line: str) -> Trailer:
    pairs = (word.partition("=") for word in line.split())
    said = {name: value for name, _, value in pairs if name in _FIELDS and _FIELDS[name].fullmatch(value)}
    known = _PLAIN | said
    ttl = min(int(known["ttl"]), OPAQUE_SECONDS)
    return Trailer(int(known["prev"]), known["nonce"], known["state"], 0, ttl, opaque=True)
