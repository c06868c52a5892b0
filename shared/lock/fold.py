"""The holder by the ACKs of the first format: a pure function of the trusted ones of one kind on one thread."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shared.lock.codec import Ack
from shared.lock.trailer import UNKNOWN_PREV


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
