"""The announcement of a new epoch on its thread: in the one comment of its kind, which is posted if there is none.

A posted comment is recorded in the fence before anything is paid for; an epoch whose comment cannot be recorded is
released.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from shared.errors import Blocked, EngineError, Lost, NotAllowed, Transient, UnknownOutcome
from shared.lock.claimant import Claimant
from shared.lock.codec import AckState, ItemKey
from shared.lock.comment import NO_WORDS, NOTHING_SHOWN, Shown, Words, carried, is_told, shown, trusted, write_ack
from shared.lock.fence import Fence
from shared.lock.lease import Lease
from shared.lock.port import AdvanceFence, Port, PostComment, ReadComment, ReadComments
from shared.lock.standing import LockStanding
from shared.lock.view import LockView
from shared.lock.writes import edit, swap
from shared.models import Comment

TRIES = 3
"""Attempts to show an epoch in its comment; after that the fence alone is the sign of life."""

YOUNG_SECONDS = 120.0
"""Seconds after the release of a fence in which its comment is read twice: one replica may lack the last edit."""

MOST_POSTS = 2
"""Posts without a recorded comment after which no more are sent."""


class Announcement:
    """The way of one new epoch to its comment."""

    def __init__(self, port: Port, view: LockView, lease: Lease, claimant: Claimant) -> None:
        self._port, self._view, self._claimant = port, view, claimant
        self._lease = lease
        self._refused = False

    async def announce(self) -> Lease:
        """Show the epoch in its comment and return the lease as shown there.

        Raises `Lost` if it is over; releases it before any other error.
        """
        try:
            await self._show_epoch()
        except Lost:
            raise
        except (Transient, Blocked):
            await self._let_go()
            raise
        return self._lease

    async def _show_epoch(self) -> None:
        self._check()
        named = self._lease.fence.ack_id
        if named and await self._show_in(named):
            return
        thread = self._view.thread
        if thread is None or self._view.fence is not None:
            thread = (await self._port.request(ReadComments(self._lease.ack.key.number))).value
        for comment in adoptable(thread, self._view.key, self._claimant):
            if comment.id != named and await self._write_over(comment.id, comment):
                await self._record()
                await tidy(self._port, thread, self._lease.ack.id, self._view.key, self._claimant)
                return
        # A reading that does not show the comment may be an old one; an edit of what is deleted is refused.
        if named and not self._refused and await self._write_over(named, None):
            return
        await self._post()

    async def _show_in(self, id: int) -> bool:
        """Return whether the comment that the fence names is there, and may be edited by us; true also if unread."""
        try:
            old = await self._read_latest(id)
        except Transient:
            self._keep(id, NO_WORDS, 0)  # unread, it is not written over: the heartbeat does that
            return True
        return old is not None and await self._write_over(id, old)

    async def _read_latest(self, id: int) -> Comment | None:
        """Return the comment; the later of two readings if the first one may lack the last edit of the epoch before."""
        first = await self._read(id)
        if not self._may_lack_an_edit(first):
            return first
        await self._port.sleep(self._claimant.times.settle)
        readings = [one for one in (first, await self._read(id)) if one is not None]
        return max(readings, key=lambda one: (one.updated_at, self._carried(one).revision), default=None)

    async def _read(self, id: int) -> Comment | None:
        for _ in range(TRIES - 1):
            with suppress(Transient):
                return (await self._port.request(ReadComment(id))).value
        return (await self._port.request(ReadComment(id))).value

    def _may_lack_an_edit(self, reading: Comment | None) -> bool:
        """Return whether a replica of GitHub may have shown the comment as it was before its last edit, or none yet.

        A dead holder's last edit is old. What this process wrote last is known; an earlier process of this agent may
        have written until it was killed, and whoever released the lock wrote right after that.
        """
        fence, ended = self._view.fence, self._claimant.ended_comments.get(self._view.key.ref)
        if fence is None or self._view.standing is LockStanding.DEAD:
            return False
        if ended is not None and ended.nonce == fence.nonce:
            return self._carried(reading).revision < ended.revision
        age = (self._view.at - fence.stamped).total_seconds()
        return self._view.standing is LockStanding.OURS or age < YOUNG_SECONDS

    def _carried(self, comment: Comment | None) -> Shown:
        """Return what a comment shows for the epoch that goes on in it; nothing for none."""
        key, claimant = self._view.key, self._claimant
        return NOTHING_SHOWN if comment is None else carried(comment, key, claimant.accounts, claimant.keys)

    async def _write_over(self, id: int, old: Comment | None) -> bool:
        """Show the epoch in this comment; return whether it is, or may be: a lost reply does not count as a failure."""
        claimant, before = self._claimant, self._carried(old)
        self._keep(id, replace(before.words, doing=claimant.doing(self._lease.fence)), before.revision + 1)
        self._lease = replace(self._lease, replaced=None if old is None else old.body)
        for _ in range(TRIES):
            self._check()
            try:
                edited = await edit(self._port, id, self._lease.ack, claimant.keys, self._lease.words, self._check)
            except NotAllowed:
                self._refused = True
                return False
            except Transient:
                continue
            self._lease = replace(self._lease, edited_at=None if edited is None else edited.updated_at)
            return edited is not None
        return True

    async def _post(self) -> None:
        """Post one new comment, without repetition; none after too many posts."""
        before = self._view.fence.posted if self._view.fence else 0
        if before >= MOST_POSTS:
            self._keep(0, NO_WORDS, 0)
            return
        if self._lease.fence.posted <= before:
            await self._move(replace(self._lease.fence, ack_id=0, posted=before + 1, oid=""))
        self._keep(0, Words(doing=self._claimant.doing(self._lease.fence)), 0)
        self._check()
        body = write_ack(self._lease.ack, self._claimant.keys, self._lease.words)
        try:
            id = (await self._port.request(PostComment(self._view.key.number, body))).value.id
        except UnknownOutcome:
            id = await self._posted_unanswered()
        self._keep(id, self._lease.words, 0)
        self._lease = replace(self._lease, posted=self._port.boot())
        await self._record()

    async def _posted_unanswered(self) -> int:
        """Return the id of a comment whose reply was lost. Raises `Transient` if GitHub does not show it."""
        await self._port.sleep(self._claimant.times.settle)
        thread = (await self._port.request(ReadComments(self._view.key.number))).value
        found = (trusted(one, self._claimant.accounts, self._claimant.keys) for one in thread)
        id = next((one.id for one in found if one is not None and one.nonce == self._lease.fence.nonce), 0)
        if not id:
            raise Transient("A comment was asked for; GitHub did not answer, and does not show it.")
        return id

    async def _record(self) -> None:
        """Record the comment's id in the fence."""
        await self._move(replace(self._lease.fence, ack_id=self._lease.ack.id, posted=0, oid=""))

    async def _move(self, fence: Fence) -> None:
        moved = await swap(self._port, AdvanceFence(fence, self._lease.fence.oid), self._claimant.breaker)
        if moved is None:
            raise Lost("another agent has taken over")
        self._lease = replace(self._lease, fence=moved)

    async def _let_go(self) -> None:
        """Release the lease and tell people. If that fails, the fence times out, or the next claim continues it."""
        fence, ack = self._lease.fence, self._lease.ack
        with suppress(EngineError):
            if await swap(self._port, AdvanceFence(replace(fence, released=fence.nonce, oid=""), fence.oid)):
                self._claimant.nonces.forget(fence.nonce)
        if ack.id:
            with suppress(EngineError):
                ended = replace(ack, state=AckState.RELEASED, revision=ack.revision + 1)
                await edit(self._port, ended.id, ended, self._claimant.keys, self._lease.words)

    def _keep(self, id: int, words: Words, revision: int) -> None:
        self._lease = replace(self._lease, ack=replace(self._lease.ack, id=id, revision=revision), words=words)

    def _check(self) -> None:
        """Raise `Lost` if so long a pause followed the fence's move that another agent may have taken over."""
        if self._port.boot() >= self._lease.boot + self._claimant.times.self_fence:
            raise Lost("no heartbeat succeeded in time")


