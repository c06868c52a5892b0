"""Numbers and times everything that comes into being."""

from __future__ import annotations

from shared.clock import Clock

FIRST_ID = 2**31 + 1
"""Ids start beyond 32 bits, as GitHub's comment ids do, so that a narrow integer shows at once."""


class Numbering:
    """One ascending id counter and the server's time."""

    def __init__(self, clock: Clock, next_id: int = FIRST_ID) -> None:
        self._clock = clock
        self.next_id = next_id

    def new_id(self) -> int:
        """An id above every id given before."""
        self.next_id += 1
        return self.next_id - 1

    def now(self) -> int:
        """Server time in whole seconds since the epoch: the resolution of GitHub's timestamps."""
        return int(self._clock.now())

    def precise(self) -> float:
        """Server time with its fraction."""
        return self._clock.now()
