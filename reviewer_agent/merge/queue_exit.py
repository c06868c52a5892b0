"""What follows when GitHub's merge queue does not have a pull request any more (pure).

It is entered again when what was in the way may be gone, so often and no oftener; what a person took out stays out
until a person says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from shared.lock.record import Fence
from shared.models import QueueExit
from shared.text import one_line

QUEUED = "Queued"
"""The fence's trailer that names the commit which was put into the queue, how often that was done without a person's
word between, and the commit of the base then."""

UNQUEUED = "Unqueued"
"""The fence's trailer that names the commit which is in the queue no more, since when, whether it waits for a person,
and why."""

ENTRIES = 3
"""So often it is put in without a person's word: each time holds up whatever waits behind it."""

AGAIN = timedelta(minutes=30)
"""So long after it was seen outside it is put in again, if its base has not changed before."""

LOGIN_CHARS = 60


class Cause(StrEnum):
    """Why it left the queue, as far as something else follows from it."""

    PERSON = "person"
    CHECKS = "checks"
    CONFLICT = "conflict"
    OTHER = "other"


class Next(StrEnum):
    """What is done about it."""

    ENTER = "put it in again"
    TO_BASE = "have its base merged in"
    LATER = "put it in again later"
    HOLD = "wait for a person's word"


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """The last time that the engine put something in: which commit, how often so far, and onto which base."""

    head: str = ""
    times: int = 0
    base: str = ""

    @classmethod
    def of(cls, fence: Fence) -> QueueEntry:
        """What the fence says; an older engine named the commit alone."""
        head, _, rest = dict(fence.more).get(QUEUED, "").partition(" ")
        times, _, base = rest.partition(" ")
        return cls(head, int(times) if times.isdecimal() else int(bool(head)), base)

    def state(self) -> str:
        """The trailer behind its commit."""
        return f"{self.times} {self.base}"


@dataclass(frozen=True, slots=True)
class Outside:
    """Why it is in the queue no more; `held`: it waits for a person's word that is younger than `at`."""

    head: str
    at: datetime
    held: bool
    cause: Cause
    by: str = ""

    @classmethod
    def of(cls, fence: Fence) -> Outside | None:
        """What the fence says of the commit that it names; None when that is not known to be outside."""
        parts = dict(fence.more).get(UNQUEUED, "").split(" ")
        if len(parts) != 5 or parts[0] != fence.work_head:
            return None
        return cls(parts[0], datetime.fromisoformat(parts[1]), parts[2] == "held", Cause(parts[3]), parts[4])

    @classmethod
    def seen(cls, fence: Fence, left: QueueExit | None, *, held: bool, now: datetime) -> Outside:
        """What was seen just now."""
        by = one_line(left.by, LOGIN_CHARS).replace(" ", "") if left is not None else ""
        return cls(fence.work_head, left.at if left is not None else now, held, cause(left), by)

    def state(self) -> str:
        """The trailer behind its commit."""
        return f"{self.at.isoformat()} {'held' if self.held else 'later'} {self.cause} {self.by}"

    def sentence(self, times: int) -> str:
        """Why, in one sentence."""
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


def cause(left: QueueExit | None) -> Cause:
    """Of GitHub's word for the reason, which it documents nowhere: `failed_checks`, `CI_TIMEOUT`, `merge_conflict`."""
    reason = left.reason.casefold() if left is not None else ""
    if "conflict" in reason:
        return Cause.CONFLICT
    if "check" in reason or reason.startswith("ci_"):
        return Cause.CHECKS
    return Cause.PERSON if left is not None and left.by_person else Cause.OTHER


def following(why: Cause, entry: QueueEntry, base: str, *, repairable: bool) -> Next:
    """What follows for a commit that was put in as `entry` says, now that its base is at `base`.

    `repairable`: our worker can merge the base into it, and was not asked to for these two commits.
    """
    if why is Cause.PERSON or entry.times >= ENTRIES:
        return Next.HOLD
    if entry.base == base:
        return Next.LATER
    return Next.TO_BASE if repairable else Next.ENTER
