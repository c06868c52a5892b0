"""The limit on items in work at once, over the loops of one process, and the queue of loops that wait for a slot."""

from __future__ import annotations

from typing import Protocol


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
    """

    def __init__(self, limit: int, *, per_loop: int | None = None) -> None:
        self._limit = limit
        self._per_loop = limit if per_loop is None else per_loop
        self._loops: list[Busy] = []
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
        vacant = self._vacant
        if vacant > len(self._ahead(loop)) or vacant > len(self._still_ahead(loop)):
            self.leave(loop)
            return True
        self._queue.setdefault(loop, False)
        return False

    def leave(self, loop: Busy) -> None:
        """Take `loop` out of the queue: it wants no slot now."""
        self._queue.pop(loop, None)

    def vacated(self) -> None:
        """Wake the loops that have waited longest: a slot may have become free."""
        for loop in tuple(self._queue)[: max(0, self._vacant)]:
            loop.poke()

    @property
    def _vacant(self) -> int:
        return self._limit - sum(loop.busy for loop in self._loops)

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
