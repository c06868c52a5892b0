"""An ACK, the item that it locks, and the two lines by which a comment spells it (pure).

The first line is for people, the one below it for programs: `ack/3` in the one comment of a kind, `ack/2` in comments
of their own, of engines whose fences have format 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from shared.workflow import AGENTS, Role

FENCE_NAMESPACE = "refs/ack"
"""Namespace of the fences unless the server refuses custom namespaces (then `refs/heads/ack`)."""

UNKNOWN_PREV = -1
"""The predecessor of an ACK that does not name it in a known form: it counts as naming the holder at that time."""

OPAQUE_SECONDS = 7200
"""Longest timeout in seconds that is believed of an ACK that cannot be checked."""

STATES = ("active", "released", "done")
"""Words for the states of an ACK."""

FIRST_LINE = re.compile(r"ACK:(planner|worker|reviewer):([a-z0-9-]{1,64}):([0-9]{13})")
"""An ACK's first line: kind, agent, milliseconds."""

_UNWRITTEN = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ItemKey:
    """The locked item: an issue or pull request number, for one kind of agent."""

    kind: Role
    number: int

    def __post_init__(self) -> None:
        if self.kind not in AGENTS:
            raise ValueError(f"'{self.kind}' is not an agent")

    @property
    def ref(self) -> str:
        """The fence's ref, for example `refs/ack/worker/42`."""
        return f"{FENCE_NAMESPACE}/{self.kind}/{self.number}"


class AckState(StrEnum):
    """The state of an ACK by its writer's word."""

    ACTIVE = "active"
    RELEASED = "released"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Ack:
    """One ACK. `id`, `updated_at` come from the server; `opaque`: it cannot be verified (unknown key, other format).

    `shared`: it stands in the one comment of its kind, in which `revision` counts the edits; older ones have a
    comment of their own, name the ACK that they succeed (`prev`), and know no epoch.
    """

    key: ItemKey
    agent: str
    millis: int
    prev: int
    nonce: str
    ttl_seconds: int
    state: AckState = AckState.ACTIVE
    revision: int = 0
    id: int = 0
    updated_at: datetime = _UNWRITTEN
    opaque: bool = False
    epoch: int = 0
    shared: bool = True

    def live(self, at: datetime) -> bool:
        """Return whether it still holds at server time `at`."""
        return self.state is AckState.ACTIVE and at - self.updated_at < timedelta(seconds=self.ttl_seconds)


def first_line(kind: str, agent: str, millis: int) -> str:
    """Return the `ACK:` line; raises `ValueError` for one that nobody could read back."""
    text = f"ACK:{kind}:{agent}:{millis:013d}"
    if not FIRST_LINE.fullmatch(text):
        raise ValueError(f"no ACK can begin with {text!r}")
    return text


def read_first_line(text: str) -> tuple[str, str, int] | None:
    """Return kind, agent and milliseconds of an `ACK:` line; None for any other line."""
    found = FIRST_LINE.fullmatch(text)
    return None if found is None else (found[1], found[2], int(found[3]))


@dataclass(frozen=True, slots=True)
class Trailer:
    """The fields of `ack/2`. `opaque`: nothing can be checked, so it holds for somebody else until its timeout."""

    prev: int
    nonce: str
    state: str
    heartbeat: int
    ttl_seconds: int
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class TrailerFields:
    """The fields of `ack/3`. The body around it has the MAC, and the number of its edits."""

    epoch: int
    nonce: str
    state: str
    ttl_seconds: int


_LINE = re.compile(
    rf"<!-- ack/3 epoch=([0-9]{{1,9}}) nonce=([0-9a-f]{{32}}) state=({'|'.join(STATES)}) ttl=([0-9]{{1,8}})"
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


_FIELDS = {
    "prev": re.compile(r"[0-9]{1,19}"),
    "nonce": re.compile(r"[0-9a-f]{32}"),
    "state": re.compile("|".join(STATES)),
    "ttl": re.compile(r"[0-9]{1,8}"),
}
"""Known fields, and the values that are believed in a newer version's line."""

_PLAIN = {"prev": str(UNKNOWN_PREV), "nonce": "0" * 32, "state": "active", "ttl": "1800"}
"""Defaults for fields that a newer version does not have: nothing that could free the item early."""


def parse_foreign(line: str) -> Trailer:
    """Return the trailer of a newer version's line, by the fields that are known."""
    pairs = (word.partition("=") for word in line.split())
    said = {name: value for name, _, value in pairs if name in _FIELDS and _FIELDS[name].fullmatch(value)}
    known = _PLAIN | said
    ttl = min(int(known["ttl"]), OPAQUE_SECONDS)
    return Trailer(int(known["prev"]), known["nonce"], known["state"], 0, ttl, opaque=True)
