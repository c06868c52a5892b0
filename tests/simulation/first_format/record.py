"""The record in a fence: the state of one epoch as a commit message, read and written (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from shared.workflow import Stage

from .codec import ItemKey

REMEMBERED = 64
"""Records whose parsed form is cached: the same fences are read over and over, and parsing is pure."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Reason why an item rests, and the latest server time of the next look at it."""

    reason: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Fence:
    """One epoch's state. `oid` is its commit; `paid_runs` were begun, `failures` met since something was last achieved.

    `branch` is the work branch, where it has not the usual name; `backend` the coder that a person has asked for;
    `more` are trailers of one agent's own, or of a newer version; who does not know them only carries them on.
    """

    key: ItemKey
    ack_id: int
    nonce: str
    agent: str
    stage: Stage
    at: datetime
    phase: str = ""
    base: str = ""
    work_head: str = ""
    pr: int = 0
    attempt: int = 0
    round: int = 0
    paid_runs: int = 0
    body_sha256: str = ""
    approved_by: str = ""
    wait: Wait | None = None
    failures: str = ""
    next_role: str = ""
    branch: str = ""
    backend: str = ""
    more: tuple[tuple[str, str], ...] = ()
    oid: str = ""


def write_fence(fence: Fence) -> str:
    """The commit message of a fence."""
    wait = f"{fence.wait.reason}; until={_time(fence.wait.until)}" if fence.wait else ""
    trailers = {
        "Engine-Fence": "1",
        "Ack-Id": str(fence.ack_id),
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


_TEXTS = ("phase", "base", "work_head", "body_sha256", "approved_by", "failures", "next_role", "branch", "backend")
_COUNTS = ("pr", "attempt", "round", "paid_runs")
"""Fields of a fence that may be missing."""

_NEEDED = ("engine_fence", "ack_id", "nonce", "agent", "stage", "wait", "at")
_NAMES = {one: one.replace("_", "-").title() for one in (*_NEEDED, *_TEXTS, *_COUNTS)} | {"paid_runs": "Runs"}
"""The trailer of each field; that of `work_head` is `Work-Head`."""

_KNOWN = frozenset(_NAMES.values())
_NAME = re.compile(r"[A-Z][A-Za-z0-9-]{0,63}")


@lru_cache(maxsize=REMEMBERED)
def read_fence(key: ItemKey, oid: str, message: str) -> Fence | None:
    """The fence that a commit message spells; None when it is not one of ours."""
    lines = (line.partition(": ") for line in message.splitlines())
    trailers = {name: value.strip() for name, _, value in lines if value}
    if trailers.get("Engine-Fence") != "1":
        return None
    try:
        optional: dict[str, Any] = {one: trailers.get(_NAMES[one], "") for one in _TEXTS}
        optional |= {one: int(trailers.get(_NAMES[one], "0")) for one in _COUNTS}
        return Fence(
            key=key,
            ack_id=int(trailers["Ack-Id"]),
            nonce=trailers["Nonce"],
            agent=trailers["Agent"],
            stage=Stage(trailers["Stage"]),
            at=_read_time(trailers["At"]),
            wait=_read_wait(trailers.get("Wait", "")),
            more=tuple((n, value) for n, value in trailers.items() if n not in _KNOWN and _NAME.fullmatch(n) and value),
            oid=oid,
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
