"""A lease: a claim that was won, and what its agent keeps about the item while it lasts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from shared.lock.codec import Ack
from shared.lock.comment import NO_WORDS, Words
from shared.lock.record import Fence

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lease:
    """A won claim: our ACK as its comment shows it (id 0: none does), and the fence of our epoch.

    `at` and `boot` are times right before the fence was moved, `posted` the boot time at which the comment was made,
    `edited_at` the server's time of its last edit, where these are known; `before` is the nonce of the epoch before.
    `replaced` is the text that was written over: it is still there if that edit was lost, and is no person's edit.
    """

    ack: Ack
    fence: Fence
    at: datetime
    boot: float
    words: Words = NO_WORDS
    posted: float | None = None
    edited_at: datetime | None = None
    before: str = ""
    replaced: str | None = None


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
