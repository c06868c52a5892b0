"""Judgement of fences by the git server's acts: epochs never go back, no write is stale, no paid work is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from shared.lock.claim import OLD_SECONDS
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, read_fence
from shared.workflow import TERMINAL, Role, Stage

from .github import is_engine
from .records import Push
from .worlds import REQUEST_SECONDS

if TYPE_CHECKING:
    from .schedule import Schedule


@dataclass(frozen=True)
class Move:
    """One accepted push of a fence: its content, and the ref's content before it, by whomever."""

    push: Push
    fence: Fence
    before: Fence | None

    @property
    def begins(self) -> bool:
        """True if it is the first of an epoch."""
        return self.before is None or self.before.nonce != self.fence.nonce

    @property
    def frees(self) -> bool:
        """True if it does nothing but end an epoch that had not ended; other agents than its own may do that, too."""
        if self.begins or self.before is None or self.before.free or not self.fence.free:
            return False
        return replace(self.fence, released="", oid="") == replace(self.before, released="", oid="")

    @cached_property
    def order(self) -> tuple[int, int]:
        """Number of the epoch, which grows."""
        return _order(self.fence)


Lines = dict[str, list[Move]]
"""The moves of each fence, in their order."""


def by_ref(schedule: Schedule) -> Lines:
    """Every accepted push, by the fence that it moved."""
    lines: Lines = {}
    for push in schedule.github.pushes:
        before = None if push.before is None else _read(schedule, push.ref, push.before)
        fence = read_fence(key_of(push.ref), push.oid, push.message)
        if fence is None:
            raise AssertionError(f"an agent pushed a fence that nobody can read: {push.message!r}")
        lines.setdefault(push.ref, []).append(Move(push, fence, before))
    return lines


def _read(schedule: Schedule, ref: str, oid: str) -> Fence | None:
    return read_fence(key_of(ref), oid, schedule.github.messages.get(oid, ""))


def key_of(ref: str) -> ItemKey:
    """The item of a fence's ref."""
    _, _, kind, number = ref.split("/")
    return ItemKey(Role(kind), int(number))


def _order(fence: Fence) -> tuple[int, int]:
    return (fence.format, fence.epoch if fence.format > 1 else fence.ack_id)


