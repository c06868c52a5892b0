"""The fence: a git ref advanced by compare-and-swap. What is pushed moves with it or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shared.errors import Lost, Transient, UnknownOutcome
from shared.workflow import Stage

from .codec import ItemKey
from .hold import Held
from .port import AdvanceFence, ForeignFence, Port, ReadFence, RefUpdate
from .record import Fence, read_fence, write_fence

PROGRESS = frozenset({"stage", "phase", "work_head", "attempt"})
"""Fields whose change means that something was achieved: runs and failures are counted anew, a wait is over."""


async def advance(held: Held, *, updates: tuple[RefUpdate, ...] = (), **changes: Any) -> Fence:
    """Record `changes` (fields of `Fence`) and move `updates` with it, as the holder.

    Raises `Lost` when the fence has been taken by another epoch, `Transient` when the outcome is
    unknown or a late write of our own moved it: look again next tick.
    """
    held.check()
    old = held.fence
    if not PROGRESS.isdisjoint(changes):
        changes = {"paid_runs": 0, "wait": None, "failures": ""} | changes
    new = replace(old, **changes, at=held.server_now(), oid="")
    carries = "" if new.work_head == old.work_head or _publishes(updates, new.work_head) else new.work_head
    written = await swap(held.port, new, old.oid, carries=carries, updates=updates)
    if written is None:
        return await _refused(held)
    held.fence = written
    return written


async def conclude(
    held: Held, other: Fence | None, updates: tuple[RefUpdate, ...] = (), *, approved_by: str = ""
) -> bool:
    """End the item as done, and with it `other`, the fence of another kind as it was read, and move `updates`.

    `approved_by`, where it is given, is whose word has led to this end.
    All or nothing: False when one of them had another value, so that they are to be done one by one.
    Raises `Lost`, and what the push raises.
    """
    held.check()
    now = held.server_now()
    word = approved_by or held.fence.approved_by
    ended = replace(held.fence, stage=Stage.DONE, approved_by=word, paid_runs=0, at=now, oid="")
    buried = None if other is None else replace(other, stage=Stage.DONE, phase="", wait=None, at=now)
    written = await swap(held.port, ended, held.fence.oid, updates=updates, other=buried)
    held.fence = written or held.fence
    return written is not None


async def end_resting_fence(held: Held, key: ItemKey, stage: Stage) -> None:
    """Put a tombstone on another kind's fence whose item has ended with ours, if it still rests at `stage`.

    Its agent has let go of it; should one begin a new epoch at this moment, the server refuses ours.
    """
    fence = (await held.port.request(ReadFence(key))).value
    if fence is None or fence.stage is not stage:
        return
    held.check()
    buried = replace(fence, stage=Stage.DONE, phase="", wait=None, at=held.server_now(), oid="")
    await swap(held.port, buried, fence.oid)


async def swap(
    port: Port,
    fence: Fence,
    expected: str | None,
    *,
    carries: str = "",
    updates: tuple[RefUpdate, ...] = (),
    other: Fence | None = None,
) -> Fence | None:
    """Compare-and-swap; after a lost reply the fence itself says whether it happened.

    Raises `UnknownOutcome` when it did not happen so far: the lost write may still arrive.
    """
    try:
        oid = (await port.request(AdvanceFence(fence, expected, carries, updates, other))).value
    except UnknownOutcome:
        try:
            current = (await port.request(ReadFence(fence.key))).value
        except ForeignFence:
            return None  # a newer engine's, so not ours
        if (current.oid if current else None) == expected:
            raise
        if current is None:
            return None
        # Compared as read back: a commit message keeps neither fractions of seconds nor odd spaces.
        return current if current == read_fence(fence.key, current.oid, write_fence(fence)) else None
    return None if oid is None else replace(fence, oid=oid)


async def _refused(held: Held) -> Fence:
    try:
        current = (await held.port.request(ReadFence(held.fence.key))).value
    except ForeignFence:
        current = None  # nobody but a newer engine that has taken over writes what cannot be read
    if current is not None and (current.ack_id, current.nonce) == (held.ack.id, held.ack.nonce):
        held.fence = current
        raise Transient("An earlier write of this epoch arrived late; looking again.")
    held.lost = "another agent has taken over"
    raise Lost(held.lost)


def _publishes(updates: tuple[RefUpdate, ...], commit: str) -> bool:
    return any(update.new == commit and update.ref.startswith("refs/heads/") for update in updates)
