"""A lease: a claim that was won, and what its agent keeps about the item while it lasts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from shared.lock.codec import Ack
from shared.lock.comment import NO_WORDS, Words
from shared.lock.fence import Fence

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lease:
    """A won claim."""

    ack: Ack
    """Our ACK as its comment shows it; id 0: none does."""
    fence: Fence
    """The fence of our epoch."""
    at: datetime
    """The server's time right before the fence was moved."""
    boot: float
    """Boot time right before the fence was moved."""
    words: Words = NO_WORDS
    posted: float | None = None
    """Boot time at which the comment was made, if it was."""
    edited_at: datetime | None = None
    """The server's time of the comment's last edit, if that is known."""
    before: str = ""
    """Nonce of the epoch before."""
    replaced: str | None = None
    """The text that was written over: it is still there if that edit was lost, and is no person's edit."""


class LeaseMemory:
    """An agent's memory of an item while it works: the last value of each type. Nothing of it is forgotten."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def keep(self, value: T) -> T:
        """Keep a value, in place of an earlier one of its type."""
        self._kept[type(value)] = value
        return value

    def get(self, kind: type[T]) -> T | None:
        """Return the value of a type; None if none was kept."""
        kept: T | None = self._kept.get(kind)
        return kept

    def take(self, kind: type[T]) -> T | None:
        """Return and forget the value of a type; None if none was kept."""
        kept: T | None = self._kept.pop(kind, None)
        return kept
