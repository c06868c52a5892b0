"""The slots of one process: how many items it works on at once over all its repositories, and who is next.

A repository asks for its turn when it has candidates. In its turn it reads them, which takes requests to GitHub and
holds nothing. A claim that has read everything takes a slot right before it pushes its lock; from then on the slot is
its item's. The item gives it away while it waits, and needs one again to go on. The rules:

1. Never more than `limit` slots are held, nor more than `per_repository` by one repository. One exception: an item that
   was woken looks without a slot whether its wait is over. A look of more than `LOOK_SECONDS` is work and holds one,
   even if none is free, for no step is interrupted (paid runs have a limit of their own); after it the item waits.
2. Nobody starves. Items that come back go first, because they hold locks; nothing new begins before them, so that they
   are few. Then it is the turn of the repository that has waited longest, however often others ask. An item waits
   between two steps and holds no slot meanwhile: no two wait for each other. Its lock is kept alive.
3. No slot stays free for somebody who does not come: a repository that was called, or that reads, is waited for no
   longer than `PATIENCE_SECONDS`. It keeps its place all the same.
4. Little is read in vain: as many repositories have their turn as slots are free, and one more for each look that led
   to nothing since the last claim, so that thousands of blocked items are not read one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from shared.clock import Clock

LOOK_SECONDS = 60.0
"""Seconds after its wake for which an item holds no slot: most only look, find that nothing is new, and rest again."""

PATIENCE_SECONDS = 90.0
"""Seconds for which a free slot waits for a repository that was called, or that reads."""

MOST_LOOKS = 8
"""Largest number of repositories beyond the free slots that read side by side."""

NOT_AWAITED = -math.inf
"""Value of `Turn.awaited_since` of a repository for which no slot waits."""

AT_WORK, NOT_HELD = -math.inf, math.inf
"""Values of `Slot.held_from` of what is held for a claim or for work, and of what is not held."""


class Slots:
    """The holders of slots, those that wait for one in their order, and the one function that hands slots on."""

    def __init__(self, limit: int, clock: Clock, *, per_repository: int | None = None) -> None:
        self.clock = clock
        self.holders: set[Slot] = set()
        """Slots of claims and items; one whose item looks is among them, and is held from some time on."""
        self.returning: list[Slot] = []
        """Slots that items need to go on, the one that is missed longest first."""
        self.queue: list[Turn] = []
        """Repositories that wait for their turn, or were called and have not come yet, the next one first."""
        self.reading: list[Turn] = []
        """Repositories whose turn it is: they read candidates, and no claim has come to its lock yet."""
        self.looks_in_vain = 0
        """Looks that led to nothing since the last claim, at most `MOST_LOOKS`."""
        self._limit = limit
        self._per_repository = limit if per_repository is None else per_repository

    def join(self, call: Callable[[], None]) -> Turn:
        """Add a repository; `call` makes it look at its candidates soon."""
        return Turn(self, call)

    def hand_on(self, asking: Turn | None = None) -> None:
        """Give free slots to items that come back, and call the next repositories for the rest.

        Only here anybody's turn comes; called after every change. `asking` has come already, and is not called.
        """
        for slot in tuple(self.returning):
            if self.has_slot_for(slot.turn):
                slot.hold()
                slot.wake()
        for turn in self._next_to_read():
            turn.awaited_since = self.clock.boot()
            if turn is not asking:
                turn.call()

    def has_slot_for(self, turn: Turn) -> bool:
        """Return whether a slot is free that the repository may hold."""
        return self.free > 0 and sum(one.is_held for one in self.holders if one.turn is turn) < self._per_repository

    @property
    def free(self) -> int:
        """Number of slots that nobody holds; negative while long looks come on top."""
        return self._limit - sum(one.is_held for one in self.holders)

    def restart_patience(self) -> None:
        """Wait for everybody anew: so far no slot was free, and nobody was kept from one."""
        for turn in (*self.queue, *self.reading):
            if turn.awaited_since != NOT_AWAITED:
                turn.awaited_since = self.clock.boot()

    def _next_to_read(self) -> list[Turn]:
        """Return the repositories to call now: as many as may read, less those that are on their way or read."""
        patient_since = self.clock.boot() - PATIENCE_SECONDS
        awaited = sum(one.awaited_since > patient_since for one in (*self.queue, *self.reading))
        free = self.free
        if free <= 0 or free + self.looks_in_vain <= awaited:
            return []
        waiting = (one for one in self.queue if one.awaited_since == NOT_AWAITED and self.has_slot_for(one))
        return list(islice(waiting, free + self.looks_in_vain - awaited))


@dataclass(eq=False)
class Turn:
    """One repository at the slots. It is in the queue, or reads, or neither."""

    slots: Slots
    call: Callable[[], None]
    awaited_since: float = NOT_AWAITED
    """Boot time since which a free slot waits for it: it was called, or reads."""

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Give the block of one look at all candidates, in which the repository asks for its turn."""
        try:
            yield
        finally:
            if self in self.slots.reading:
                self._end_in_vain()
                self.slots.hand_on()

    def ask(self) -> bool:
        """Return whether the next candidate may be read; if not, the repository waits, and is called in its turn."""
        if self in self.slots.reading:
            if self.slots.has_slot_for(self):
                return True
            self._end_in_vain()
        self.awaited_since = NOT_AWAITED
        if self not in self.slots.queue:
            self.slots.queue.append(self)
        self.slots.hand_on(asking=self)
        if self.awaited_since == NOT_AWAITED:
            return False
        self.slots.queue.remove(self)
        self.slots.reading.append(self)
        return True

    def leave(self) -> None:
        """Leave the queue: the repository wants no slot now, and the next one may have its turn."""
        if self in self.slots.queue:
            self.slots.queue.remove(self)
            self.slots.hand_on()

    def end_reading(self) -> None:
        """End the reading: a claim has come to its lock."""
        if self in self.slots.reading:
            self.slots.reading.remove(self)
            self.awaited_since = NOT_AWAITED

    def _end_in_vain(self) -> None:
        self.end_reading()
        self.slots.looks_in_vain = min(self.slots.looks_in_vain + 1, MOST_LOOKS)


