"""Holding a lease: the proof that writes need, its heartbeat, its agent's words in the comment, and its end."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import InitVar, dataclass, field, replace
from datetime import datetime, timedelta

from shared.errors import Blocked, Lost, NotAllowed, Transient, Unauthorized
from shared.lock.claimant import Claimant, EndedComment
from shared.lock.codec import Ack, AckState
from shared.lock.comment import NO_WORDS, Words, carried, is_told, normal, trusted, write_ack
from shared.lock.fence import Fence
from shared.lock.lease import Lease, LeaseMemory
from shared.lock.port import AdvanceFence, Port, ReadComment, ReadFence
from shared.lock.writes import edit, swap
from shared.models import Comment
from shared.workflow import TERMINAL, Stage, works_at

_SEAL = object()

RETRY_SHARE = 10
"""Divisor: a failed heartbeat is retried after the heartbeat interval divided by this."""

RELEASED = "the lease was released"
"""Reason why nothing may be done after `release`: no loss, but no proof either."""

TAKEN = "another agent has taken over"
DELETED = "the comment of the lock was deleted"
EDITED = "the comment of the lock was edited"
ORDERS = frozenset({DELETED, EDITED})
"""Persons' orders to stop. The fence is released only when the work has ended: a waiting agent begins at once."""

NEW_SECONDS = 120.0
"""Seconds in which a posted comment may not be shown yet; never longer than the lock leaves between two holders."""

JUST_WRITTEN_SECONDS = 10.0
"""Seconds after an edit of ours in which the comment is taken to be as we left it; such an edit renews no deadline."""

LATE_SECONDS = 30.0
"""Seconds from which an answer may have waited here: its time is not taken for the present."""

TURN_SECONDS = 0.2
"""Seconds between two looks of a waiting writer, whether it is its turn."""


@dataclass(slots=True)
class Held:
    """The proof of a lease; only `begin` makes one. Check it after every await that precedes an effect."""

    port: Port
    claimant: Claimant
    ack: Ack
    """The lock as its comment shows it."""
    fence: Fence
    """The fence as it was moved last."""
    deadline: float
    """Boot time from which the lease counts as lost unless a heartbeat succeeds before."""
    server: tuple[datetime, float]
    """The server's time in its last answer, and the boot time of that."""
    seal: InitVar[object]  # not a field: `dataclasses.replace` must not make a second proof
    words: Words = NO_WORDS
    """The text that its comment is to have."""
    posted_words: Words | None = None
    """The text that its comment certainly has."""
    leads_to: Stage | None = None
    """The stage that the words name, which the fence may reach only after they have been told."""
    posted: float | None = None
    """Boot time at which the comment was made; None if it was there before this epoch."""
    edited_at: datetime | None = None
    """The server's time of our last edit of the comment."""
    unread: bool = False
    """True if the comment could not be read when the epoch began, nor was written since: what it tells is kept."""
    lost: str = ""
    """Reason why the lease does not hold any more; empty while it does."""
    beaten: float = 0.0
    """Boot time of the last heartbeat that found the comment, else of the claim."""
    edited: float = 0.0
    """Boot time of our last edit of the comment, else of the claim."""
    written: set[bytes] = field(default_factory=set)
    """Digests of the texts that the comment may have without a person's edit."""
    sent: set[str] = field(default_factory=set)
    """Things that it has made or may have made, by the fence's names for them."""
    edits: list[object] = field(default_factory=list)
    """Queue of the writers of the comment."""
    moves: list[object] = field(default_factory=list)
    """Queue of the writers of the fence."""
    memory: LeaseMemory = field(default_factory=LeaseMemory)
    """The values that its agent keeps about the item."""

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only shared.lock.hold.begin makes a Held")

    def check(self) -> None:
        """Raise `Lost` unless the lease certainly still holds."""
        check(self)

    def server_now(self) -> datetime:
        """Return the server's time: its last `Date`, carried on by the boot clock, whole seconds."""
        at, boot = self.server
        return (at + timedelta(seconds=self.port.boot() - boot)).replace(microsecond=0)


def begin(port: Port, lease: Lease, claimant: Claimant) -> Held:
    """Return the proof for a lease that `claim` has just won."""
    for known in (claimant.ended_comments, claimant.final_comments):
        known.pop(lease.fence.key.ref, None)
    texts = [write_ack(lease.ack, claimant.keys, lease.words)] + ([] if lease.replaced is None else [lease.replaced])
    return Held(
        port=port,
        claimant=claimant,
        ack=lease.ack,
        fence=lease.fence,
        deadline=lease.boot + claimant.times.self_fence,
        server=(lease.at, lease.boot),
        seal=_SEAL,
        words=lease.words,
        posted_words=lease.words if lease.edited_at is not None or lease.posted is not None else None,
        posted=lease.posted,
        beaten=lease.boot,
        edited=lease.boot,
        edited_at=lease.edited_at,
        unread=bool(lease.ack.id) and lease.posted is None and lease.replaced is None,
        written={_digest(text) for text in texts},
    )


