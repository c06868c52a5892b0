"""Times and questions that every test of the lock shares: the protocol's times, and the ACKs of the thread.

The fixtures `server`, `alice`, `bob` and `held` that these tests share are in `tests/conftest.py`.
"""

from __future__ import annotations

from dataclasses import replace

from fakes.lock_port import KEY, KEYS
from fakes.lock_server import BOT, Server

from shared.lock.claimant import LockTimes
from shared.lock.codec import Ack, AckState
from shared.lock.comment import read_ack, trusted
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.lock.port import AdvanceFence, PostComment, ReadComments, ReadFence
from shared.text.comment_signatures import Keyring

TERMS = LockTimes()
AN_ATTEMPT = (ReadFence, ReadComments, AdvanceFence, AdvanceFence, PostComment, AdvanceFence)
"""Requests of the first won claim of a fresh issue, in order: its fence moves once more before the first comment."""


def states(server: Server) -> list[AckState]:
    """Return the states of the thread's ACKs as they claim them, whoever wrote them, by id."""
    found = (read_ack(comment) for comment in server.comments().values())
    return [ack.state for ack in found if ack is not None]


def on_the_thread(server: Server, held: Held) -> AckState | None:
    """Return the state in a lease's comment as it is trusted; None if the comment is not believed."""
    ack = trusted(server.comments()[held.ack.id], {BOT.id}, KEYS)
    return ack.state if ack else None


def older_ack(ack: Ack, keys: Keyring = KEYS) -> str:
    """Return the comment of an ACK as engines of fence format 1 write it."""
    text = (
        f"ACK:{ack.key.kind}:{ack.agent}:{ack.millis:013d}\n"
        f"<!-- ack/2 prev={ack.prev} nonce={ack.nonce} state={ack.state} hb={ack.revision} ttl={ack.ttl_seconds} "
        f"mac= -->\n{ack.agent} is working on this. Editing or deleting this comment stops it."
    )
    return keys.sign(f"ack:{ack.key.kind}", ack.key.number, text)


def of_format_1(server: Server, fence: Fence, ack: Ack) -> tuple[Fence, int]:
    """Push an epoch of such an engine: its ACK, then its fence; return the fence and the id of the ACK."""
    id = server.post(KEY.number, older_ack(ack)).id
    old = replace(fence, format=1, ack_id=id, nonce=ack.nonce, agent=ack.agent, epoch=0, oid="")
    oid = server.push(old, server.refs.get(KEY.ref), "", ())
    assert oid is not None
    return replace(old, oid=oid), id
