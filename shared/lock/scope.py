"""A lease as a block: the heartbeat runs beside the work and cancels it if the lease is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from shared.errors import Lost
from shared.lock.claimant import Claimant
from shared.lock.hold import RELEASED, Held, beat_until_lost, begin, release
from shared.lock.lease import Lease
from shared.lock.port import Port

RELEASE_SECONDS = 10.0
"""Seconds that the end of the block may take to tell GitHub that the lease is free."""


@asynccontextmanager
async def hold(
    port: Port, lease: Lease, claimant: Claimant, *, release_seconds: float = RELEASE_SECONDS
) -> AsyncIterator[Held]:
    """Run the block as the holder and release at its end, however it ends.

    Raises `Lost` out of the block if the lease was lost while it ran; errors of the block itself
    come out unchanged. A block that has itself called `release` ends quietly.
    """
    held = begin(port, lease, claimant)
    claimant.holding.add(lease.fence.key)
    failure: Exception | None = None
    try:
        async with anyio.create_task_group() as group:

            async def heartbeat() -> None:
                nonlocal failure
                try:
                    await beat_until_lost(held)
                except Lost:
                    pass  # `held.lost` says why
                except Exception as error:  # a bug of ours ends the work too, and comes out as itself
                    failure = error
                group.cancel_scope.cancel()

            group.start_soon(heartbeat)
            try:
                yield held
            except Exception as error:  # carried past the group, which would wrap it
                failure = error
            group.cancel_scope.cancel()
    finally:
        lost = held.lost
        with anyio.move_on_after(release_seconds, shield=True):
            await release(held)
        claimant.holding.discard(lease.fence.key)
    if failure is not None:
        raise failure
    if lost not in {"", RELEASED}:
        raise Lost(lost)
