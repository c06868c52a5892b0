"""A one-shot cache: hands an item that was read while claiming to the first step of the claim's winner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

RECENT_SECONDS = 30.0
"""Seconds for which an item is kept: as old as the result of a poll may be; a claim takes less."""

T = TypeVar("T")


class ReadCache(Generic[T]):
    """Items that one agent's claims have read. Only for steps that begin work: no final decision rests on them."""

    def __init__(self, boot: Callable[[], float]) -> None:
        """`boot` is the boot clock in seconds."""
        self._boot = boot
        self._seen: dict[int, tuple[float, T]] = {}

    def keep(self, number: int, item: T) -> None:
        """Keep an item as it was read now; forget those that are too old."""
        now = self._boot()
        self._seen = {other: seen for other, seen in self._seen.items() if now - seen[0] < RECENT_SECONDS}
        self._seen[number] = now, item

    def take(self, number: int) -> T | None:
        """Return and forget an item that was kept in the last 30 seconds; None if there is none."""
        at, item = self._seen.pop(number, (0.0, None))
        return item if self._boot() - at < RECENT_SECONDS else None
