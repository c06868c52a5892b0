"""The acts of a life: who plays, and how one sees that an act is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from crash_life import Life

from lab import locks
from shared.workflow import Role

STORY, ISSUE, PULL = 1, 2, 3
"""Numbers of the story, of its specification, and of the pull request."""


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


@dataclass(frozen=True)
class Act:
    """One part of a life: who acts, how one sees that it is over, and who else may have to tidy up after a death."""

    name: str
    role: Role
    over: Callable[[Life], bool]
    beside: tuple[Role, ...] = ()


ACTS = (
    Act("plan", Role.PLANNER, _planned),
    Act("work", Role.WORKER, _handed_over),
    Act("review", Role.REVIEWER, _merged, (Role.WORKER,)),
    Act("close", Role.PLANNER, _closed),
)
