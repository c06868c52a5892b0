"""The fence: the state of one epoch as a commit message, read and written (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from shared.lock.codec import FENCE_NAMESPACE, ItemKey
from shared.workflow import Role, Stage

REMEMBERED = 64
"""Size of the cache of parsed records: the same fences are looked at over and over, and reading is pure."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Reason why an item rests, and the server time at which it is looked at again at the latest."""

    reason: str
    until: datetime


SAME: Final = Wait("as before", datetime.max.replace(tzinfo=UTC))
"""The wait of a `FenceChange` that leaves the fence's wait as it is."""


@dataclass(frozen=True, slots=True)
class Fence:
    """One epoch's state."""

    key: ItemKey
    ack_id: int
    """The comment that shows the lock (0: none was recorded yet); of `format` 1 the epoch's own ACK."""
    nonce: str
    """Name of the epoch."""
    agent: str
    stage: Stage
    at: datetime
    """Time at which it last came to another state."""
    phase: str = ""
    base: str = ""
    work_head: str = ""
    pr: int = 0
    attempt: int = 0
    round: int = 0
    paid_runs: int = 0
    """Number of runs that were begun since the last progress."""
    body_sha256: str = ""
    approved_by: str = ""
    wait: Wait | None = None
    failures: str = ""
    """Failures that were met since the last progress."""
    next_role: str = ""
    branch: str = ""
    """The work branch, if it has not the usual name."""
    backend: str = ""
    """The coder that a person has asked for."""
    more: tuple[tuple[str, str], ...] = ()
    """Trailers of one agent's own, or of a newer version; agents that do not know them only carry them on."""
    oid: str = ""
    """Its commit."""
    epoch: int = 0
    """Grows by one with each claim, and shows when an older value of the ref was put back."""
    released: str = ""
    """Nonce of the released epoch."""
    seen: int = 0
    """Highest comment id that was read before this epoch began."""
    seen_before: int = 0
    """Highest comment id that was read before the previous epoch began."""
    posted: int = 0
    """Number of comments asked for since one was last recorded."""
    alive: datetime | None = None
    """A later sign of life of its holder than `at`."""
    format: int = 2

    @property
    def free(self) -> bool:
        """True if its holder has released it. A release of another nonce frees nobody."""
        return self.format > 1 and self.released == self.nonce

    @property
    def stamped(self) -> datetime:
        """Time of its holder's last sign of life in the fence itself."""
        return self.at if self.alive is None else max(self.at, self.alive)

    @property
    def epoch_name(self) -> str:
        """Name of the epoch in logs, events and commits, the beginning of its nonce."""
        return self.nonce[:12]

    @property
    def position(self) -> int:
        """Highest comment id that was there to be read before the epoch began."""
        return self.seen if self.format > 1 else self.ack_id

    @property
    def position_before(self) -> int | None:
        """Highest comment id from before the previous epoch; None if the fence does not tell."""
        return self.seen_before if self.format > 1 else None


@dataclass(frozen=True, slots=True)
class FenceChange:
    """A step's change of its fence: a field that is None stays as it is, and so does `wait` if it is `SAME`."""

    stage: Stage | None = None
    phase: str | None = None
    base: str | None = None
    work_head: str | None = None
    pr: int | None = None
    attempt: int | None = None
    round: int | None = None
    paid_runs: int | None = None
    body_sha256: str | None = None
    approved_by: str | None = None
    wait: Wait | None = SAME
    failures: str | None = None
    next_role: str | None = None
    branch: str | None = None
    backend: str | None = None
    more: tuple[tuple[str, str], ...] | None = None

    @property
    def progress(self) -> bool:
        """True if something was achieved: runs and failures are counted anew, a wait is over."""
        return any(one is not None for one in (self.stage, self.phase, self.work_head, self.attempt))

    def of(self, fence: Fence) -> Fence:
        """Return `fence` with this change."""
        said: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__ if name != "wait"}
        wait = fence.wait if self.wait is SAME else self.wait
        return replace(fence, wait=wait, **{name: value for name, value in said.items() if value is not None})


