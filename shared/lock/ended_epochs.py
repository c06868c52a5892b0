"""The report of epochs that ended without saying so in their fence or their comment: any agent that finds one makes it.

A holder says both as a rule. This is for the remains of a crash, a lost request or a late edit.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from shared.errors import Blocked, NotAllowed, Transient
from shared.lock.claimant import Claimant
from shared.lock.codec import Ack, AckState
from shared.lock.comment import carried, trusted
from shared.lock.fence import Fence
from shared.lock.port import AdvanceFence, Port, ReadComments, ReadFence
from shared.lock.standing import LockStanding
from shared.lock.view import observe
from shared.lock.writes import edit, swap
from shared.models import Comment
from shared.workflow import TERMINAL

YOUNG = timedelta(seconds=60)
"""Age below which a released fence is left to its agent, which tells people itself."""

OLD = timedelta(hours=6)
"""Age from which an ended epoch counts as looked at already."""

MOST = 10
"""Most fences that are looked at in one go."""


async def tell_ends(port: Port, fences: Iterable[Fence], claimant: Claimant, now: datetime) -> int:
    """Look at every fence whose epoch may have ended lately; return how many comments were changed to say so.

    Each is looked at again until no late edit can undo it. Nobody waits for it; if GitHub refuses a read or a
    write now, the fence is looked at again.
    """
    _forget_old(claimant, fences := tuple(fences), now)
    told = 0
    due = [fence for fence in fences if _is_due(fence, claimant, now)]
    for fence in sorted(due, key=lambda one: one.stamped, reverse=True)[:MOST]:
        try:
            count = await settle(port, fence, claimant)
        except (Transient, Blocked):
            continue
        told += count or 0
        if count is not None and _is_certain(fence, claimant, now):
            claimant.final_comments[fence.key.ref] = fence.nonce
    return told


def _forget_old(claimant: Claimant, fences: Iterable[Fence], now: datetime) -> None:
    """Forget the ends of epochs that are not looked at any more: their fences are old, or gone."""
    refs = {fence.key.ref for fence in fences if now - fence.stamped < OLD}
    for known in (claimant.ended_comments, claimant.final_comments):
        for ref in known.keys() - refs:
            del known[ref]
    oids = {fence.key.ref: fence.oid for fence in fences}
    for ref in [ref for ref, (oid, _) in claimant.suspects.items() if oids.get(ref) != oid]:
        del claimant.suspects[ref]


def _is_due(fence: Fence, claimant: Claimant, now: datetime) -> bool:
    """Return whether it was released a while ago, or shows no sign of life for so long that its holder is surely dead.

    An end that this process has told itself is looked at once, when no late edit can come any more.
    """
    ref, nonce = fence.key.ref, fence.nonce
    if fence.format == 1 or claimant.final_comments.get(ref) == nonce or now - fence.stamped >= OLD:
        return False
    ended = claimant.ended_comments.get(ref)
    own = ended is not None and ended.nonce == nonce
    return now - fence.stamped >= YOUNG if fence.free and not own else _is_certain(fence, claimant, now)


def _is_certain(fence: Fence, claimant: Claimant, now: datetime) -> bool:
    return (now - fence.stamped).total_seconds() >= claimant.times.certain


async def settle(port: Port, fence: Fence, claimant: Claimant) -> int | None:
    """Free the fence and make its comments say so, if its epoch is over; return how many comments had to change.

    None while somebody holds it, or it has not been found dead twice, or its holder may be at work although an older
    value of the ref was put back. Convergent: the comment of an epoch that begins at
    this moment is set right again by its holder. Raises what the port raises.
    """
    freed = fence if fence.free else await _freed(port, fence, claimant)
    return None if freed is None else await _tell(port, freed, claimant)


async def _freed(port: Port, fence: Fence, claimant: Claimant) -> Fence | None:
    """Return the fence freed of its dead holder; None if nobody can be sure of the death, or the fence has moved.

    An earlier process of this agent is dead as any other, once it is certain that no copy of it can be alive.
    """
    view = await observe(port, fence.key, claimant)
    if view.fence is None or view.fence.oid != fence.oid or fence.key in claimant.holding:
        return None
    ours = view.standing is LockStanding.OURS and view.sure and _is_certain(fence, claimant, view.at)
    if not ours and view.standing is not LockStanding.DEAD:
        return None
    return await swap(port, AdvanceFence(replace(fence, released=fence.nonce, oid=""), fence.oid))


async def _tell(port: Port, fence: Fence, claimant: Claimant) -> int | None:
    """End every ACK of this kind that says that somebody is at work; another account's that we may not edit stays.

    None while one of a higher epoch has been renewed lately: the ref was put back, which its holder may not know yet.
    """
    thread = await port.request(ReadComments(fence.key.number))
    left = [(one, ack) for one in thread.value if (ack := _active(one, fence, claimant)) is not None]
    current = (await port.request(ReadFence(fence.key))).value if left else None
    if current is None or current.oid != fence.oid:
        return 0  # nothing is left, or the next epoch has begun and goes on in this comment
    state = AckState.DONE if fence.stage in TERMINAL else AckState.RELEASED
    over = [(one, ack) for one, ack in left if ack.epoch <= fence.epoch or (thread.sure and not ack.live(thread.at))]
    told = 0
    for comment, ack in over:
        words = carried(comment, fence.key, claimant.accounts, claimant.keys).words
        epoch = max(ack.epoch, fence.epoch if ack.id == fence.ack_id else 0)
        ended = replace(ack, state=state, epoch=epoch, revision=ack.revision + 1, shared=True)
        with suppress(NotAllowed):
            told += await edit(port, ack.id, ended, claimant.keys, words) is not None
    return told if over == left else None


def _active(comment: Comment, fence: Fence, claimant: Claimant) -> Ack | None:
    """Return the ACK of a comment that still says active for this fence, also an older engine's; None for any other."""
    ack = trusted(comment, claimant.accounts, claimant.keys)
    if ack is None or ack.opaque or ack.key != fence.key:
        return None
    return ack if ack.state is AckState.ACTIVE else None
