"""A look at an item's lock: the fence first, then the thread, folded to the holder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.models import Comment

from .claimant import Claimant, LockTimes, is_mine
from .codec import Ack, ItemKey, trusted
from .fold import fold
from .port import Port, ReadComment, ReadComments, ReadFence
from .record import Fence
from .trailer import OPAQUE_SECONDS


@dataclass(frozen=True, slots=True)
class View:
    """The result of one look at an item's lock, at server time `at`."""

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

    def live(self, terms: LockTimes) -> bool:
        """Return whether somebody holds it. A deleted ACK holds for one heartbeat after its last fence."""
        if self.holder is None and self.fence is not None:
            return self.at - self.fence.at < timedelta(seconds=terms.heartbeat)
        return bool(self.active())

    def taken_by(self, claimant: Claimant) -> str:
        """Return the other holder, as a word for people; empty when `claimant` may try."""
        if not self.live(claimant.terms):
            return ""
        if not self.active():
            return "an agent whose ACK was deleted just now"
        others = [ack.agent for ack in self.active() if not is_mine(ack, claimant)]
        return others[-1] if others else ""


async def observe(port: Port, key: ItemKey, claimant: Claimant) -> View:
    """One look: fence, then thread, folded. Raises `Transient` when a read failed."""
    looked = await port.request(ReadFence(key))
    fence = looked.value
    since = fence.at - timedelta(seconds=claimant.terms.timeout) if fence else _yesterday(looked.at, claimant.terms)
    reply = await port.request(ReadComments(key.number, since, opening=fence is None))
    return await folded(port, claimant, View(key, fence, acks_of(reply.value, key, claimant), None, 0, reply.at))


def _yesterday(at: datetime, terms: LockTimes) -> datetime:
    """Return the time from which an ACK without a fence can still matter.

    It is a whole day, because the same URL costs nothing when repeated.
    """
    oldest = at - timedelta(seconds=max(terms.timeout, OPAQUE_SECONDS))
    return oldest.replace(hour=0, minute=0, second=0, microsecond=0)


async def folded(port: Port, claimant: Claimant, seen: View) -> View:
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
        holder = next(iter(acks_of([comment] if comment else [], seen.key, claimant)), None)
    return View(seen.key, seen.fence, seen.acks, holder, holder_id, seen.at)


def acks_of(comments: Iterable[Comment], key: ItemKey, claimant: Claimant) -> tuple[Ack, ...]:
    """The trusted ACKs for `key` among comments."""
    found = (trusted(comment, claimant.accounts, claimant.keys) for comment in comments)
    return tuple(ack for ack in found if ack is not None and ack.key == key)
