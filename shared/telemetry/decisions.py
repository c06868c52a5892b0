"""The lock's decisions as log events (shown with `--verbose`): what was seen, by which clock, who won and why."""

from __future__ import annotations

import structlog

from shared.lock.claim import Lease
from shared.lock.view import View

log = structlog.get_logger()


def seen(view: View) -> None:
    """One look at a lock."""
    holder = view.holder
    log.debug(
        "lock_seen",
        lock=view.key.ref,
        server_time=view.at.isoformat(),
        acks=[ack.id for ack in view.acks],
        holder=holder.agent if holder else "",
        holder_ack=view.holder_id,
        holder_state=str(holder.state) if holder else "",
        holder_seen_at=holder.updated_at.isoformat() if holder else "",
        fence=view.fence.oid[:12] if view.fence else "",
        fence_ack=view.fence.ack_id if view.fence else 0,
    )


def decided(view: View, lease: Lease | None) -> None:
    """What came of a claim."""
    if lease is None:
        log.debug("claim_lost", lock=view.key.ref, reason="another ACK succeeds the holder, or the fence had moved")
    else:
        log.debug("claim_won", lock=view.key.ref, ack=lease.ack.id, prev=lease.ack.prev, fence=lease.fence.oid[:12])
