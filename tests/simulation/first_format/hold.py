"""Holding a lease: the proof that writes need, its heartbeat, and how it ends."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from shared.errors import Blocked, Lost, Transient, Unauthorized, UnknownOutcome

from .codec import Ack, AckState, write_ack
from .port import EditComment, Port, ReadComment, ReadFence
from .record import Fence

if TYPE_CHECKING:
    from .claim import Lease
    from .claimant import Claimant

_SEAL = object()

RETRY_SHARE = 10
"""A failed heartbeat is tried again after this part of the heartbeat interval."""

RELEASED = "the lease was released"
"""Reason why nothing more may be done after `release`: no loss, but no proof either."""


@dataclass(slots=True)
class Held:
    """The proof of a lease; only `begin` makes one. Check it after every await that precedes an effect.

    `sent` is what it has made or may have made, by the names that the fence has for it.
    """

    port: Port
    claimant: Claimant
    ack: Ack
    fence: Fence
    deadline: float
    server: tuple[datetime, float]
    seal: InitVar[object]  # not a field: `dataclasses.replace` must not make a second proof
    lost: str = ""
    written: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    in_flight: bool = False

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only tests.simulation.first_format.hold.begin makes a Held")

    def check(self) -> None:
        """Raise `Lost` unless the lease certainly still holds."""
        check(self)

    def server_now(self) -> datetime:
        """The server's time: its last `Date`, carried on by the boot clock, whole seconds."""
        at, boot = self.server
        return (at + timedelta(seconds=self.port.boot() - boot)).replace(microsecond=0)


def begin(port: Port, lease: Lease, claimant: Claimant) -> Held:
    """The proof for a lease that `claim` has just won."""
    return Held(
        port=port,
        claimant=claimant,
        ack=lease.ack,
        fence=lease.fence,
        deadline=lease.boot + claimant.terms.self_fence,
        server=(lease.at, lease.boot),
        seal=_SEAL,
        written={_normal(write_ack(lease.ack, claimant.keys))},
    )


def check(held: Held) -> None:
    """Raise `Lost` when the lease was lost or its self-fence deadline (boot clock) has passed."""
    if not held.lost and held.port.boot() >= held.deadline:
        held.lost = "no heartbeat succeeded in time"
    if held.lost:
        raise Lost(held.lost)


async def beat_until_lost(held: Held) -> None:
    """Beat until the lease is lost; always ends by raising `Lost`.

    A refused token is tried again until the deadline; any other refusal is for good.
    """
    interval = held.claimant.terms.heartbeat
    pause = interval
    while True:
        await held.port.sleep(max(0.0, min(pause, held.deadline - held.port.boot())))
        check(held)
        try:
            await beat(held)
        except (Transient, Unauthorized):
            pause = interval / RETRY_SHARE
        except Blocked as error:
            raise _lose(held, str(error)) from error
        else:
            pause = interval


async def beat(held: Held) -> None:
    """One heartbeat: our ACK must be as we wrote it and the fence must be ours.

    The ACK is read before it is written: a blind edit would restore what a person changed.
    Raises `Lost` or `Transient`.
    """
    sent = held.port.boot()
    reply = await held.port.request(ReadComment(held.ack.id))
    server = (reply.at, held.port.boot())
    if reply.value is None:
        raise _lose(held, "the ACK comment was deleted")
    if _normal(reply.value.body) not in held.written:
        held.claimant.nonces.forget(held.ack.nonce)  # an order to stop: our next claim must not go on with this ACK
        raise _lose(held, "the ACK comment was edited")
    check(held)  # after a long pause the text just read may be an old one: a person may have edited it since
    await _rewrite(held, replace(held.ack, heartbeat=held.ack.heartbeat + 1))
    fence = (await held.port.request(ReadFence(held.fence.key))).value
    if fence is None or (fence.ack_id, fence.nonce) != (held.ack.id, held.ack.nonce):
        raise _lose(held, "another agent has taken over")
    check(held)
    held.deadline = sent + held.claimant.terms.self_fence
    held.server = server


async def release(held: Held, state: AckState = AckState.RELEASED) -> bool:
    """Give the lease up after the last effect; False when GitHub could not be told (it runs out).

    The first call decides: a lost or released lease is left as it is.
    """
    if held.lost:
        return held.ack.state is not AckState.ACTIVE
    held.lost = RELEASED
    overtaken = held.in_flight
    try:
        await _rewrite(held, replace(held.ack, state=state))
        if overtaken:
            await _release_again(held)
    except (Transient, Blocked, Lost):
        return False
    held.claimant.nonces.forget(held.ack.nonce)
    return True


async def _release_again(held: Held) -> None:
    """Release once more: a cancelled heartbeat's edit may arrive after the release, and undo it."""
    await held.port.sleep(held.claimant.terms.settle)
    found = (await held.port.request(ReadComment(held.ack.id))).value
    body = "" if found is None else _normal(found.body)
    if body in held.written and body != _normal(write_ack(held.ack, held.claimant.keys)):
        await _rewrite(held, replace(held.ack, heartbeat=held.ack.heartbeat + 2))


async def _rewrite(held: Held, ack: Ack) -> None:
    body = write_ack(ack, held.claimant.keys)
    # Each text of this lease stays known: a lost reply leaves two candidates, a stale read shows an old one.
    held.written.add(_normal(body))
    held.in_flight = True  # stays so when this is cancelled before the reply
    try:
        edited = (await held.port.request(EditComment(ack.id, body))).value
        held.in_flight = False
    except UnknownOutcome:
        held.ack = replace(held.ack, heartbeat=ack.heartbeat)  # the next text must differ: it has to count as an edit
        raise
    if edited is None:
        raise _lose(held, "the ACK comment was deleted")
    held.ack = ack


def _lose(held: Held, why: str) -> Lost:
    held.lost = held.lost or why
    return Lost(held.lost)


def _normal(body: str) -> str:
    return body.replace("\r\n", "\n").strip()
