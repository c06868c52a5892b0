"""Moves of a fence by its holder: compare-and-swap of a git ref. Refs pushed with it move with it or not at all."""

from __future__ import annotations

from dataclasses import replace

from shared.errors import Lost, Transient
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, FenceChange
from shared.lock.hold import TAKEN, Held, turn
from shared.lock.port import AdvanceFence, ForeignFence, ReadFence, RefUpdate
from shared.lock.writes import swap
from shared.workflow import TERMINAL, Stage


async def advance(held: Held, change: FenceChange, *, updates: tuple[RefUpdate, ...] = ()) -> Fence:
    """Record a change of the fence and move `updates` with it, as the holder.

    A change that ends the item releases it in the same push. Raises `Lost` if another epoch has taken the fence,
    `Transient` if the outcome is unknown or a late write of our own moved it: look again next tick.
    """
    async with turn(held, held.moves):
        held.check()
        old = held.fence
        counted = replace(old, paid_runs=0, wait=None, failures="") if change.progress else old
        new = _ended(replace(change.of(counted), at=held.server_now(), alive=None, oid=""))
        carries = "" if new.work_head == old.work_head or _publishes(updates, new.work_head) else new.work_head
        breaker = held.claimant.breaker
        written = await swap(held.port, AdvanceFence(new, old.oid, carries, updates), breaker)
        if written is None:
            return await _refused(held)
        held.fence = written
        return written


def _ended(fence: Fence) -> Fence:
    """Return the fence, released if its stage says that its item has ended."""
    return replace(fence, released=fence.nonce) if fence.stage in TERMINAL else fence


async def end_item(
    held: Held, other: Fence | None, updates: tuple[RefUpdate, ...] = (), *, approved_by: str = ""
) -> bool:
    """End the item as done, and with it `other`, the fence of another kind as it was read, and move `updates`.

    `approved_by`, if given, names the approval that has led to this end.
    All or nothing: False if one of them had another value, so that they are to be done one by one.
    Raises `Lost`, and what the push raises.
    """
    async with turn(held, held.moves):
        held.check()
        now = held.server_now()
        approval = approved_by or held.fence.approved_by
        ended = _ended(replace(held.fence, stage=Stage.DONE, approved_by=approval, paid_runs=0, at=now, oid=""))
        tombstone = None if other is None else _ended(replace(other, stage=Stage.DONE, phase="", wait=None, at=now))
        written = await swap(held.port, AdvanceFence(ended, held.fence.oid, "", updates, tombstone))
        held.fence = written or held.fence
        return written is not None


async def end_resting_fence(held: Held, key: ItemKey, stage: Stage, updates: tuple[RefUpdate, ...] = ()) -> bool:
    """Put a tombstone on another kind's fence whose item has ended with ours, and move `updates` with it.

    Only while it still rests at `stage`: its agent has released it, and should one begin a new epoch at this moment,
    the server refuses our push. Returns whether it was written; a refused push has moved nothing.
    """
    fence = (await held.port.request(ReadFence(key))).value
    if fence is None or fence.stage is not stage:
        return False
    held.check()
    tombstone = _ended(replace(fence, stage=Stage.DONE, phase="", wait=None, at=held.server_now(), oid=""))
    return await swap(held.port, AdvanceFence(tombstone, fence.oid, "", updates)) is not None


async def _refused(held: Held) -> Fence:
    try:
        current = (await held.port.request(ReadFence(held.fence.key))).value
    except ForeignFence:
        current = None  # nobody but a newer engine that has taken over writes what cannot be read
    if current is not None and current.nonce == held.ack.nonce:
        held.fence = current
        raise Transient("An earlier write of this epoch arrived late; looking again.")
    held.lost = TAKEN
    raise Lost(held.lost)


def _publishes(updates: tuple[RefUpdate, ...], commit: str) -> bool:
    return any(update.new == commit and update.ref.startswith("refs/heads/") for update in updates)
