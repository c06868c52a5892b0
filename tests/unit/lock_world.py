"""What every test of the lock asks: the protocol's times, and what the thread says of its ACKs.

The fixtures `server`, `alice`, `bob` and `held` that these tests share are in `tests/conftest.py`.
"""

from __future__ import annotations

from dataclasses import replace

from fakes.lock_port import KEY, KEYS
from fakes.lock_server import BOT, Server

from shared.lock.claimant import LockTimes
from shared.lock.codec import Ack, AckState, read_ack, trusted
from shared.lock.hold import Held
from shared.lock.port import AdvanceFence, PostComment, ReadComments, ReadFence
from shared.lock.record import Fence
from shared.text.comment_signatures import Keyring

TERMS = LockTimes()
AN_ATTEMPT = (ReadFence, ReadComments, AdvanceFence, AdvanceFence, PostComment, AdvanceFence)
"""What the first won claim of a fresh issue asks, in order: its fence is moved once more before the first comment."""


def states(server: Server) -> list[AckState]:
    """What the ACKs of the thread say of themselves, whoever wrote them, by id."""
    found = (read_ack(comment) for comment in server.comments().values())
    return [ack.state for ack in found if ack is not None]


def on_the_thread(server: Server, held: Held) -> AckState | None:
    """What a lease's comment says to those who trust it; None when it is not believed."""
    ack = trusted(server.comments()[held.ack.id], {BOT.id}, KEYS)
    return ack.state if ack else None


def older_ack(ack: Ack, keys: Keyring = KEYS) -> str:
    """The comment of an ACK as engines of fence format 1 write it."""
    text = (
        f"ACK:{ack.key.kind}:{ack.agent}:{ack.millis:013d}\n"
        f"<!-- ack/2 prev={ack.prev} nonce={ack.nonce} state={ack.state} hb={ack.heartbeat} ttl={ack.ttl_seconds} "
        f"mac= -->\n{ack.agent} is working on this. Editing or deleting this comment stops it."
    )
    return keys.sign(f"ack:{ack.key.kind}", ack.key.number, text)


def of_format_1(server: Server, fence: Fence, ack: Ack) -> tuple[Fence, int]:
    """An epoch of such an engine on the server: its ACK, then its fence; the fence and the id of the ACK."""
    id = server.post(KEY.number, older_ack(ack)).id
    old = replace(fence, format=1, ack_id=id, nonce=ack.nonce, agent=ack.agent, epoch=0, oid="")
    oid = server.push(old, server.refs.get(KEY.ref), "", ())
    assert oid is not None
    return replace(old, oid=oid), id
