"""Looking at an item's lock and claiming it: comments say who should try, the fence who may.

Order of reading: fence first, then comments, then compare-and-swap from that first value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from shared.errors import Blocked, Transient, UnknownOutcome
from shared.lock.codec import Ack, AckState, Fence, ItemKey, trusted, write_ack
from shared.lock.fence import swap
from shared.lock.fold import fold
from shared.lock.port import EditComment, Port, PostComment, ReadComment, ReadComments, ReadFence
from shared.marks import Keyring
from shared.models import Comment
from shared.workflow import Stage


@dataclass(frozen=True, slots=True)
class Terms:
    """How long things last, in seconds; the defaults are the protocol's."""

    timeout: float = 1800
    self_fence: float = 1500
    heartbeat: float = 300
    settle: float = 5


class Nonces(Protocol):
    """The nonces of this agent's own ACKs; they survive a restart."""

    def fresh(self) -> str:
        """A new nonce (32 hex digits), remembered before it is returned."""
        ...

    def mine(self, nonce: str) -> bool:
        """Whether `fresh` made it, in this life or an earlier one of the same agent id."""
        ...

    def forget(self, nonce: str) -> None:
        """The ACK that carried it is finished."""
        ...


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims: one agent of one repository."""

    agent: str
    accounts: frozenset[int]
    keys: Keyring
    nonces: Nonces
    terms: Terms = Terms()


@dataclass(frozen=True, slots=True)
class View:
    """What one look at an item's lock showed, at server time `at`."""

    key: ItemKey
    fence: Fence | None
    acks: tuple[Ack, ...]
    holder: Ack | None
    holder_id: int
    at: datetime

    def active(self) -> tuple[Ack, ...]:
        """The ACKs that keep others away: the fence's own and the comment layer's holder, while live.

        The fence's own counts even when a later ACK names it: the fence has refused that claimant,
        or was not asked yet.
        """
        fenced = tuple(ack for ack in self.acks if self.fence and ack.id == self.fence.ack_id != self.holder_id)
        return tuple(ack for ack in (*fenced, self.holder) if ack and ack.live(self.at))

    def live(self, terms: Terms) -> bool:
        """Whether somebody holds it. A deleted ACK holds for one heartbeat after its last fence."""
        if self.holder is None and self.fence is not None:
            return self.at - self.fence.at < timedelta(seconds=terms.heartbeat)
        return bool(self.active())

    def taken_by(self, claimant: Claimant) -> str:
        """Who else holds it, as a word for people; empty when `claimant` may try."""
        if not self.live(claimant.terms):
            return ""
        if not self.active():
            return "an agent whose ACK was deleted just now"
        others = [ack.agent for ack in self.active() if not _is_mine(ack, claimant)]
        return others[-1] if others else ""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a claim wants to begin: the new epoch's stage and the facts it is bound to."""

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
    """A won claim: our ACK and the fence of our epoch; `at` and `boot` are times from before the ACK was sent."""

    ack: Ack
    fence: Fence
    at: datetime
    boot: float


async def observe(port: Port, key: ItemKey, claimant: Claimant) -> View:
    """One look: fence, then thread, folded. Raises `Transient` when a read failed."""
    fence = (await port.request(ReadFence(key))).value
    since = fence.at - timedelta(seconds=claimant.terms.timeout) if fence else None
    reply = await port.request(ReadComments(key.number, since))
    return await _fold(port, claimant, View(key, fence, _acks(reply.value, key, claimant), None, 0, reply.at))


async def claim(port: Port, view: View, claimant: Claimant, intent: Intent) -> Lease | None:
    """Try to begin a new epoch from what `view` showed; None when somebody else has it or won.

    A holder that carries one of our own nonces is continued at once. Raises `Transient` when
    GitHub or git failed before anything was decided, `Blocked` when one of them refuses for good.
    """
    sent, live = port.boot(), view.live(claimant.terms)
    ack = await (_continue if live else _acknowledge)(port, view, claimant)
    if ack is None:
        return None
    try:
        fence = await swap(port, _epoch(view, ack, intent), view.fence.oid if view.fence else None)
    except Blocked:
        await _let_go(port, ack, claimant)
        raise
    if fence is not None:
        return Lease(ack, fence, view.at, sent)
    if not live:  # a continued ACK is superseded now, or a late write of our own came first: try again
        await _let_go(port, ack, claimant)
    return None


