"""Judging fences: epochs never go back, no write is stale, nothing paid for is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.codec import ItemKey
from shared.lock.record import Fence, read_fence
from shared.workflow import Role, Stage

from .records import Push

if TYPE_CHECKING:
    from .schedule import Schedule


def fence_of(push: Push) -> Fence:
    """The fence that a push wrote; kinds have fences of their own."""
    _, _, kind, number = push.ref.split("/")
    fence = read_fence(ItemKey(Role(kind), int(number)), push.oid, push.message)
    if fence is None:
        raise AssertionError(f"an agent pushed a fence that nobody can read: {push.message!r}")
    return fence


Lines = dict[str, list[tuple[Push, Fence]]]
"""The pushes that were accepted, in their order, for each fence."""


def by_ref(schedule: Schedule) -> Lines:
    lines: Lines = {}
    for push in schedule.github.pushes:
        lines.setdefault(push.ref, []).append((push, fence_of(push)))
    return lines


def epochs(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Epochs never go back, and each has one author; only a tombstone is put on another's."""
    for ref, line in lines.items():
        authors: dict[tuple[int, str], int] = {}
        current = (0, "")
        before: Fence | None = None
        for push, fence in line:
            epoch = (fence.epoch, fence.nonce)
            if epoch != current and before is not None and _forgets(before, fence):
                yield f"{ref} {epoch} forgot {before.stage} {before.phase} {before.work_head[:7]} and begins anew"
            before = fence
            if fence.stage is Stage.DONE and epoch == current and ref.startswith("refs/ack/worker"):
                schedule.journal.counts["worker's fence buried"] += 1
                continue
            if authors.setdefault(epoch, push.sender) != push.sender:
                yield f"{ref} {epoch} was written by two processes"
            if epoch != current and (fence.epoch < current[0] or list(authors).index(epoch) != len(authors) - 1):
                yield f"{ref} went back from {current} to {epoch}"
            current = epoch


def _forgets(old: Fence, new: Fence) -> bool:
    """Whether a new epoch throws away what the one before it has paid for."""
    unfinished = old.stage in {Stage.IMPLEMENTING, Stage.TESTING, Stage.APPROVED}
    return unfinished and (old.stage, old.phase, old.work_head, old.pr) != (new.stage, new.phase, new.work_head, new.pr)


def stale_writes(lines: Lines) -> Iterator[str]:
    """Every push extends the fence that stood there, and none is of an epoch after which another began."""
    for ref, line in lines.items():
        newest = (0, "")
        before = None
        for push, fence in line:
            epoch = (fence.epoch, fence.nonce)
            if push.parents[:1] != ((push.before,) if push.before else ()):
                yield f"{ref} at {push.at:.1f}: {push.oid[:7]} does not extend {push.before}"
            if before is not None and epoch != newest and fence.epoch < newest[0]:
                yield f"{ref} at {push.at:.1f}: epoch {fence.epoch} after {newest[0]}"
            newest = max(newest, epoch, key=lambda e: e[0])
            before = push.oid
