"""Holding a lease: the proof that writes need, its heartbeat, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from shared.errors import Lost, Transient, UnknownOutcome
from shared.lock.codec import Ack, AckState, Fence, write_ack
from shared.lock.port import EditComment, Port, ReadComment, ReadFence

if TYPE_CHECKING:
    from shared.lock.claim import Claimant, Lease

_SEAL = object()

RETRY_SHARE = 10
"""A failed heartbeat is tried again after this part of the heartbeat interval."""


@dataclass(slots=True)
class Held:
    """The proof of a lease; only `begin` makes one. Check it after every await that precedes an effect."""

    port: Port
    claimant: Claimant
    ack: Ack
    fence: Fence
    deadline: float
    server: tuple[datetime, float]
    seal: object = field(repr=False)
    lost: str = ""
    written: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only shared.lock.hold.begin makes a Held")

    def check(self) -> None:
        """Raise `Lost` unless the lease certainly still holds."""
        check(self)

    def server_now(self) -> datetime:
        """The server's time: its last `Date`, carried on by the boot clock, whole seconds."""
        at, boot = self.server
        return (at + timedelta(seconds=self.port.boot() - boot)).replace(microsecond=0)


def begin(port: Port, lease: Lease, claimant: Claimant) -> Held:
    """The proof for a lease that `claim` has just won."""
    body = write_ack(lease.ack, claimant.keys)
    return Held(
        port=port,
        claimant=claimant,
        ack=lease.ack,
        fence=lease.fence,
        deadline=lease.boot + claimant.terms.self_fence,
        server=(lease.at, lease.boot),
        seal=_SEAL,
        written=frozenset({body}),
    )


def check(held: Held) -> None:
    """Raise `Lost` when the lease was lost or its self-fence deadline (boot clock) has passed."""
    if not held.lost and held.port.boot() >= held.deadline:
        held.lost = "no heartbeat succeeded in time"
    if held.lost:
        raise Lost(held.lost)


async def keep(held: Held) -> None:
    """Beat until the lease is lost; always ends by raising `Lost`."""
    interval = held.claimant.terms.heartbeat
    pause = interval
    while True:
        await held.port.sleep(max(0.0, min(pause, held.deadline - held.port.boot())))
        check(held)
        try:
            await beat(held)
        except Transient:
            pause = interval / RETRY_SHARE
        else:
            pause = interval


async def beat(held: Held) -> None:
    """One heartbeat: our ACK must be as we wrote it and the fence must be ours.

    The ACK is read before it is written: a blind edit would restore what a person changed.
    Raises `Lost` or `Transient`.
    """
    sent = held.port.boot()
    reply = await held.port.request(ReadComment(held.ack.id))
    if reply.value is None:
        raise _lose(held, "the ACK comment was deleted")
    if _normal(reply.value.body) not in {_normal(body) for body in held.written}:
        raise _lose(held, "the ACK comment was edited")
    await _rewrite(held, replace(held.ack, heartbeat=held.ack.heartbeat + 1))
    fence = (await held.port.request(ReadFence(held.fence.key))).value
    if fence is None or (fence.ack_id, fence.nonce) != (held.ack.id, held.ack.nonce):
        raise _lose(held, "another agent has taken over")
    check(held)
    held.deadline = sent + held.claimant.terms.self_fence
    held.server = (reply.at, sent)


async def release(held: Held, state: AckState = AckState.RELEASED) -> bool:
    """Give the lease up after the last effect; False when GitHub could not be told (it runs out)."""
    if held.lost:
        return False
    held.lost = "released"
    try:
        await _rewrite(held, replace(held.ack, state=state))
    except (Transient, Lost):
        return False
    held.claimant.nonces.forget(held.ack.nonce)
    return True


async def _rewrite(held: Held, ack: Ack) -> None:
    body = write_ack(ack, held.claimant.keys)
    held.written |= {body}  # until the reply is here, either text may stand there
    try:
        edited = (await held.port.request(EditComment(ack.id, body))).value
    except UnknownOutcome:
        held.ack = ack
        raise
    if edited is None:
        raise _lose(held, "the ACK comment was deleted")
    held.ack, held.written = ack, frozenset({body})


def _lose(held: Held, why: str) -> Lost:
    held.lost = held.lost or why
    return Lost(held.lost)


def _normal(body: str) -> str:
    return body.replace("\r\n", "\n").strip()
