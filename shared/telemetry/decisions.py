"""The lock's decisions as log events (shown with `--verbose`): each view of a lock, and the result of each claim."""

from __future__ import annotations

import structlog

from shared.lock.lease import Lease
from shared.lock.view import LockView

log = structlog.get_logger()


def seen(view: LockView) -> None:
    """Log one view of a lock, with the server's time."""
    log.debug(
        "lock_seen",
        lock=view.key.ref,
        server_time=view.at.isoformat(),
        standing=str(view.standing),
        holder=view.agent,
        again_seconds=round(view.again),
        fence=view.fence.oid[:12] if view.fence else "",
        epoch=view.fence.epoch if view.fence else 0,
        comment=view.fence.ack_id if view.fence else 0,
    )


def decided(view: LockView, lease: Lease | None) -> None:
    """Log the result of a claim, and the reason if it was lost."""
    if lease is None:
        log.debug("claim_lost", lock=view.key.ref, reason="the fence had moved")
    else:
        log.debug(
            "claim_won", lock=view.key.ref, epoch=lease.fence.epoch, comment=lease.ack.id, fence=lease.fence.oid[:12]
        )