def check(held: Held) -> None:
    """Raise `Lost` if the lease was lost or its self-fence deadline (boot clock) has passed."""
    if not held.lost and held.port.boot() >= held.deadline:
        held.lost = "no heartbeat succeeded in time"
    if held.lost:
        raise Lost(held.lost)


async def beat_until_lost(held: Held) -> None:
    """Beat until the lease is lost; always ends by raising `Lost`.

    Any other edit of the comment meanwhile counts as a heartbeat too. A refused token is tried again until the
    deadline; any other refusal is for good.
    """
    interval = held.claimant.times.heartbeat
    pause = interval
    while True:
        await held.port.sleep(max(0.0, min(pause, held.deadline - held.port.boot())))
        check(held)
        left = held.beaten + interval - held.port.boot()
        if pause == interval and left > interval / RETRY_SHARE:
            pause = left
            continue
        try:
            await beat(held)
        except (Transient, Unauthorized):
            pause = interval / RETRY_SHARE
        except Blocked as error:
            raise _lose(held, str(error)) from error
        else:
            pause = interval


async def beat(held: Held, words: Words | None = None) -> None:
    """Send one heartbeat, maybe with new words: the comment must be as an epoch wrote it, and the fence must be ours.

    The comment is read before it is written: a blind edit would restore what a person changed. A late text of an
    older epoch is written over. Raises `Lost` or `Transient`.
    """
    async with turn(held, held.edits):
        sent = held.port.boot()
        there = not held.ack.id or await _renew(held, words)
        asked = held.port.boot()
        reply = await held.port.request(ReadFence(held.fence.key))
        fence, boot = reply.value, held.port.boot()
        if fence is None or fence.nonce != held.ack.nonce:
            raise _lose(held, TAKEN)
        # After a pause the answer's time is that of before; stamps by it would be too old, and end the lease early.
        server = (reply.at, boot) if boot - asked < LATE_SECONDS else held.server
        if (held.server_now() - held.fence.stamped).total_seconds() >= held.claimant.times.stamp:
            await _stamp(held)
        check(held)
        held.deadline = sent + held.claimant.times.self_fence
        held.server, held.beaten = server, sent if there else held.beaten  # what may be deleted is looked for soon


async def tell(held: Held, words: Words, leads_to: Stage | None = None) -> None:
    """Change the words in the comment. It is not read before if this lease wrote it a moment ago.

    `leads_to` is the stage that the words name: an end that is told needs no second edit when the lock is released.
    """
    held.leads_to = leads_to
    if held.posted_words is None or not held.ack.id or held.port.boot() - held.edited >= JUST_WRITTEN_SECONDS:
        await beat(held, words)
        return
    async with turn(held, held.edits):
        check(held)
        held.words = words
        await _write(held)


async def _renew(held: Held, words: Words | None) -> bool:
    """Read the comment, and write it again if it is as we or an older epoch left it; return whether it is there."""
    found = (await held.port.request(ReadComment(held.ack.id))).value
    if found is not None:
        await _look(held, found)
    if words is not None:
        held.words = words
    check(held)  # after a long pause the text just read may be an old one: a person may have edited it since
    return await _write(held)


async def _write(held: Held) -> bool:
    """Write it again. A reading that does not show it may be an old one; only a refused edit shows a deletion."""
    there = await _rewrite(held)
    if not there and not _is_new(held):
        raise _lose_by_order(held, DELETED)
    return there


def _is_new(held: Held) -> bool:
    """Return whether the comment was posted so lately that a 404 means nothing yet."""
    times = held.claimant.times
    patience = min(NEW_SECONDS, times.timeout - times.self_fence)
    return held.posted is not None and held.port.boot() - held.posted < patience


async def _look(held: Held, found: Comment) -> None:
    """Raise `Lost` if a newer epoch or a person wrote it; keep its words if they are our own, or were unread so far."""
    stale = held.edited_at is not None and found.updated_at < held.edited_at
    if stale or _digest(found.body) in held.written:
        return
    claimant = held.claimant
    ack = trusted(found, claimant.accounts, claimant.keys)
    if ack is None and is_told(found, held.fence.key, claimant.accounts, claimant.keys):
        return  # what was told before the first claim, or by an older engine, has arrived late: it is written over
    if ack is None or ack.opaque:
        raise _lose_by_order(held, EDITED)
    if ack.epoch > held.fence.epoch:
        raise _lose(held, TAKEN)
    if ack.nonce == held.ack.nonce or held.unread:
        shown = carried(found, held.fence.key, claimant.accounts, claimant.keys)
        held.words = replace(shown.words, doing=held.words.doing)
        held.ack = replace(held.ack, revision=max(held.ack.revision, ack.revision))


