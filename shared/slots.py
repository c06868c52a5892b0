"""How many items may be in work at once: counted over the loops of one process."""

from __future__ import annotations

from typing import Protocol


class Busy(Protocol):
    """What is counted of a loop."""

    @property
    def busy(self) -> int:
        """How many of its items are being worked on just now."""
        ...


class Slots:
    """How many items may be in work at once: over all repositories of one process, and in each."""

    def __init__(self, limit: int, *, per_loop: int | None = None) -> None:
        self._limit = limit
        self._per_loop = limit if per_loop is None else per_loop
        self._loops: list[Busy] = []

    def join(self, loop: Busy) -> None:
        """Count the items of `loop`."""
        self._loops.append(loop)

    def free(self, loop: Busy) -> bool:
        """Whether one more may begin in `loop`; resting items take no slot."""
        return loop.busy < self._per_loop and sum(other.busy for other in self._loops) < self._limit