async def _continue(port: Port, view: View, claimant: Claimant) -> Ack | None:
    """Our own live ACK, renewed under a fresh nonce: an earlier life of this agent finds itself lost."""
    active = view.active()
    if not active or not all(_is_mine(ack, claimant) for ack in active):
        return None
    old = active[-1]
    ack = replace(old, nonce=claimant.nonces.fresh(), heartbeat=old.heartbeat + 1)
    edited = (await port.request(EditComment(ack.id, write_ack(ack, claimant.keys)))).value
    claimant.nonces.forget(old.nonce)
    return None if edited is None else ack


def _is_mine(ack: Ack, claimant: Claimant) -> bool:
    return not ack.opaque and ack.agent == claimant.agent and claimant.nonces.mine(ack.nonce)


async def _acknowledge(port: Port, view: View, claimant: Claimant) -> Ack | None:
    """Post an ACK, let it settle, and return it if it is the holder's only successor."""
    ack = await _post(port, view, claimant)
    if ack is None:
        return None
    await port.sleep(claimant.terms.settle)
    reply = await port.request(ReadComments(view.key.number, _recent(view, claimant)))
    again = _acks(reply.value, view.key, claimant)
    if all(other.nonce != ack.nonce for other in again):
        await _let_go(port, ack, claimant)
        return None
    # Both reads count: a second, staler read must not hide a rival that the first one showed.
    seen = {other.id: other for other in (*view.acks, *again)}
    holder = (await _fold(port, claimant, replace(view, acks=tuple(seen.values())))).holder
    if holder is not None and holder.nonce == ack.nonce:  # by nonce: a POST carried out twice has two ids
        return replace(ack, id=holder.id)
    claimant.nonces.forget(ack.nonce)
    return None


async def _post(port: Port, view: View, claimant: Claimant) -> Ack | None:
    """The posted ACK; after a lost reply it is looked up by its nonce and never posted again."""
    draft = Ack(
        key=view.key,
        agent=claimant.agent,
        millis=int(port.now() * 1000) % 10**13,  # 13 digits even when the clock is off
        prev=view.holder_id,
        nonce=claimant.nonces.fresh(),
        ttl_seconds=int(claimant.terms.timeout),
    )
    try:
        posted = (await port.request(PostComment(view.key.number, write_ack(draft, claimant.keys)))).value
    except UnknownOutcome:
        thread = await port.request(ReadComments(view.key.number, _recent(view, claimant)))
        return next((a for a in _acks(thread.value, view.key, claimant) if a.nonce == draft.nonce), None)
    return replace(draft, id=posted.id, updated_at=posted.updated_at)


async def _let_go(port: Port, ack: Ack, claimant: Claimant) -> None:
    """Release an ACK that won nothing, so that it delays nobody."""
    released = replace(ack, state=AckState.RELEASED)
    try:
        await port.request(EditComment(ack.id, write_ack(released, claimant.keys)))
    except (Transient, Blocked):
        return  # it runs out by itself; its nonce stays ours, so the next claim can continue it
    claimant.nonces.forget(ack.nonce)


def _epoch(view: View, ack: Ack, intent: Intent) -> Fence:
    """The first fence of the new epoch: what the old one knew, under a new Ack-Id."""
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
        body_sha256=intent.body_sha256 or old.body_sha256,
        approved_by=intent.approved_by or old.approved_by,
        wait=None,
        oid="",
    )


async def _fold(port: Port, claimant: Claimant, seen: View) -> View:
    """`seen` with its holder: the ACKs folded from the fence on; ids that are missing are asked for."""
    anchor = seen.fence.ack_id if seen.fence else 0
    present = {ack.id: ack for ack in seen.acks}
    deleted: set[int] = set()
    for prev in sorted({ack.prev for ack in seen.acks if ack.prev > anchor and ack.prev not in present}):
        if (await port.request(ReadComment(prev))).value is None:
            deleted.add(prev)
    holder_id = fold(seen.acks, anchor, deleted=deleted)
    holder = present.get(holder_id)
    if holder is None and holder_id:
        comment = (await port.request(ReadComment(holder_id))).value
        holder = next(iter(_acks([comment] if comment else [], seen.key, claimant)), None)
    return replace(seen, holder=holder, holder_id=holder_id)


def _acks(comments: Iterable[Comment], key: ItemKey, claimant: Claimant) -> tuple[Ack, ...]:
    found = (trusted(comment, claimant.accounts, claimant.keys) for comment in comments)
    return tuple(ack for ack in found if ack is not None and ack.key == key)


def _recent(view: View, claimant: Claimant) -> datetime:
    """From when on a second look needs the thread: what is older, the first look has shown."""
    return view.at - timedelta(seconds=claimant.terms.timeout)
