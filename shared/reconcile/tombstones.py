"""The end of a fence: by the holder of a deleted item, or in passing if nobody holds it. Writes nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

from shared.errors import Gone
from shared.lock.claimant import Claimant
from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.lock.port import AdvanceFence, Port, ReadFence
from shared.lock.view import observe
from shared.lock.writes import swap
from shared.workflow import TERMINAL, Stage


async def abandon(held: Held) -> None:
    """End the fence of an item that is deleted, transferred or converted; its patch stays in the fence.

    Raises `Lost` and `Transient`, as `advance` does.
    """
    if held.fence.stage not in TERMINAL:
        await advance(held, FenceChange(stage=Stage.WITHDRAWN))


async def end_unheld_fence(
    port: Port,
    claimant: Claimant,
    fence: Fence,
    stage: Stage,
    *,
    before: Callable[[], Awaitable[None]] | None = None,
) -> bool:
    """Put a tombstone on a fence that is still as in `fence` and that nobody holds; return whether it stands now.

    A compare-and-swap: should an agent begin a new epoch at this moment, one of the two is refused. `before` runs
    first, once it is known that nobody holds the fence. Raises `Transient`.
    """
    at = await _free(port, claimant, fence)
    if at is None:
        return False
    if before is not None:
        await before()
    tombstone = replace(
        fence, stage=stage, phase="", wait=None, released=fence.nonce, at=at.replace(microsecond=0), oid=""
    )
    return await swap(port, AdvanceFence(tombstone, fence.oid)) is not None


async def _free(port: Port, claimant: Claimant, fence: Fence) -> datetime | None:
    """Return the server's time if the fence was found unmoved and without a live holder; else None.

    The thread of a deleted item cannot be read: then its holder counts as dead after `times.certain` seconds.
    """
    try:
        view = await observe(port, fence.key, claimant)
    except Gone:
        reply = await port.request(ReadFence(fence.key))
        unmoved = reply.value is not None and reply.value.oid == fence.oid
        over = fence.free or (reply.sure and reply.at - fence.stamped >= timedelta(seconds=claimant.times.certain))
        return reply.at if unmoved and over else None
    unmoved = view.fence is not None and view.fence.oid == fence.oid
    return view.at if unmoved and not view.is_live else None
