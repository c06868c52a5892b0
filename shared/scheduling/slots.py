"""The limit on items in work at once, over the loops of one process, and the queue of loops that wait for a slot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

MOST_LOOKS = 8
"""Largest number of loops beyond the free slots that look at candidates side by side."""

PATIENT_LOOKS = 3
"""Looks of a loop without a result for which it waits for one that reads: minutes, if GitHub is slow."""


class Busy(Protocol):
    """A loop as `Slots` sees it: its number of busy items, and a way to wake it."""

    @property
    def in_work(self) -> int:
        """Number of its items that take a slot."""
        ...

    def poke(self) -> None:
        """Make the loop look again soon."""
        ...


class Slots:
    """The limit on items in work at once: over all repositories of one process, and in each.

    A loop that found no slot free is next, in the order of asking: a repository that is asked often, or has
    endless work, does not keep the others from their turn. As many loops as there are free slots look at their
    candidates at a time, and one more for each look that led to nothing: what is read for a claim that then finds no
    slot is read in vain. A loop that does not come when it is its turn is passed over until it comes, and keeps its
    place; a look that takes long does not keep the others from theirs.
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
        self._queue: list[Busy] = []
        """Waiting loops, the next one first."""
        self._delayed: dict[Busy, list[Busy]] = {}
        """Loops that each waiting or looking loop has kept from a free slot, once for each time."""
        self._passed_over: set[Busy] = set()
        """Waiting or looking loops that nobody waits for any more."""

    def join(self, loop: Busy) -> None:
        """Count the items of `loop`."""
        self._loops.append(loop)

    def free(self, loop: Busy) -> bool:
        """Return whether one more item may begin in `loop`, else queue it for its turn; resting items take no slot."""
        has_room = loop.in_work < self._per_loop
        if has_room and self._left > 0 and self._looking.get(loop, False):
            return True
        self._wait_again_for(loop)
        if has_room and (self._is_next(loop) or self._pass_over(loop)):
            if loop in self._queue:
                self._queue.remove(loop)
            if loop in self._looking:
                self._looking[loop] = True
            return True
        if loop not in self._queue:
            self._queue.append(loop)
        return False

    def reserve(self, loop: Busy) -> bool:
        """Keep a slot for the claim of `loop`, which has read everything; if there is none, it is the next one."""
        self._wait_again_for(loop)
        is_kept = loop in self._claiming or (self._left > 0 and loop.in_work < self._per_loop)
        if is_kept:
            self._claiming.add(loop)
            self._in_vain = 0
        elif loop not in self._queue:
            self._queue.insert(0, loop)
        if loop in self._looking:
            self._looking[loop] = False
        return is_kept

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
        """Give the block of one claim of `loop`, in which its item also begins; it ends with the slot that was kept."""
        try:
            yield
        finally:
            if loop in self._claiming:
                self._claiming.remove(loop)
                self.vacated()

    def turn(self, loop: Busy) -> Turn:
        """Return the slots as `loop` sees them."""
        return Turn(self, loop)

    def leave(self, loop: Busy) -> None:
        """Take `loop` out of the queue: it wants no slot now, and the next one may have its turn."""
        if loop in self._queue:
            self._queue.remove(loop)
            self._wait_again_for(loop)
            self.vacated()

    def vacated(self) -> None:
        """Wake the loops that have waited longest: a slot may have become free."""
        for loop in self._waiting[: max(0, self._vacant)]:
            loop.poke()

    @property
    def _left(self) -> int:
        """Number of slots that nothing occupies, and no claim has reserved."""
        return self._limit - sum(loop.in_work for loop in self._loops) - len(self._claiming)

    @property
    def _vacant(self) -> int:
        """Number of loops that may begin to look."""
        left = self._left
        return left + self._in_vain - len(self._reading) if left > 0 else left

    @property
    def _reading(self) -> list[Busy]:
        """The loops that read candidates, and for which others wait."""
        return [loop for loop, reads in self._looking.items() if reads and loop not in self._passed_over]

    @property
    def _waiting(self) -> list[Busy]:
        """The loops in the queue that may begin an item, and for which others wait."""
        return [loop for loop in self._queue if loop.in_work < self._per_loop and loop not in self._passed_over]

    def _is_next(self, loop: Busy) -> bool:
        return self._vacant > len(self._ahead(loop))

    def _ahead(self, loop: Busy) -> list[Busy]:
        waiting = self._waiting
        return waiting[: waiting.index(loop)] if loop in waiting else waiting

    def _pass_over(self, loop: Busy) -> bool:
        """Wait no longer for those that have held up `loop` before; return whether it is its turn then."""
        if self._left <= 0:
            return False
        for one in self._ahead(loop)[: max(0, self._vacant)]:
            one.poke()
            self._note_delay(loop, one, 1)
        for one in self._reading:
            self._note_delay(loop, one, PATIENT_LOOKS)
        return self._is_next(loop)

    def _note_delay(self, loop: Busy, by: Busy, most: int) -> None:
        times = self._delayed.setdefault(by, [])
        times.append(loop)
        if times.count(loop) > most:
            self._passed_over.add(by)

    def _wait_again_for(self, loop: Busy) -> None:
        """Wait for `loop` again: it has come, or wants no slot."""
        self._passed_over.discard(loop)
        self._delayed.pop(loop, None)


@dataclass(frozen=True, slots=True)
class Turn:
    """The slots as one loop sees them."""

    all_slots: Slots
    loop: Busy

    def free(self) -> bool:
        """Return whether one more item may begin; else the loop waits for its turn."""
        return self.all_slots.free(self.loop)

    def reserve(self) -> bool:
        """Return whether the claim may go on; from now until the end of its block, a slot is kept for it."""
        return self.all_slots.reserve(self.loop)

    def looking(self) -> AbstractContextManager[None]:
        """Return the block of one look at all candidates."""
        return self.all_slots.looking(self.loop)

    def claiming(self) -> AbstractContextManager[None]:
        """Return the block of one claim."""
        return self.all_slots.claiming(self.loop)
