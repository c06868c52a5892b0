"""A reader's conclusion from a fence and, if that is not enough, from the comment that it names: one pure table.

| fence | comment | conclusion |
|---|---|---|
| none | none that is live | free |
| none | ours, live | held: the ref was deleted |
| `Released` = `Nonce` | not read | free |
| our own nonce | not read | ours: go on |
| stamp within the timeout | not read | held |
| older | exists, whatever it says | held until the timeout after its last edit, then dead |
| older | signed, of a higher epoch | the same by that text: the ref was put back |
| older | does not exist, is not recorded | looked for by its nonce; else dead by the stamp alone |
| stamp older than `LockTimes.certain` | not read | dead: a live holder stamps |
| format 1 | its own ACK, released | free |
| format 1 | else | by its ACKs, as engines of that format do |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum

from shared.lock.claimant import LockTimes
from shared.lock.codec import Ack, AckState
from shared.lock.fence import Fence
from shared.lock.format_1 import ends, fold


class LockStanding(StrEnum):
    """The state of an item's lock for one reader."""

    FREE = "free"
    OURS = "ours"
    HELD = "held"
    DEAD = "dead"


class Question(Enum):
    """The next thing to read before anything can be concluded."""

    COMMENT = "the comment that the fence names"
    THREAD = "the thread"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """`agent` holds or held it, until `until` at the latest without a sign of life; `epoch` is the highest known."""

    standing: LockStanding
    agent: str = ""
    until: datetime | None = None
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """The comment that a fence names: the time of its last edit, and its ACK if that is authentic."""

    updated_at: datetime
    ack: Ack | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The data read so far."""

    fence: Fence | None
    at: datetime
    """The server's time of the last reading."""
    mine: Callable[[str, str], bool]
    """Returns of an agent and a nonce whether this agent made them."""
    text: Text | None = None
    """The comment that the fence names; None if it does not exist, or was not asked for."""
    asked_text: bool = False
    acks: tuple[Ack, ...] = ()
    """The ACKs of this kind in the thread."""
    asked_thread: bool = False
    deleted: frozenset[int] = frozenset()
    """Ids of comments that are gone for certain."""


def conclude(known: Evidence, times: LockTimes) -> Conclusion | Question:
    """Apply the table above; return the conclusion or what has to be read first."""
    fence = known.fence
    if fence is None:
        return _without_fence(known) if known.asked_thread else Question.THREAD
    if fence.format == 1:
        return _of_format_1(known, fence, times) if known.asked_thread else Question.THREAD
    if fence.free:
        return Conclusion(LockStanding.FREE, fence.agent, epoch=fence.epoch)
    if known.mine(fence.agent, fence.nonce):
        return Conclusion(LockStanding.OURS, fence.agent, epoch=fence.epoch)
    return _by_times(known, fence, times)


def _by_times(known: Evidence, fence: Fence, times: LockTimes) -> Conclusion | Question:
    """Conclude by the last stamp and, if that is too old, by the last edit of the comment."""
    fresh, certain = fence.stamped + _seconds(times.timeout), fence.stamped + _seconds(times.certain)
    if known.at < fresh:
        return Conclusion(LockStanding.HELD, fence.agent, fresh, fence.epoch)
    if known.at >= certain:
        return Conclusion(LockStanding.DEAD, fence.agent, certain, fence.epoch)
    if fence.ack_id and not known.asked_text:
        return Question.COMMENT
    if known.text is not None:
        return _by_text(known, fence, known.text, times)
    if not known.asked_thread:
        return Question.THREAD
    found = next((ack for ack in known.acks if ack.nonce == fence.nonce), None)
    if found is not None:
        return _by_text(known, fence, Text(found.updated_at, found), times)
    return Conclusion(LockStanding.HELD, fence.agent, certain, fence.epoch)


def _by_text(known: Evidence, fence: Fence, text: Text, times: LockTimes) -> Conclusion:
    ack = text.ack if text.ack is not None and text.ack.epoch > fence.epoch else None
    if ack is not None and ack.state is not AckState.ACTIVE:
        return Conclusion(LockStanding.DEAD, ack.agent, ack.updated_at, ack.epoch)
    until = max(fence.stamped, text.updated_at) + _seconds(times.timeout)
    standing = LockStanding.HELD if known.at < until else LockStanding.DEAD
    return Conclusion(standing, ack.agent if ack else fence.agent, until, ack.epoch if ack else fence.epoch)


def _without_fence(known: Evidence) -> Conclusion:
    """Conclude without a fence: a live comment shows that a ref was deleted; older ACKs count as older engines do."""
    highest = max((ack.epoch for ack in known.acks), default=0)
    shared = [ack for ack in known.acks if ack.shared]
    older = [ack for ack in known.acks if not ack.shared]
    holder = fold(older, deleted=known.deleted)
    live = [ack for ack in (*shared, *(one for one in older if one.id == holder)) if ack.live(known.at)]
    if not live:
        return Conclusion(LockStanding.FREE, epoch=highest)
    last = max(live, key=lambda ack: (ack.epoch, ack.id))
    until = last.updated_at + _seconds(last.ttl_seconds)
    ours = all(known.mine(ack.agent, ack.nonce) and not ack.opaque for ack in live)
    return Conclusion(LockStanding.OURS if ours else LockStanding.HELD, last.agent, until, highest)


def _of_format_1(known: Evidence, fence: Fence, times: LockTimes) -> Conclusion:
    """Conclude by the ends of those that an engine of that format counts as holders."""
    found = ends(fence, known.acks, known.deleted, times)
    live = [end for end in found if known.at < end.at]
    if not live:
        last = max(found, key=lambda end: end.at, default=None)
        return Conclusion(LockStanding.FREE if last is None else LockStanding.DEAD, last.agent if last else fence.agent)
    if all(known.mine(end.agent, end.nonce) and not end.opaque for end in live):
        return Conclusion(LockStanding.OURS, live[-1].agent)
    others = [end for end in live if not known.mine(end.agent, end.nonce)] or live
    return Conclusion(LockStanding.HELD, others[-1].agent, others[-1].at)


def _seconds(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)