def _lose_by_order(held: Held, why: str) -> Lost:
    """Lose by a person's order in the comment and return the loss. `release` frees the fence after the work."""
    held.claimant.nonces.forget(held.ack.nonce)  # our next claim must not go on with this epoch
    return _lose(held, why)


async def _stamp(held: Held) -> None:
    """Put a sign of life into the fence itself, which counts if the comment cannot be read."""
    async with turn(held, held.moves):
        if not await _stamp_or_release(held):
            raise _lose(held, TAKEN)


async def _stamp_or_release(held: Held, released: str = "") -> bool:
    """Stamp the fence, release it if so asked, and return whether that worked: a late write of ours may have moved it.

    What such a write has released stays so.
    """
    for _ in range(2):
        fence, breaker = held.fence, held.claimant.breaker
        stamped = replace(fence, released=released or fence.released, alive=held.server_now(), oid="")
        moved = await swap(held.port, AdvanceFence(stamped, fence.oid), breaker)
        if moved is not None:
            held.fence = moved
            return True
        current = (await held.port.request(ReadFence(fence.key))).value
        if current is None or current.nonce != held.ack.nonce:
            return False
        held.fence = current
    return False


async def release(held: Held, state: AckState | None = None) -> bool:
    """Give the lease up after the last effect; False if the fence could not be moved (then it times out).

    The fence frees the item, and the comment tells people; if a person's edit ended the work, the comment stays as it
    is. The first call decides: a lost or released lease is left as it is.
    """
    ordered = held.lost in ORDERS
    if held.lost and not ordered:
        return held.fence.free
    held.lost = held.lost or RELEASED
    try:
        async with turn(held, held.moves):
            if not held.fence.free and not await _stamp_or_release(held, held.ack.nonce):
                return False
        if ordered:
            return True
        held.claimant.nonces.forget(held.ack.nonce)
        async with turn(held, held.edits):
            await _tell_end(held, state)
    except (Transient, Blocked):
        return held.fence.free
    return True


async def _tell_end(held: Held, state: AckState | None) -> None:
    """Tell people of the end, unless the last words say so already: they were told after the item was handed over."""
    ended = state or _over(held)
    is_told = held.posted_words == held.words and held.ack.state is ended
    if is_told or (held.ack.id and await _rewrite(held, ended)):
        held.claimant.ended_comments[held.fence.key.ref] = EndedComment(held.ack.nonce, held.ack.revision)


def _over(held: Held) -> AckState:
    """Return the state in the comment for a lock that is over, or about to be because its item has been handed over."""
    return AckState.DONE if TERMINAL & {held.fence.stage, held.leads_to} else AckState.RELEASED


def _at_work(held: Held) -> bool:
    """Return whether an agent of this kind may have more to do, at the stage of the fence and at the told one."""
    stages = (held.fence.stage, held.leads_to or held.fence.stage)
    return all(works_at(held.fence.key.kind, stage) for stage in stages)


async def _rewrite(held: Held, state: AckState | None = None) -> bool:
    """Write the comment; return whether it exists. One that we may not edit stays as it is: stamps are enough."""
    # Each text of this lease stays known: a lost reply leaves two candidates, a stale read shows an old one.
    held.ack = replace(held.ack, revision=held.ack.revision + 1)  # also when this fails: every edit has to be one
    ack = replace(held.ack, state=state or (AckState.ACTIVE if _at_work(held) else _over(held)))
    keys = held.claimant.keys
    held.written |= {_digest(write_ack(ack, keys, held.words)), _digest(write_ack(ack, keys))}
    held.posted_words = None
    try:
        edited = await edit(held.port, ack.id, ack, keys, held.words, _nothing if held.lost else held.check)
    except NotAllowed:
        return True
    if edited is None:
        return False
    held.unread = False
    held.ack, held.edited_at, held.posted_words, held.edited = ack, edited.updated_at, held.words, held.port.boot()
    return True


def _nothing() -> None:
    """Allow an edit after the loss: an end says of this epoch alone that it is over, so it may be told at any time."""


@asynccontextmanager
async def turn(held: Held, queue: list[object]) -> AsyncIterator[None]:
    """Wait for the turn, in the order of arrival: heartbeats and the work write one comment and one fence."""
    ticket = object()
    queue.append(ticket)
    try:
        while queue[0] is not ticket:
            await held.port.sleep(TURN_SECONDS)
        yield
    finally:
        queue.remove(ticket)


def _digest(body: str) -> bytes:
    return hashlib.sha256(normal(body).encode("utf-8", "surrogatepass")).digest()


def _lose(held: Held, why: str) -> Lost:
    held.lost = held.lost or why
    return Lost(held.lost)
