"""Claiming an item: comments say who should try, the fence who may.

Order: fence first, then comments (`view.observe`), then compare-and-swap from that first value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from shared.errors import Blocked, Transient, UnknownOutcome
from shared.workflow import Stage

from .claimant import Claimant, is_mine
from .codec import Ack, AckState, write_ack
from .fence import swap
from .port import EditComment, Port, PostComment, ReadComments, Reply
from .record import Fence
from .view import View, acks_of, folded


@dataclass(frozen=True, slots=True)
class Intent:
    """Content of a new claim: the new epoch's stage and the facts it is bound to."""

    stage: Stage
    phase: str = ""
    attempt: int | None = None
    round: int | None = None
    pr: int | None = None
    base: str | None = None
    work_head: str | None = None
    body_sha256: str = ""
    approved_by: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """A won claim: our ACK and the fence of our epoch; `at` and `boot` are times right before the ACK was sent."""

    ack: Ack
    fence: Fence
    at: datetime
    boot: float


async def claim(port: Port, view: View, claimant: Claimant, intent: Intent) -> Lease | None:
    """Try to begin a new epoch from what `view` showed; None when somebody else has it or won.

    A holder that carries one of our own nonces is continued at once. Raises `Transient` when
    GitHub or git failed before anything was decided, `Blocked` when one of them refuses for good.
    """
    began, live = port.boot(), view.live(claimant.terms)
    ack, sent = await (_continue if live else _acknowledge)(port, view, claimant)
    if ack is None:
        return None
    try:
        fence = await swap(port, _epoch(view, ack, intent), view.fence.oid if view.fence else None)
    except UnknownOutcome:
        fence = None  # it is not there so far; should it arrive late, our released ACK holds nobody up
    except Blocked:
        await _let_go(port, ack, claimant)
        raise
    if fence is not None:
        sent = began if sent is None else sent
        return Lease(ack, fence, view.at + timedelta(seconds=sent - began), sent)
    if not live:  # a continued ACK is superseded now, or a late write of our own came first: try again
        await _let_go(port, ack, claimant)
    return None


Sent = tuple[Ack | None, float | None]
"""Our ACK, None when there is none, and the boot time right before it was sent, where that is known."""


async def _continue(port: Port, view: View, claimant: Claimant) -> Sent:
    """Renew our own live ACK under a fresh nonce: an earlier life of this agent finds itself lost."""
    active = view.active()
    if not active or not all(is_mine(ack, claimant) for ack in active):
        return None, None
    old = active[-1]
    ack = replace(old, nonce=claimant.nonces.fresh(), heartbeat=old.heartbeat + 1)
    edited: Reply[Any] = await port.request(EditComment(ack.id, write_ack(ack, claimant.keys)))
    claimant.nonces.forget(old.nonce)
    return (None if edited.value is None else ack), edited.sent


async def _acknowledge(port: Port, view: View, claimant: Claimant) -> Sent:
    """Post an ACK, let it settle, and return it if it is the holder's only successor."""
    ack, sent = await _post(port, view, claimant)
    if ack is None:
        return None, None
    await port.sleep(claimant.terms.settle)
    reply = await port.request(ReadComments(view.key.number, _recent(view, claimant)))
    again = acks_of(reply.value, view.key, claimant)
    if all(other.nonce != ack.nonce for other in again):
        await _let_go(port, ack, claimant)
        return None, None
    # Both reads count: a second, staler read must not hide a rival that the first one showed.
    seen = {other.id: other for other in (*view.acks, *again)}
    holder = (await folded(port, claimant, replace(view, acks=tuple(seen.values())))).holder
    if holder is not None and holder.nonce == ack.nonce:  # by nonce: a POST carried out twice has two ids
        return replace(ack, id=holder.id), sent
    claimant.nonces.forget(ack.nonce)
    return None, None


async def _post(port: Port, view: View, claimant: Claimant) -> Sent:
    """Post the ACK; after a lost reply it is looked up by its nonce and never posted again."""
    draft = Ack(
        key=view.key,
        agent=claimant.agent,
        millis=int(port.now() * 1000) % 10**13,  # 13 digits even when the clock is off
        prev=view.holder_id,
        nonce=claimant.nonces.fresh(),
        ttl_seconds=int(claimant.terms.timeout),
    )
    try:
        reply = await port.request(PostComment(view.key.number, write_ack(draft, claimant.keys)))
    except UnknownOutcome:
        thread = await port.request(ReadComments(view.key.number, _recent(view, claimant)))
        return next((a for a in acks_of(thread.value, view.key, claimant) if a.nonce == draft.nonce), None), None
    return replace(draft, id=reply.value.id, updated_at=reply.value.updated_at), reply.sent


async def _let_go(port: Port, ack: Ack, claimant: Claimant) -> None:
    """Release an ACK that won nothing, so that it delays nobody."""
    released = replace(ack, state=AckState.RELEASED)
    try:
        await port.request(EditComment(ack.id, write_ack(released, claimant.keys)))
    except (Transient, Blocked):
        return  # it runs out by itself; its nonce stays ours, so the next claim can continue it
    claimant.nonces.forget(ack.nonce)


def _epoch(view: View, ack: Ack, intent: Intent) -> Fence:
    """Return the first fence of the new epoch: the old one's facts, under a new Ack-Id."""
    old = view.fence or Fence(view.key, 0, "", "", intent.stage, view.at)
    names = ("attempt", "round", "pr", "base", "work_head")
    given = {name: value for name in names if (value := getattr(intent, name)) is not None}
    return replace(
        old,
        **given,
        ack_id=ack.id,
        nonce=ack.nonce,
        agent=ack.agent,
        stage=intent.stage,
        phase=intent.phase,
        at=view.at.replace(microsecond=0),
        paid_runs=old.paid_runs if intent.attempt is None else 0,
        failures=old.failures if intent.attempt is None else "",
        backend=old.backend if intent.attempt is None else "",
        body_sha256=intent.body_sha256 or old.body_sha256,
        approved_by=intent.approved_by or (old.approved_by if _goes_on(old, intent) else ""),
        wait=None,
        next_role="",
        oid="",
    )


def _goes_on(old: Fence, intent: Intent) -> bool:
    """Return whether a person's approval holds for the new epoch: the same text, and nothing that begins anew.

    A command is for the work that begins next: it has moved the fence to `ready`.
    """
    if old.stage is Stage.READY:
        return True
    same_text = intent.body_sha256 in {"", old.body_sha256}
    return same_text and intent.attempt is None and intent.round in {None, old.round}


def _recent(view: View, claimant: Claimant) -> datetime:
    """Return the time from which a second look reads the thread: older comments were in the first look."""
    return view.at - timedelta(seconds=claimant.terms.timeout)
