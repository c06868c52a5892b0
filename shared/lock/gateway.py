"""The lock's port over the real world: comments by REST, fences by git, time by a clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol, TypeVar, cast

from shared.clock import Clock
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, read_fence, write_fence
from shared.lock.port import (
    AdvanceFence,
    EditComment,
    ForeignFence,
    Operation,
    PostComment,
    ProbeRefs,
    ReadComment,
    ReadComments,
    ReadFence,
    RefUpdate,
    Reply,
)
from shared.lock.write_permit import ACK, Notice, WritePermit
from shared.models import Comment

T = TypeVar("T")


class CommentStore(Protocol):
    """A repository's comments, as far as the lock needs them."""

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]: ...

    async def opening(self, number: int, since: datetime | None) -> tuple[Comment, ...]: ...

    async def comment(self, id: int) -> Comment | None: ...

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment: ...

    async def edit(self, id: int, body: str, permit: WritePermit, *, urgent: bool = False) -> Comment | None: ...


class FenceStore(Protocol):
    """The git server's refs, as far as the lock needs them."""

    async def read(self, ref: str) -> tuple[str, str] | None: ...

    async def commit(self, message: str, parents: Sequence[str]) -> str: ...

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None: ...

    async def probe(self) -> None: ...


class Gateway:
    """Answers the lock's operations with one repository's GitHub and git."""

    def __init__(
        self,
        comments: CommentStore,
        fences: FenceStore,
        clock: Clock,
        server_time: Callable[[], datetime],
        named: Callable[[Fence], None] = lambda fence: None,
        sure: Callable[[], bool] = lambda: True,
    ) -> None:
        """`named` receives each fence that was read or moved: what it names is known to exist.

        `sure` returns whether nothing speaks against the server's time.
        """
        self._comments = comments
        self._fences = fences
        self._clock = clock
        self._server_time = server_time
        self._named = named
        self._sure = sure

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Carry out one operation; raises the errors of the two stores."""
        sent: list[float] = []
        notice = Notice(0, ACK, lambda: sent.append(self._clock.boot()))
        value = await self._answer(operation, notice)
        return Reply(cast("T", value), self._server_time(), sent[-1] if sent else None, self._sure())

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        await self._clock.sleep(seconds)

    def now(self) -> float:
        """Return the local wall clock in seconds."""
        return self._clock.now()

    def boot(self) -> float:
        """Return the seconds since boot."""
        return self._clock.boot()

    async def _answer(self, operation: Operation[Any], notice: Notice) -> object:
        match operation:
            case ReadFence(item):
                return await self._read(item)
            case ReadComments(number, since, opening=True):
                return await self._comments.opening(number, since)
            case ReadComments(number, since):
                return await self._comments.thread(number, since)
            case ReadComment(id):
                return await self._comments.comment(id)
            case PostComment(number, body):
                return await self._comments.post(number, body, replace(notice, number=number))
            case EditComment(id, body):
                return await self._comments.edit(id, body, notice, urgent=True)
            case AdvanceFence():
                return await self._advance(operation)
            case ProbeRefs():
                await self._fences.probe()
                return None
            case _:
                raise TypeError(f"the lock has no operation {type(operation).__name__}")

    async def _read(self, item: ItemKey) -> Fence | None:
        found = await self._fences.read(item.ref)
        if found is None:
            return None
        fence = read_fence(item, *found)
        if fence is None:  # as if absent, it would be claimed for ever and in vain
            raise ForeignFence(item.ref, found[0])
        self._named(fence)
        return fence

    async def _advance(self, advance: AdvanceFence) -> str | None:
        parents, updates = [parent for parent in (advance.expected, advance.carries) if parent], advance.updates
        if advance.other is not None:
            other = advance.other
            made = await self._fences.commit(write_fence(other), [other.oid])
            updates = (*updates, RefUpdate(other.key.ref, other.oid, made))
        ref, message = advance.fence.key.ref, write_fence(advance.fence)
        self._named(advance.fence)
        return await self._fences.advance(ref, message, advance.expected, parents, updates)
