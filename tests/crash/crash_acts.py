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


def has(life: Life, number: int, label: str) -> bool:
    """Whether a thread exists and carries a label."""
    thread = life.repository.issues.records.get(number)
    return thread is not None and label in thread.labels


def is_open(life: Life, number: int) -> bool:
    """Whether a thread is open."""
    return life.repository.issues.require(number).open


def free(life: Life) -> bool:
    """Whether nobody holds anything; what a dead agent held has run out."""
    return not locks.held(life.repository, datetime.fromtimestamp(life.lab.clock.now(), UTC))


def _planned(life: Life) -> bool:
    return has(life, STORY, "status:specified") and has(life, ISSUE, "status:ready") and free(life)


def _handed_over(life: Life) -> bool:
    return has(life, ISSUE, "status:reviewing") and has(life, PULL, "status:reviewing") and free(life)


def _merged(life: Life) -> bool:
    pull = life.repository.pulls.records.get(PULL)
    return pull is not None and pull.merged_at is not None and not is_open(life, ISSUE) and free(life)


def _closed(life: Life) -> bool:
    return not is_open(life, STORY) and free(life)


def _opened(life: Life) -> bool:
    """Whether the issue is there, and noted in the newest line of the register."""
    place = life.repository.bare.path
    ref = place / "refs" / "ack" / "pending"
    if not has(life, PENDING, "status:ready") or not ref.is_file():
        return False
    oid = ref.read_text(encoding="ascii").strip()
    written = place / "objects" / oid[:2] / oid[2:]
    return written.is_file() and b'"issue"' in zlib.decompress(written.read_bytes()) and free(life)


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
    Act("close", Role.PLANNER, _closed),
    Act("pending", Role.PLANNER, _opened, settings={"tdd": {"pending": {"globs": ["tests/*.py"]}}}, least=3),
)