def write_fence(fence: Fence) -> str:
    """Return the commit message of a fence."""
    wait = f"{fence.wait.reason}; until={_time(fence.wait.until)}" if fence.wait else ""
    trailers = {
        "Engine-Fence": str(fence.format),
        **(_of_lock(fence) if fence.format > 1 else {"Ack-Id": str(fence.ack_id)}),
        "Nonce": fence.nonce,
        "Agent": fence.agent,
        "Stage": fence.stage,
        "Phase": fence.phase,
        "Base": fence.base,
        "Work-Head": fence.work_head,
        "Pr": str(fence.pr or ""),
        "Attempt": str(fence.attempt),
        "Round": str(fence.round),
        "Runs": str(fence.paid_runs or ""),
        "Body-Sha256": fence.body_sha256,
        "Approved-By": fence.approved_by,
        "Wait": wait,
        "Failures": fence.failures,
        "Next-Role": fence.next_role,
        "Branch": fence.branch,
        "Backend": fence.backend,
        "At": _time(fence.at),
        **dict(fence.more),
    }
    lines = [f"{name}: {' '.join(value.split())}" for name, value in trailers.items() if value]
    return f"{fence.key.kind} #{fence.key.number} {fence.stage}\n\n" + "\n".join(lines) + "\n"


def _of_lock(fence: Fence) -> dict[str, str]:
    """Return the trailers that only format 2 has."""
    return {
        "Epoch": str(fence.epoch),
        "Ack-Id": str(fence.ack_id or ""),
        "Released": fence.released,
        "Seen": str(fence.seen or ""),
        "Seen-Before": str(fence.seen_before or ""),
        "Posted": str(fence.posted or ""),
        "Alive": _time(fence.alive) if fence.alive else "",
    }


FORMATS = frozenset({"1", "2"})
"""Readable formats. Format 1 is that of engines whose every claim had a comment of its own, which was its epoch."""

_TEXTS = (
    "phase",
    "base",
    "work_head",
    "body_sha256",
    "approved_by",
    "failures",
    "next_role",
    "branch",
    "backend",
)
_COUNTS = ("pr", "attempt", "round", "paid_runs", "epoch", "seen", "seen_before", "posted")
"""Fields of a fence that may be missing."""

_NEEDED = ("engine_fence", "ack_id", "nonce", "agent", "stage", "wait", "at")
_FIELDS = (*_NEEDED, *_TEXTS, *_COUNTS, "released", "alive")
_NAMES = {one: one.replace("_", "-").title() for one in _FIELDS} | {"paid_runs": "Runs"}
"""The trailer of each field; that of `work_head` is `Work-Head`."""

_KNOWN = frozenset(_NAMES.values())
_NAME = re.compile(r"[A-Z][A-Za-z0-9-]{0,63}")


def read_fences(kind: Role, refs: Mapping[str, tuple[str, str]]) -> list[Fence]:
    """Return the fences of one kind of agent among refs with commits and messages, without those of newer versions.

    A claim of an item whose fence this version cannot read is refused.
    """
    prefix, fences = f"{FENCE_NAMESPACE}/{kind}/", []
    for ref, (oid, message) in refs.items():
        name = ref.removeprefix(prefix)
        fence = read_fence(ItemKey(kind, int(name)), oid, message) if name.isdecimal() else None
        if fence is not None:
            fences.append(fence)
    return fences


@lru_cache(maxsize=REMEMBERED)
def read_fence(key: ItemKey, oid: str, message: str) -> Fence | None:
    """Return the fence that a commit message spells; None if it is not one of ours."""
    lines = (line.partition(": ") for line in message.splitlines())
    trailers = {name: value.strip() for name, _, value in lines if value}
    if trailers.get("Engine-Fence") not in FORMATS:
        return None
    try:
        number = int(trailers["Engine-Fence"])
        optional: dict[str, Any] = {one: trailers.get(_NAMES[one], "") for one in (*_TEXTS, "released")}
        optional |= {one: int(trailers.get(_NAMES[one], "0")) for one in _COUNTS}
        return Fence(
            key=key,
            ack_id=int(trailers["Ack-Id"] if number == 1 else trailers.get("Ack-Id", "0")),
            nonce=trailers["Nonce"],
            agent=trailers["Agent"],
            stage=Stage(trailers["Stage"]),
            at=_read_time(trailers["At"]),
            alive=_read_time(alive) if (alive := trailers.get("Alive", "")) else None,
            wait=_read_wait(trailers.get("Wait", "")),
            more=tuple((n, value) for n, value in trailers.items() if n not in _KNOWN and _NAME.fullmatch(n) and value),
            oid=oid,
            format=number,
            **optional,
        )
    except (KeyError, ValueError):
        return None


def _read_wait(text: str) -> Wait | None:
    reason, _, until = text.rpartition("; until=")
    return Wait(reason, _read_time(until)) if until else None


def _read_time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"'{text}' does not say which zone it means")
    return at


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
