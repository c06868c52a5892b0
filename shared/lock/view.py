"""A look at an item's lock: the fence first, then as much of the thread as is needed, and the conclusion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.lock.claimant import Claimant, LockTimes, is_mine
from shared.lock.codec import OPAQUE_SECONDS, Ack, ItemKey
from shared.lock.comment import trusted
from shared.lock.fence import Fence
from shared.lock.port import Port, ReadComment, ReadComments, ReadFence
from shared.lock.standing import Conclusion, Evidence, LockStanding, Question, Text, conclude
from shared.models import Comment

LOOKS_DEAD = "{agent}, which shows no sign of life,"
"""Name for people of an epoch's agent after one look found the epoch dead."""


@dataclass(frozen=True, slots=True)
class LockView:
    """The result of one look at an item's lock."""

    key: ItemKey
    fence: Fence | None
    standing: LockStanding
    agent: str
    """The agent that holds it, or held it last."""
    at: datetime
    """The server's time of the look."""
    boot: float
    """Boot time of the look."""
    epoch: int = 0
    """The highest epoch that is known."""
    again: float = 0.0
    """Seconds until another look can show something else."""
    thread: tuple[Comment, ...] | None = None
    """The comments that were read; None if none was needed."""
    sure: bool = True
    """True if nothing speaks against `at`."""
    asked_at: float = 0.0
    """Boot time right before the fence was read: a pause after that makes the look old."""

    @property
    def is_live(self) -> bool:
        """True if somebody holds it, this agent included."""
        return self.standing in {LockStanding.HELD, LockStanding.OURS}

    @property
    def other_holder(self) -> str:
        """Name of another agent that holds it, for people; empty if the agent that looked may try."""
        return self.agent if self.standing is LockStanding.HELD else ""


async def observe(port: Port, key: ItemKey, claimant: Claimant) -> LockView:
    """Look once: read the fence, then what it takes to conclude. Raises `Transient` if a read failed.

    The first look that finds an epoch dead still counts it as held: only a second one, a minute later,
    with the same fence and a clock that is sure, frees it.
    """
    asked = port.boot()
    looked = await port.request(ReadFence(key))
    known, sure = Evidence(looked.value, looked.at, lambda agent, nonce: is_mine(agent, nonce, claimant)), looked.sure
    thread: tuple[Comment, ...] | None = None
    while isinstance(found := conclude(known, claimant.times), Question):
        if found is Question.COMMENT and known.fence is not None:
            reply = await port.request(ReadComment(known.fence.ack_id))
            text = None if reply.value is None else _text(reply.value, key, claimant)
            known, sure = replace(known, text=text, asked_text=True, at=reply.at), sure and reply.sure
            continue
        since = _since(known, claimant.times)
        listed = await port.request(ReadComments(key.number, since, opening=known.fence is None))
        thread = listed.value
        known, sure = await _with_thread(port, known, thread, key, claimant), sure and listed.sure
        known = replace(known, at=listed.at)
    seen = LockView(
        key, known.fence, found.standing, found.agent, known.at, port.boot(), found.epoch, 0.0, thread, sure, asked
    )
    return _judged(seen, found, claimant)


def _judged(view: LockView, found: Conclusion, claimant: Claimant) -> LockView:
    """Return the view with the time of the next look; an epoch that looks dead is held until a second look agrees."""
    times, place = claimant.times, view.key.ref
    if view.standing is not LockStanding.DEAD or view.fence is None:
        claimant.suspects.pop(place, None)
        if view.standing is not LockStanding.HELD:
            return view
        left = (found.until - view.at).total_seconds() if found.until else times.heartbeat
        return replace(view, again=min(max(left, 1.0), times.heartbeat))
    oid, since = claimant.suspects.get(place, ("", view.boot))
    if oid != view.fence.oid:
        since = view.boot
        claimant.suspects[place] = view.fence.oid, since
    left = since + times.look_again - view.asked_at
    if left <= 0 and view.sure:
        return view
    again = left if left > 0 else times.look_again
    return replace(view, standing=LockStanding.HELD, agent=LOOKS_DEAD.format(agent=view.agent), again=again)


def _text(comment: Comment, key: ItemKey, claimant: Claimant) -> Text:
    ack = next(iter(acks_of((comment,), key, claimant)), None)
    return Text(comment.updated_at, None if ack is None or ack.opaque else ack)


def _since(known: Evidence, times: LockTimes) -> datetime:
    """Return the time from which on the thread can matter.

    A whole day if there is no fence: an older ACK holds nobody up, and the same URL costs nothing when repeated.
    """
    if known.fence is not None:
        return known.fence.stamped - timedelta(seconds=times.timeout)
    oldest = known.at - timedelta(seconds=max(times.timeout, OPAQUE_SECONDS))
    return oldest.replace(hour=0, minute=0, second=0, microsecond=0)


async def _with_thread(
    port: Port, known: Evidence, thread: Iterable[Comment], key: ItemKey, claimant: Claimant
) -> Evidence:
    """Return the evidence with the ACKs of a thread. Missing predecessors of older engines' ACKs are asked for."""
    acks = acks_of(thread, key, claimant)
    anchor = known.fence.ack_id if known.fence is not None and known.fence.format == 1 else 0
    present = {ack.id for ack in acks}
    deleted: set[int] = set()
    for prev in sorted({ack.prev for ack in acks if ack.prev > anchor and ack.prev not in present}):
        if (await port.request(ReadComment(prev))).value is None:
            deleted.add(prev)
    if anchor and anchor not in present:
        comment = (await port.request(ReadComment(anchor))).value
        acks = (*acks_of((comment,) if comment else (), key, claimant), *acks)
    return replace(known, acks=acks, deleted=frozenset(deleted), asked_thread=True)


def acks_of(comments: Iterable[Comment], key: ItemKey, claimant: Claimant) -> tuple[Ack, ...]:
    """Return the trusted ACKs for `key` among comments."""
    found = (trusted(comment, claimant.accounts, claimant.keys) for comment in comments)
    return tuple(ack for ack in found if ack is not None and ack.key == key)