def adoptable(thread: Iterable[Comment], key: ItemKey, claimant: Claimant) -> tuple[Comment, ...]:
    """Return the comments that may show a lock, the best first: the lowest id of this layout, then older engines'."""
    ours = ((_rank(one, key, claimant), one.id, one) for one in thread if one.author.id in claimant.accounts)
    return tuple(one for _, _, one in sorted(found for found in ours if found[0]))


def _rank(comment: Comment, key: ItemKey, claimant: Claimant) -> int:
    """Return 1 for a comment of this layout, 2 for an older engine's status comment, 3 for its ACK; 0 for any other."""
    if shown(comment, key.kind, claimant.accounts, claimant.keys) is not None:
        return 1
    if is_told(comment, key, claimant.accounts, claimant.keys):
        return 2
    ack = trusted(comment, claimant.accounts, claimant.keys)
    return 3 if ack is not None and ack.key == key and not ack.opaque else 0


async def tidy(port: Port, thread: Iterable[Comment], kept: int, key: ItemKey, claimant: Claimant) -> None:
    """End every other ACK of this kind that says that somebody is at work; refused edits are harmless and ignored."""
    for comment in thread:
        ack = trusted(comment, claimant.accounts, claimant.keys)
        if ack is None or ack.key != key or ack.id == kept or ack.opaque or ack.state is not AckState.ACTIVE:
            continue
        try:
            ended = replace(ack, state=AckState.RELEASED, revision=ack.revision + 1, shared=True)
            await edit(port, comment.id, ended, claimant.keys, NO_WORDS)
        except (Transient, Blocked):
            continue
