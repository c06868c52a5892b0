"""The next step for a pull request that has left GitHub's merge queue (pure).

It is put in again, a limited number of times, when the obstacle may be gone; one that a person took out stays out until
a person orders otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from shared.lock.fence import Fence
from shared.models import QueueExit
from shared.text import one_line

QUEUED = "Queued"
"""The fence's trailer with the commit put into the queue, how often without an order, and the base's commit."""

UNQUEUED = "Unqueued"
"""The fence's trailer with the commit that left the queue, since when, whether it waits for a person, and why."""

ENTRIES = 3
"""Maximum entries without a person's order: each one delays everything that is queued behind it."""

AGAIN = timedelta(minutes=30)
"""Time outside of the queue until it is put in again, if its base has not changed before."""

LOGIN_CHARS = 60


class Cause(StrEnum):
    """Cause of leaving the queue, as far as the next step depends on it."""

    PERSON = "person"
    CHECKS = "checks"
    CONFLICT = "conflict"
    OTHER = "other"


class Next(StrEnum):
    """Next step for a pull request that left the queue."""

    ENTER = "put it in again"
    TO_BASE = "have its base merged in"
    LATER = "put it in again later"
    HOLD = "wait for a person's word"


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """The engine's last entry into the queue: which commit, how often so far, and onto which commit of the base."""

    head: str = ""
    times: int = 0
    base: str = ""

    @classmethod
    def of(cls, fence: Fence) -> QueueEntry:
        """Return the entry in the fence; an older engine named the commit alone."""
        head, _, rest = dict(fence.more).get(QUEUED, "").partition(" ")
        times, _, base = rest.partition(" ")
        return cls(head, int(times) if times.isdecimal() else int(bool(head)), base)

    def state(self) -> str:
        """Return the trailer's text after its commit."""
        return f"{self.times} {self.base}"


@dataclass(frozen=True, slots=True)
class Outside:
    """An exit from the queue; `held`: it waits for a person's order that is younger than `at`."""

    head: str
    at: datetime
    held: bool
    cause: Cause
    by: str = ""

    @classmethod
    def of(cls, fence: Fence) -> Outside | None:
        """Return the exit of the commit that the fence names; None if that is not known to be outside."""
        parts = dict(fence.more).get(UNQUEUED, "").split(" ")
        if len(parts) != 5 or parts[0] != fence.work_head:
            return None
        return cls(parts[0], datetime.fromisoformat(parts[1]), parts[2] == "held", Cause(parts[3]), parts[4])

    @classmethod
    def seen(cls, fence: Fence, queue_exit: QueueExit | None, *, held: bool, now: datetime) -> Outside:
        """Return the exit that was seen just now."""
        by = one_line(queue_exit.by, LOGIN_CHARS).replace(" ", "") if queue_exit is not None else ""
        return cls(fence.work_head, queue_exit.at if queue_exit is not None else now, held, cause(queue_exit), by)

    def state(self) -> str:
        """Return the trailer's text after its commit."""
        return f"{self.at.isoformat()} {'held' if self.held else 'later'} {self.cause} {self.by}"

    def sentence(self, times: int) -> str:
        """Return the reason, as one sentence."""
        if self.cause is Cause.PERSON:
            return f"{self.by} removed it from GitHub's merge queue."
        why = _WHY[self.cause]
        if self.held:
            return f"GitHub's merge queue removed it {times} times, the last time because {why}: look into that."
        return f"GitHub's merge queue removed it because {why}."


_WHY = {
    Cause.CHECKS: "checks failed there",
    Cause.CONFLICT: "it conflicted with its base there",
    Cause.OTHER: "of something that this thread shows",
}


def cause(queue_exit: QueueExit | None) -> Cause:
    """Return the cause by GitHub's reason, which is not documented: `failed_checks`, `CI_TIMEOUT`, `merge_conflict`."""
    reason = queue_exit.reason.casefold() if queue_exit is not None else ""
    if "conflict" in reason:
        return Cause.CONFLICT
    if "check" in reason or reason.startswith("ci_"):
        return Cause.CHECKS
    return Cause.PERSON if queue_exit is not None and queue_exit.by_person else Cause.OTHER


def following(why: Cause, entry: QueueEntry, base: str, *, repairable: bool) -> Next:
    """Return the next step for a commit that was put in as `entry` says, now that its base is at `base`.

    `repairable`: our worker can merge the base into it, and was not asked to for these two commits.
    """
    if why is Cause.PERSON or entry.times >= ENTRIES:
        return Next.HOLD
    if entry.base == base:
        return Next.LATER
    return Next.TO_BASE if repairable else Next.ENTER
