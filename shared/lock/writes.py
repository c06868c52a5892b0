"""The two writes by which a lock changes: a fence is swapped, the comment that shows it is edited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shared.errors import Blocked, Gone, NotAllowed, Transient, Unauthorized, UnknownOutcome
from shared.lock.breaker import FenceCircuitBreaker
from shared.lock.codec import Ack
from shared.lock.comment import Words, write_ack
from shared.lock.fence import Fence, read_fence, write_fence
from shared.lock.port import AdvanceFence, EditComment, ForeignFence, Port, ReadFence
from shared.models import Comment
from shared.text.comment_signatures import Keyring


async def swap(port: Port, advance: AdvanceFence, breaker: FenceCircuitBreaker | None = None) -> Fence | None:
    """Move a fence; return it as it is now, or None if refused. After a lost reply the fence is read to find out.

    Raises `UnknownOutcome` if it has not moved so far: the lost write may still arrive. `breaker` is told of a refusal
    and, if the fence existed before, of a success.
    """
    try:
        moved = await _swap(port, advance)
    except (Transient, NotAllowed) as error:
        if breaker is not None:
            breaker.trip(error, port.boot())
        raise
    if moved is not None and advance.expected is not None and breaker is not None:
        breaker.moved()
    return moved


async def _swap(port: Port, advance: AdvanceFence) -> Fence | None:
    fence, expected = advance.fence, advance.expected
    try:
        oid = (await port.request(advance)).value
    except UnknownOutcome:
        try:
            current = (await port.request(ReadFence(fence.key))).value
        except ForeignFence:
            return None  # a newer engine's, so not ours
        if (current.oid if current else None) == expected:
            raise
        if current is None:
            return None
        # Compared as read back: a commit message keeps neither fractions of seconds nor odd spaces.
        return current if current == read_fence(fence.key, current.oid, write_fence(fence)) else None
    return None if oid is None else replace(fence, oid=oid)


async def edit(
    port: Port, id: int, ack: Ack, keys: Keyring, words: Words, check: Callable[[], None] = lambda: None
) -> Comment | None:
    """Edit the comment; return it as it is now, None if it does not exist. Errors as of the port.

    If GitHub finds the text too long, the lock's lines alone are written.

    `check` raises if the lease no longer holds: this machine may have stood still before the second try.
    """
    try:
        return (await port.request(EditComment(id, write_ack(ack, keys, words)))).value
    except (NotAllowed, Unauthorized, Gone):
        raise
    except Blocked:
        check()
        return (await port.request(EditComment(id, write_ack(ack, keys)))).value
