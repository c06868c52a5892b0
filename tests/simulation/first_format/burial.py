"""Ending a fence: by the holder of an item that is gone, or in passing when nobody holds it. Writes nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

from shared.errors import Gone
from shared.workflow import TERMINAL, Stage

from .claimant import Claimant
from .fence import advance, swap
from .hold import Held
from .port import Port, ReadFence
from .record import Fence
from .view import observe


async def abandon(held: Held) -> None:
    """The item is deleted, transferred or converted: the fence remembers it, the patch stays in it.

    Raises `Lost` and `Transient`, as `advance` does.
    """
    if held.fence.stage not in TERMINAL:
        await advance(held, stage=Stage.WITHDRAWN)


async def end_unheld_fence(
    port: Port,
    claimant: Claimant,
    seen: Fence,
    stage: Stage,
    *,
    before: Callable[[], Awaitable[None]] | None = None,
) -> bool:
    """Put a tombstone on a fence that is still as it was `seen` and that nobody holds; whether it stands now.

    A compare-and-swap: should an agent begin a new epoch at this moment, one of the two is refused. `before` is what
    has to be done first, once it is known that nobody holds it. Raises `Transient`.
    """
    at = await _free(port, claimant, seen)
    if at is None:
        return False
    if before is not None:
        await before()
    buried = replace(seen, stage=stage, phase="", wait=None, at=at.replace(microsecond=0), oid="")
    return await swap(port, buried, seen.oid) is not None


async def _free(port: Port, claimant: Claimant, seen: Fence) -> datetime | None:
    """The server's time when the fence was found unmoved and without a live holder; else None.

    The thread of an item that is gone cannot be read: then its holder had the lock's timeout to notice.
    """
    try:
        view = await observe(port, seen.key, claimant)
    except Gone:
        reply = await port.request(ReadFence(seen.key))
        unmoved = reply.value is not None and reply.value.oid == seen.oid
        expired = reply.at - seen.at >= timedelta(seconds=claimant.terms.timeout)
        return reply.at if unmoved and expired else None
    unmoved = view.fence is not None and view.fence.oid == seen.oid
    return view.at if unmoved and not view.live(claimant.terms) else None
