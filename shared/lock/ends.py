"""Comments that still say that somebody is at work, although the fence is released: told by whoever comes by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from shared.errors import Blocked, Transient
from shared.lock.claimant import Claimant
from shared.lock.codec import AckState, carried, trusted
from shared.lock.edit import edit
from shared.lock.port import Port, ReadComment
from shared.lock.record import Fence
from shared.workflow import TERMINAL

YOUNG = timedelta(seconds=60)
"""An agent that has just released its fence tells it itself."""

OLD = timedelta(hours=6)
"""What was released so long ago was looked at by somebody."""

MOST = 10
"""So many comments are read in one go."""


async def tell_ends(port: Port, fences: Iterable[Fence], claimant: Claimant, now: datetime) -> int:
    """Look once at the comment of each fence that was released lately; how many were told to be free.

    An agent that is killed between the release of its fence and the edit that tells people leaves such a comment.
    Nobody waits for it; what GitHub does not let us read or write now is looked at again.
    """
    told = 0
    due = [one for one in fences if one.free and one.ack_id and one.nonce not in claimant.told]
    for fence in [one for one in due if YOUNG <= now - one.stamped < OLD][:MOST]:
        try:
            told += await _tell_end(port, fence, claimant)
        except (Transient, Blocked):
            continue
        claimant.told.add(fence.nonce)
    return told


async def _tell_end(port: Port, fence: Fence, claimant: Claimant) -> bool:
    found = (await port.request(ReadComment(fence.ack_id))).value
    ack = None if found is None else trusted(found, claimant.accounts, claimant.keys)
    if found is None or ack is None or ack.opaque or ack.state is not AckState.ACTIVE or ack.nonce != fence.nonce:
        return False
    words = carried(found, fence.key, claimant.accounts, claimant.keys).words
    state = AckState.DONE if fence.stage in TERMINAL else AckState.RELEASED
    ended = replace(ack, state=state, heartbeat=ack.heartbeat + 1)
    return await edit(port, found.id, ended, claimant.keys, words) is not None