@dataclass(eq=False)
class Slot:
    """The slot of one claim, then of its item."""

    turn: Turn
    wake: Callable[[], None] = lambda: None
    """Wakes the item that waits for the slot."""
    held_from: float = NOT_HELD
    """Boot time from which it is held; for an item that looks, the time from which its look counts as work."""

    @property
    def is_held(self) -> bool:
        """True if it counts as one of the held slots."""
        return self.held_from <= self._slots.clock.boot()

    def take(self) -> bool:
        """Take the slot for a claim that has read everything; if none is free, its repository is the next one."""
        self.turn.end_reading()
        if self._slots.has_slot_for(self.turn):
            self.hold()
            self._slots.looks_in_vain = 0
        elif self.turn not in self._slots.queue:
            self._slots.queue.insert(0, self.turn)
        self._slots.hand_on()
        return self.is_held

    def give(self) -> None:
        """Give the slot away: the item waits or has ended, or the claim was lost."""
        was_full = self._slots.free <= 0
        self._drop()
        if was_full:
            self._slots.restart_patience()
        self._slots.hand_on()

    def look(self) -> None:
        """Let a woken item look whether its wait is over: it holds a slot as soon as that takes long."""
        self.hold(self._slots.clock.boot() + LOOK_SECONDS)

    def go_on(self, wake: Callable[[], None]) -> bool:
        """Return whether the item holds a slot for its next step; if not, `wake` is called as soon as it does."""
        if self.held_from != AT_WORK:
            self._drop()
            self.wake = wake
            self._slots.returning.append(self)
            self._slots.hand_on()
        return self.is_held

    def hold(self, since: float = AT_WORK) -> None:
        """Hold the slot; to be called by what has made sure that one is free."""
        self._drop()
        self._slots.holders.add(self)
        self.held_from = since

    @property
    def _slots(self) -> Slots:
        return self.turn.slots

    def _drop(self) -> None:
        self._slots.holders.discard(self)
        if self in self._slots.returning:
            self._slots.returning.remove(self)
        self.held_from = NOT_HELD
