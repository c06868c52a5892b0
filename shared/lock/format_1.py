"""The first format: every claim has an ACK in a comment of its own, which names the one that it succeeds (pure).

Engines that spoke it alone wrote the line `ack/2` below an ACK's first; the very first wrote none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.lock.claimant import LockTimes
from shared.lock.codec import STATES, UNKNOWN_PREV, Ack, AckState, ItemKey, Trailer, parse_foreign, read_first_line
from shared.lock.fence import Fence
from shared.models import Comment
from shared.workflow import Role

_VERSION = 2

# Digits are ASCII and bounded: a comment can hold more of them than `int` and `timedelta` take.
_OURS = re.compile(
    rf"<!-- ack/{_VERSION} prev=([0-9]{{1,19}}) nonce=([0-9a-f]{{32}}) state=({'|'.join(STATES)}) "
    r"hb=([0-9]{1,9}) ttl=([0-9]{1,8})(?: [a-z][a-z0-9_]*=[^\s<>]*)*? mac=\S* -->"
)
"""Unknown fields may follow ours: only the version that wrote them knows their meaning."""

_NEWER = re.compile(r"<!-- ack/([1-9][0-9]{0,3})(?: [^<>]*)? -->")

LEGACY = Trailer(prev=0, nonce="0" * 32, state="active", heartbeat=0, ttl_seconds=1800, opaque=True)
"""The trailer of an ACK of the first format, its first line alone: no predecessor, never renewed."""


@dataclass(frozen=True, slots=True)
class End:
    """The time from which a holder counts as dead if it shows no sign of life before."""

    at: datetime
    agent: str
    nonce: str = ""
    opaque: bool = False


def read_format_1(comment: Comment) -> Ack | None:
    """Return the ACK that a comment of its own spells, whoever wrote it; None if it spells none."""
    head, _, rest = comment.body.replace("\r\n", "\n").partition("\n")
    legacy, second = not rest.strip(), rest.partition("\n")[0].rstrip()
    first, trailer = read_first_line(head.rstrip()), LEGACY if legacy else parse(second)
    if first is None or trailer is None:
        return None
    return ack_of_trailer(comment, first, trailer, comment.created_at if legacy else comment.updated_at)


def parse(line: str) -> Trailer | None:
    """Return the trailer that a line spells: ours, or a newer version's, which is opaque; None if it spells none."""
    found = _OURS.fullmatch(line)
    if found is not None:
        return Trailer(int(found[1]), found[2], found[3], int(found[4]), int(found[5]))
    newer = _NEWER.fullmatch(line)
    return parse_foreign(line) if newer is not None and int(newer[1]) > _VERSION else None


def ack_of_trailer(comment: Comment, first: tuple[str, str, int], trailer: Trailer, updated_at: datetime) -> Ack:
    """Return the ACK that an `ACK:` line and the trailer below it spell."""
    return Ack(
        key=ItemKey(Role(first[0]), comment.number),
        agent=first[1],
        millis=first[2],
        prev=trailer.prev,
        nonce=trailer.nonce,
        state=AckState(trailer.state),
        revision=trailer.heartbeat,
        ttl_seconds=trailer.ttl_seconds,
        id=comment.id,
        updated_at=updated_at,
        opaque=trailer.opaque,
        shared=False,
    )


def fold(acks: Iterable[Ack], anchor: int = 0, *, deleted: Collection[int] = ()) -> int:
    """Return the comment id of the holder, starting from `anchor` (the fence's Ack-Id, or 0).

    The lowest id that names the current holder is its only successor; an ACK that names an older
    holder is dead for ever. An ACK whose predecessor came between the holder and itself and has been
    deleted (`deleted`: ids for which the server answered 404) counts as naming the holder; so does one of a newer
    version whose predecessor cannot be read.
    """
    holder = anchor
    for ack in sorted(acks, key=lambda a: a.id):
        names = ack.prev in {holder, UNKNOWN_PREV} or (holder < ack.prev < ack.id and ack.prev in deleted)
        if ack.id > holder and names:
            holder = ack.id
    return holder


def ends(fence: Fence, acks: Collection[Ack], deleted: Collection[int], times: LockTimes) -> tuple[End, ...]:
    """Return the ends of the fence's own ACK and of its successor among the comments; none if it was released.

    The own one counts even when a later one names it: the fence has refused that claimant, or was not asked yet. Where
    it carries another nonce than the fence, its text is of another life: its state frees nobody.
    """
    holder_id = fold((ack for ack in acks if not ack.shared), fence.ack_id, deleted=deleted)
    own = next((ack for ack in acks if ack.id == fence.ack_id), None)
    later = next((ack for ack in acks if ack.id == holder_id != fence.ack_id), None)
    if own is None and holder_id == fence.ack_id:  # deleted: its agent needs a heartbeat to notice
        return (End(fence.stamped + timedelta(seconds=times.heartbeat), "an agent whose ACK was deleted just now"),)
    found = []
    if own is not None and own.nonce != fence.nonce:
        at = max(own.updated_at, fence.stamped) + timedelta(seconds=times.timeout)
        found.append(End(at, fence.agent, fence.nonce))
    believed = [ack for ack in (own, later) if ack is later or (ack is not None and ack.nonce == fence.nonce)]
    active = [ack for ack in believed if ack is not None and ack.state is AckState.ACTIVE]
    found += [End(a.updated_at + timedelta(seconds=a.ttl_seconds), a.agent, a.nonce, a.opaque) for a in active]
    return tuple(found)
