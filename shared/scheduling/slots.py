"""The limit on items in work at once, over the loops of one process, and the queue of loops that wait for a slot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from shared.scheduling.items import Skip

NO_SLOT = Skip("this process has begun other work meanwhile, and has no slot left", 0.01)
"""The answer to a claim for which no slot was left once everything had been read; the loop is told of the next one."""

MOST_LOOKS = 8
"""Largest number of loops beyond the free slots that look at candidates side by side."""

_reserve: ContextVar[Callable[[], bool]] = ContextVar("reserve", default=lambda: True)


def reserved() -> bool:
    """Return whether the claim of this task may go on to its lock; from now until its end, a slot is kept for it.

    To be asked when everything has been read: loops look at candidates side by side, more of them than there are slots.
    Outside of `Slots.claiming`, true.
    """
    return _reserve.get()()


class Busy(Protocol):
    """A loop as `Slots` sees it: its number of busy items, and a way to wake it."""

    @property
    def busy(self) -> int:
        """Number of its items that are being worked on just now."""
        ...

    def poke(self) -> None:
        """Make the loop look again soon."""
        ...


class Slots:
    """The limit on items in work at once: over all repositories of one process, and in each.

    A loop that found no slot free is next, in the order of asking: a repository that is asked often, or has
    endless work, does not keep the others from their turn. A loop that does not come when it is its turn loses it.
    As many loops as there are free slots look at their candidates at a time, and one more for each look that led to
    nothing: what is read for a claim that then finds no slot is read in vain.
    """

    def __init__(self, limit: int, *, per_loop: int | None = None) -> None:
        self._limit = limit
        self._per_loop = limit if per_loop is None else per_loop
        self._loops: list[Busy] = []
        self._looking: dict[Busy, bool] = {}
        """Loops in a look; true once it was allowed to try a candidate, and has not come to a lock yet."""
        self._claiming: set[Busy] = set()
        """Loops whose claim has a slot kept for it; each loop makes one claim at a time."""
        self._in_vain = 0
        self._queue: dict[Busy, bool] = {}
        """Waiting loops, first come first served; true if a loop left a free slot unused while another one asked."""

    def join(self, loop: Busy) -> None:
        """Count the items of `loop`."""
        self._loops.append(loop)

    def free(self, loop: Busy) -> bool:
        """Return whether one more item may begin in `loop`, else queue it for its turn; resting items take no slot."""
        if loop.busy >= self._per_loop:
            self.leave(loop)
            return False
        goes_on = self._looking.get(loop, False) and self._left > 0
        vacant = self._vacant
        if goes_on or vacant > len(self._ahead(loop)) or vacant > len(self._still_ahead(loop)):
            self.leave(loop)
            if loop in self._looking:
                self._looking[loop] = True
            return True
        self._queue.setdefault(loop, False)
        return False

    @contextmanager
    def looking(self, loop: Busy) -> Iterator[None]:
        """Give the block of one look of `loop` at its candidates."""
        self._looking[loop] = False
        try:
            yield
        finally:
            if self._looking.pop(loop):
                self._in_vain = min(self._in_vain + 1, MOST_LOOKS)
                self.vacated()

    @contextmanager
    def claiming(self, loop: Busy) -> Iterator[None]:
        """Let `reserved` keep a slot for one claim of `loop` in this block, in which the claimed item also begins."""
        token = _reserve.set(lambda: self._reserve(loop))
        try:
            yield
        finally:
            _reserve.reset(token)
            if loop in self._claiming:
                self._claiming.remove(loop)
                self.vacated()

    def _reserve(self, loop: Busy) -> bool:
        if self._left <= 0:
            self._queue.setdefault(loop, False)
            return False
        self._claiming.add(loop)
        self._in_vain = 0
        if loop in self._looking:
            self._looking[loop] = False
        return True

    def turn(self, loop: Busy) -> Turn:
        """Return the slots as `loop` sees them."""
        return Turn(self, loop)

    def leave(self, loop: Busy) -> None:
        """Take `loop` out of the queue: it wants no slot now."""
        self._queue.pop(loop, None)

    def vacated(self) -> None:
        """Wake the loops that have waited longest: a slot may have become free."""
        for loop in tuple(self._queue)[: max(0, self._vacant)]:
            loop.poke()

    @property
    def _left(self) -> int:
        """Number of slots that nothing occupies, and no claim has reserved."""
        return self._limit - sum(loop.busy for loop in self._loops) - len(self._claiming)

    @property
    def _vacant(self) -> int:
        """Number of loops that may begin to look."""
        left = self._left
        return left + self._in_vain - sum(self._looking.values()) if left > 0 else left

    def _ahead(self, loop: Busy) -> list[Busy]:
        waiting = list(self._queue)
        return waiting[: waiting.index(loop)] if loop in self._queue else waiting

    def _still_ahead(self, loop: Busy) -> list[Busy]:
        """Return the loops still ahead after those that left a free slot unused twice have lost their turn."""
        if self._vacant > 0:
            for one in self._ahead(loop)[: self._vacant]:
                if self._queue[one]:
                    self.leave(one)
                else:
                    self._queue[one] = True
                    one.poke()
        return self._ahead(loop)


@dataclass(frozen=True, slots=True)
class Turn:
    """The slots as one loop sees them."""

    all_slots: Slots
    loop: Busy

    def free(self) -> bool:
        """Return whether one more item may begin; else the loop waits for its turn."""
        return self.all_slots.free(self.loop)

    def looking(self) -> AbstractContextManager[None]:
        """Return the block of one look at all candidates."""
        return self.all_slots.looking(self.loop)

    def claiming(self) -> AbstractContextManager[None]:
        """Return the block of one claim."""
        return self.all_slots.claiming(self.loop)