def epochs(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield errors unless epochs grow, and each has one author; only a tombstone is put on another's epoch.

    Nothing paid for may be forgotten.
    """
    for ref, line in lines.items():
        authors: dict[str, int] = {}
        yield from _ends(schedule, ref, line)
        for move in line:
            push, fence, before = move.push, move.fence, move.before
            name = f"{ref} at {push.at:.1f}: epoch {move.order[1]} ({fence.nonce[-6:]})"
            old, since = fence.format == 1, before is not None and before.format < fence.format
            schedule.journal.counts["epoch of the first format"] += move.begins and old
            schedule.journal.counts["epoch begun after one of the first format"] += move.begins and since
            if move.begins and fence.nonce in authors and not _carried_again(schedule, line, move):
                yield f"{name} began twice"
            if move.begins and before is not None and not _grows(_order(before), move.order):
                yield f"{name} went back from {_order(before)}"
            if move.begins and before is not None and _forgets(before, fence):
                yield f"{name} forgot {before.stage} {before.phase} {before.work_head[:7]} and begins anew"
            if fence.stage is Stage.DONE and not move.begins and ref.startswith("refs/ack/worker"):
                schedule.journal.counts["worker's fence buried"] += 1
            elif not move.frees and authors.setdefault(fence.nonce, push.sender) != push.sender:
                yield f"{name} was written by two processes"


def _ends(schedule: Schedule, ref: str, line: list[Move]) -> Iterator[str]:
    """Yield errors unless epochs grow by one, an ended item is free, and no tombstone ends unfinished work."""
    highest = 0
    for move in line:
        fence, before = move.fence, move.before
        if fence.format == 1 or schedule.journal.identities[move.push.sender].first_format:
            continue
        name = f"{ref} at {move.push.at:.1f}: epoch {fence.epoch}"
        if move.begins and fence.epoch > highest + 1:
            yield f"{name} after {highest}"
        highest = max(highest, fence.epoch)
        # One that begins at an ended item, to tell its end, stays there until it has told it.
        told = before is not None and before.stage in TERMINAL and not before.free
        if not (move.begins or told) and fence.stage in TERMINAL and not fence.free:
            yield f"{name} has ended ({fence.stage}) and is not free"
        buried = not move.begins and fence.stage is Stage.DONE and ref.startswith("refs/ack/worker")
        if buried and before is not None and before.stage not in TERMINAL | {Stage.REVIEWING}:
            yield f"{name} was ended while it was {before.stage}"


def _carried_again(schedule: Schedule, line: list[Move], move: Move) -> bool:
    """Return whether the network repeated a push after a person had deleted the ref that it had made."""
    first = next(one for one in line if one.push.oid == move.push.oid)
    deleted = (at for at, ref, oid in schedule.journal.ref_acts if ref == move.push.ref and oid is None)
    return move.push.before is None and any(first.push.at < at < move.push.at for at in deleted)


def _grows(old: tuple[int, int], new: tuple[int, int]) -> bool:
    """Return whether an epoch's number grows; the first format goes on with its own ACK under the same number."""
    return old < new or (old == new and new[0] == 1)


def _forgets(old: Fence, new: Fence) -> bool:
    """Return whether a new epoch drops work that the one before it has paid for."""
    unfinished = old.stage in {Stage.IMPLEMENTING, Stage.TESTING, Stage.APPROVED}
    return unfinished and (old.stage, old.phase, old.work_head, old.pr) != (new.stage, new.phase, new.work_head, new.pr)


def made_anew(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield each chain that begins again after its ref was deleted and does not count on from a readable comment."""
    for ref, line in lines.items():
        highest: Move | None = None
        for move in line:
            if move.push.before is None and highest is not None and move.order <= highest.order:
                schedule.journal.counts["chain that began anew"] += 1
                if _readable(schedule, highest.fence.nonce, looked_at(schedule, move)):
                    yield f"{ref} at {move.push.at:.1f}: {move.order} after {highest.order}, as if nothing had been"
            highest = move if highest is None or move.order > highest.order else highest


def looked_at(schedule: Schedule, move: Move) -> float:
    """Return the earliest time at which the author of a new chain may have looked last.

    It may have been paused, for less than `OLD_SECONDS`, between that look and its push.
    """
    at = move.push.sent_at
    paused = schedule.journal.troubled.get(move.push.sender, ())
    return min((since for since in paused if at - OLD_SECONDS <= since <= at), default=at)


def hidden(schedule: Schedule) -> bool:
    """Return whether somebody may have hidden what a comment shows: by deleting it, or with another key."""
    acts = {"ACK deleted by a person", "ACK edited by a person", "opaque", "transferred by a person"}
    return any(what in acts for _, what, _ in schedule.journal.acts)


def _readable(schedule: Schedule, nonce: str, at: float) -> bool:
    """Return whether a comment showed that epoch at that time, and nobody hid it: by deletion, or with another key."""
    if hidden(schedule):
        return False
    seen = at - schedule.world.lag - schedule.world.commit - 2 * REQUEST_SECONDS
    texts = (text for texts in schedule.github.authors.values() for text in texts if is_engine(text.author))
    return any(nonce in text.body and text.at <= seen for text in texts)


def stale_writes(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield each push that does not extend the fence before it, or is of an epoch after which another had begun."""
    for ref, line in lines.items():
        acts = [(at, oid) for at, moved, oid in schedule.journal.ref_acts if moved == ref]
        begun: list[str] = []
        for move in line:
            push, nonce = move.push, move.fence.nonce
            while acts and acts[0][0] <= push.at:
                put_back = _read(schedule, ref, acts.pop(0)[1] or "")
                begun += [put_back.nonce] if put_back is not None else []  # a person's word: this one counts again
            if push.parents[:1] != ((push.before,) if push.before else ()):
                yield f"{ref} at {push.at:.1f}: {push.oid[:7]} does not extend {push.before}"
            if nonce in begun and begun[-1] != nonce:
                yield f"{ref} at {push.at:.1f}: {nonce[-6:]} after {begun[-1][-6:]} had begun"
            if begun[-1:] != [nonce]:
                begun.append(nonce)
