"""The claim of an item: the fence is moved first, by compare-and-swap; an agent that loses has written nothing.

Only then the one comment of this kind is edited, or posted where there is none and recorded in the fence before
anything is paid for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.errors import EngineError, Lost, Transient, UnknownOutcome
from shared.lock.announce import Announcement, adoptable
from shared.lock.claimant import Claimant
from shared.lock.codec import Ack
from shared.lock.fence import Fence
from shared.lock.lease import Lease
from shared.lock.port import AdvanceFence, Port, ProbeRefs
from shared.lock.standing import LockStanding
from shared.lock.view import LockView
from shared.lock.writes import swap
from shared.workflow import Stage

IN_DOUBT = (
    "GitHub's time is in doubt: its answers do not agree with each other, or with the clock of this machine. "
    "Nothing is claimed until they do, or have agreed with each other for 10 minutes."
)
"""Reason why nothing is claimed while the server's time is in doubt."""

OLD_SECONDS = 120.0
"""Age in seconds from which a lock is read again before a claim: if it had no ref, and others created one that a person
deleted meanwhile, the server would find none, as before, and the new chain would not count on from their epochs."""

OLD = "What was read of the lock is {:.0f} s old, because this machine stood still; it is read again."


@dataclass(frozen=True, slots=True)
class Intent:
    """The plan of a claim: the new epoch's stage and the facts that it is bound to."""

    stage: Stage
    phase: str = ""
    attempt: int | None = None
    round: int | None = None
    pr: int | None = None
    base: str | None = None
    work_head: str | None = None
    body_sha256: str = ""
    approved_by: str = ""


async def claim(port: Port, view: LockView, claimant: Claimant, intent: Intent) -> Lease | None:
    """Try to begin a new epoch from what `view` showed; None if another agent holds the item or won.

    An epoch that this agent holds already is continued under a fresh nonce: an earlier process of it is then lost.
    Raises `Transient` if nothing was decided, the server's time is in doubt (a wrong one makes a live holder look
    dead), or the git server refuses fences just now; `Blocked` if it or GitHub refuses for good.
    """
    if view.standing is LockStanding.HELD:
        return None
    if not view.sure:
        raise Transient(IN_DOUBT)
    await _admitted(port, claimant)
    boot = port.boot()
    if boot - view.asked_at > OLD_SECONDS:
        raise Transient(OLD.format(boot - view.asked_at))
    at = view.at + timedelta(seconds=boot - view.boot)
    draft = _epoch(view, claimant, intent, at)
    expected = view.fence.oid if view.fence else None
    try:
        fence = await swap(port, AdvanceFence(draft, expected), claimant.breaker)
    except UnknownOutcome:
        return None  # it is not there so far; should it arrive late, our nonce goes on with it
    if fence is None:
        claimant.nonces.forget(draft.nonce)
        return None
    if view.fence is not None and view.standing is LockStanding.OURS:
        claimant.nonces.forget(view.fence.nonce)
    lease = Lease(_ack(fence, claimant), fence, at, boot, before=view.fence.nonce if view.fence else "")
    try:
        return await Announcement(port, view, lease, claimant).announce()
    except Lost:
        return None


async def _admitted(port: Port, claimant: Claimant) -> None:
    """Return if the git server may be expected to take fences; else raise `Transient`, or the server's error."""
    breaker = claimant.breaker
    left = breaker.remaining_seconds(port.boot())
    if left:
        raise Transient(f"Nothing is claimed for {left:.0f} s: {breaker.why}")
    if not breaker.is_open:
        return
    try:
        await port.request(ProbeRefs())
    except EngineError as error:
        breaker.trip(error, port.boot())
        raise
    breaker.close()


def _ack(fence: Fence, claimant: Claimant) -> Ack:
    return Ack(
        key=fence.key,
        agent=fence.agent,
        millis=int(fence.at.timestamp() * 1000) % 10**13,
        prev=0,
        nonce=fence.nonce,
        ttl_seconds=int(claimant.times.timeout),
        id=fence.ack_id,
        epoch=fence.epoch,
    )


def _epoch(view: LockView, claimant: Claimant, intent: Intent, at: datetime) -> Fence:
    """Return the first fence of the new epoch: the facts of the old one, under a new nonce and a higher number."""
    old = view.fence or Fence(view.key, 0, "", "", intent.stage, view.at)
    names = ("attempt", "round", "pr", "base", "work_head")
    given = {name: value for name in names if (value := getattr(intent, name)) is not None}
    read = max((one.id for one in view.thread or ()), default=0)
    return replace(
        old,
        **given,
        format=2,
        epoch=max(old.epoch, view.epoch) + 1,
        ack_id=old.ack_id if old.format > 1 else 0,
        nonce=claimant.nonces.fresh(),
        released="",
        posted=old.posted + _asks_at_once(view, claimant),
        seen=max(old.position, read, claimant.read_up_to(view.key.number)),
        seen_before=old.position,
        agent=claimant.agent,
        stage=intent.stage,
        phase=intent.phase,
        at=at.replace(microsecond=0),
        alive=None,
        paid_runs=old.paid_runs if intent.attempt is None else 0,
        failures=old.failures if intent.attempt is None else "",
        backend=old.backend if intent.attempt is None else "",
        body_sha256=intent.body_sha256 or old.body_sha256,
        approved_by=intent.approved_by or (old.approved_by if _goes_on(old, intent) else ""),
        wait=None,
        next_role="",
        oid="",
    )


def _asks_at_once(view: LockView, claimant: Claimant) -> bool:
    """Return whether a comment will be posted without another move of the fence: it is known that none can be edited.

    Not before this process has moved a fence: a server that takes new refs may refuse to move them.
    """
    named = view.fence is not None and (view.fence.ack_id or view.fence.format == 1)
    if named or view.thread is None or not claimant.breaker.proven:
        return False
    return not adoptable(view.thread, view.key, claimant)


def _goes_on(old: Fence, intent: Intent) -> bool:
    """Return whether a person's approval covers the new epoch: the same text, and no new attempt or round.

    A command approves the work that begins next: it has moved the fence to `ready`.
    """
    if old.stage is Stage.READY:
        return True
    same_text = intent.body_sha256 in {"", old.body_sha256}
    return same_text and intent.attempt is None and intent.round in {None, old.round}
