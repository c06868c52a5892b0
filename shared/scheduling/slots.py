"""How many items may be in work at once, counted over the loops of one process, and whose turn it is."""

from __future__ import annotations

from typing import Protocol


class Busy(Protocol):
    """What is counted of a loop."""

    @property
    def busy(self) -> int:
        """How many of its items are being worked on just now."""
        ...

    def poke(self) -> None:
        """Let it look again soon."""
        ...


class Slots:
    """How many items may be in work at once: over all repositories of one process, and in each.

    Whoever found no slot free is next, in the order of asking: a repository that is asked often, or has
    endless work, does not keep the others from theirs. Who does not come when it is its turn loses it.
    """

    def __init__(self, limit: int, *, per_loop: int | None = None) -> None:
        self._limit = limit
        self._per_loop = limit if per_loop is None else per_loop
        self._loops: list[Busy] = []
        self._queue: dict[Busy, bool] = {}
        """Who waits, first come first; and whether it has been passed over the wish of another one once."""

    def join(self, loop: Busy) -> None:
        """Count the items of `loop`."""
        self._loops.append(loop)

    def free(self, loop: Busy) -> bool:
        """Whether one more may begin in `loop`, which else waits for its turn; resting items take no slot."""
        if loop.busy >= self._per_loop:
            self.leave(loop)
            return False
        vacant = self._vacant
        if vacant > len(self._ahead(loop)) or vacant > len(self._hurried(loop)):
            self.leave(loop)
            return True
        self._queue.setdefault(loop, False)
        return False

    def leave(self, loop: Busy) -> None:
        """It wants no slot now."""
        self._queue.pop(loop, None)

    def vacated(self) -> None:
        """A slot may have become free: tell whoever has waited longest."""
        for loop in tuple(self._queue)[: max(0, self._vacant)]:
            loop.poke()

    @property
    def _vacant(self) -> int:
        return self._limit - sum(loop.busy for loop in self._loops)

    def _ahead(self, loop: Busy) -> list[Busy]:
        waiting = list(self._queue)
        return waiting[: waiting.index(loop)] if loop in self._queue else waiting

    def _hurried(self, loop: Busy) -> list[Busy]:
        """Who is still ahead when those that let a free slot lie twice have lost their turn."""
        if self._vacant > 0:
            for one in self._ahead(loop)[: self._vacant]:
                if self._queue[one]:
                    self.leave(one)
                else:
                    self._queue[one] = True
                    one.poke()
        return self._ahead(loop)
