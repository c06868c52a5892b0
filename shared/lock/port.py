"""The lock's port to the world: the only things that its coroutines ever await.

In production `gateway.Gateway` answers with GitHub and git; a simulator answers by hand, in
virtual time. `Transient` means that a read failed or that a write was certainly not carried out;
`UnknownOutcome` means that a write may have happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from shared.errors import Outdated
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Comment

T = TypeVar("T")


class ForeignFence(Outdated):
    """A ref of the engine's own holds a commit that this version of the engine cannot read."""

    def __init__(self, ref: str, oid: str) -> None:
        super().__init__(
            f"{ref} holds {oid}, which this version of the engine cannot read: upgrade this agent, or delete the ref "
            "if no newer one is at work."
        )
        self.ref, self.oid = ref, oid


class Operation(Generic[T]):
    """One request whose answer has type `T`."""


@dataclass(frozen=True, slots=True)
class ReadFence(Operation[Fence | None]):
    """The fence of an item as the git server has it now (linearizable); None if there is none.

    Raises `ForeignFence` for one that cannot be read: as if absent, it would be taken over.
    """

    item: ItemKey


@dataclass(frozen=True, slots=True)
class ReadComments(Operation[tuple[Comment, ...]]):
    """The thread in ascending id order: all, or those updated at or after `since`. May be stale.

    With `opening` nothing is known of the thread yet, and as a rule nobody has commented: the answer may hold more than
    was asked for.
    """

    number: int
    since: datetime | None = None
    opening: bool = False


@dataclass(frozen=True, slots=True)
class ReadComment(Operation[Comment | None]):
    """One comment; None only if the server says that it does not exist (404)."""

    id: int


@dataclass(frozen=True, slots=True)
class PostComment(Operation[Comment]):
    """Add a comment. Never repeated below this port."""

    number: int
    body: str


@dataclass(frozen=True, slots=True)
class EditComment(Operation[Comment | None]):
    """Replace a comment's body; None if it no longer exists."""

    id: int
    body: str


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """One more ref that moves with the fence; `expected` None: it must not exist; `new` empty: it is deleted."""

    ref: str
    expected: str | None
    new: str


@dataclass(frozen=True, slots=True)
class AdvanceFence(Operation[str | None]):
    """Compare-and-swap the fence, and with it `updates`, all or nothing.

    `expected` is the 40-hex value that the ref must have (None: it must not exist). `carries` is a
    commit that becomes a parent of the fence, so that it is pushed although no branch has it yet.
    `other` is the new value of another item's fence at the same moment; its `oid` is the value that it
    must have. The answer is the new commit id, or None if the server refused because a value differed.
    """

    fence: Fence
    expected: str | None
    carries: str = ""
    updates: tuple[RefUpdate, ...] = ()
    other: Fence | None = None


@dataclass(frozen=True, slots=True)
class ProbeRefs(Operation[None]):
    """Create, move and delete a scratch ref beside the fences. Raises the git server's refusal."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """An answer and the server's time (`Date`) when it was given.

    `sent` is the boot time right before a comment was sent, if that is known: it may have waited for its turn.
    `sure`: nothing speaks against that time. Without it no epoch is taken over.
    """

    value: T
    at: datetime
    sent: float | None = None
    sure: bool = True


class Port(Protocol):
    """Everything a lock coroutine may await or read."""

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Carry out one operation."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        ...

    def now(self) -> float:
        """Return the local wall clock, seconds since the epoch; only for the printed milliseconds."""
        ...

    def boot(self) -> float:
        """Return the seconds since boot, suspend included."""
        ...
