"""What a claim has just read of an item, for the first look of who won it: good once, and not for long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

RECENT_SECONDS = 30.0
"""As old as what a poll tells may be; a claim takes less."""

T = TypeVar("T")


class ReadCache(Generic[T]):
    """The items that one agent's claims have read. Only for steps that begin something: nothing final rests on them."""

    def __init__(self, boot: Callable[[], float]) -> None:
        """`boot` is the boot clock in seconds."""
        self._boot = boot
        self._seen: dict[int, tuple[float, T]] = {}

    def keep(self, number: int, item: T) -> None:
        """An item as it was read now; those that are too old to be used go."""
        now = self._boot()
        self._seen = {other: seen for other, seen in self._seen.items() if now - seen[0] < RECENT_SECONDS}
        self._seen[number] = now, item

    def take(self, number: int) -> T | None:
        """What was kept of an item in the last 30 seconds, and not taken since."""
        at, item = self._seen.pop(number, (0.0, None))
        return item if self._boot() - at < RECENT_SECONDS else None
