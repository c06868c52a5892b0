"""The acts of a life: who plays, and how one sees that an act is over."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from crash_life import Life

from lab import locks
from shared.workflow import Role

STORY, ISSUE, PULL, PENDING = 1, 2, 3, 4
"""Numbers of the story, of its specification, of the pull request, and of the issue about a pending test."""


def shows(life: Life, number: int, stage: str) -> bool:
    """Return whether a thread exists and shows this stage alone; the one before is removed after it is set."""
    thread = life.repository.issues.records.get(number)
    return thread is not None and [one for one in thread.labels if one.startswith("status:")] == [f"status:{stage}"]


def is_open(life: Life, number: int) -> bool:
    """Return whether a thread is open."""
    return life.repository.issues.require(number).open


def free(life: Life) -> bool:
    """Return whether nobody holds a lock; the lock of a dead agent has expired."""
    return not locks.held(life.repository, datetime.fromtimestamp(life.lab.clock.now(), UTC))


def _planned(life: Life) -> bool:
    return shows(life, STORY, "specified") and shows(life, ISSUE, "ready") and free(life)


def _handed_over(life: Life) -> bool:
    return shows(life, ISSUE, "reviewing") and shows(life, PULL, "reviewing") and free(life)


def _merged(life: Life) -> bool:
    """Return whether the merge is done in the fences as well, which are written after the end is told."""
    pull = life.repository.pulls.records.get(PULL)
    merged = pull is not None and pull.merged_at is not None and not is_open(life, ISSUE)
    return merged and _done(life, "reviewer", PULL) and _done(life, "worker", ISSUE) and free(life)


def _closed(life: Life) -> bool:
    return not is_open(life, STORY) and _done(life, "planner", STORY) and free(life)


def _opened(life: Life) -> bool:
    """Return whether the issue exists and the newest line of the register records it."""
    return shows(life, PENDING, "ready") and b'"issue"' in _newest(life, "ack/pending") and free(life)


def _done(life: Life, kind: str, number: int) -> bool:
    """Return whether the fence of an item has reached its last stage."""
    return b"\nStage: done\n" in _newest(life, f"ack/{kind}/{number}")


def _newest(life: Life, ref: str) -> bytes:
    """Return the commit of a ref that was pushed just now; empty if there is none."""
    place = life.repository.bare.path
    at = place / "refs" / ref
    if not at.is_file():
        return b""
    oid = at.read_text(encoding="ascii").strip()
    written = place / "objects" / oid[:2] / oid[2:]
    return zlib.decompress(written.read_bytes()) if written.is_file() else b""


@dataclass(frozen=True)
class Act:
    """One part of a life: who acts, how one sees that it is over, and who else may have to tidy up after a death.

    `settings` are more of the repository's, for whoever acts; `least` is how many writes it makes at the least.
    """

    name: str
    role: Role
    over: Callable[[Life], bool]
    beside: tuple[Role, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    least: int = 6


ACTS = (
    Act("plan", Role.PLANNER, _planned),
    Act("work", Role.WORKER, _handed_over),
    Act("review", Role.REVIEWER, _merged, (Role.WORKER,)),
    Act("close", Role.PLANNER, _closed, least=5),
    Act("pending", Role.PLANNER, _opened, settings={"tdd": {"pending": {"globs": ["tests/*.py"]}}}, least=3),
)
