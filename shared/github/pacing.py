"""The pace of this process's requests: GitHub's content limits, spread out before they are hit, and its points.

https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shared.clock import Clock
from shared.github.points import Points

WINDOWS = ((60.0, 80), (3600.0, 500))
"""GitHub's limits on content-generating requests: seconds and requests. Every write counts here."""

URGENT_RESERVE = 0.1
"""Fraction of each window that only urgent writes (releases, merges, heartbeats) may use."""

LOOK_SECONDS = 30.0
"""Seconds after which a waiting write looks again: the share may have become larger."""


_hears: ContextVar[Callable[[], None] | None] = ContextVar("paced", default=None)


@contextmanager
def reporting_waits(waits: Callable[[], None]) -> Iterator[None]:
    """Call `waits` during the block at each look of a waiting write of this task: the task does not hang."""
    token = _hears.set(waits)
    try:
        yield
    finally:
        _hears.reset(token)


class Pacing:
    """The gaps between writes.

    `share` is the fraction of GitHub's limits that this process may use, because the limits are the
    account's and processes do not see each other. An interval of 0 switches pacing off altogether,
    for servers without limits.
    """

    def __init__(self, clock: Clock, *, share: float = 1.0, write_interval_seconds: float = 1.0) -> None:
        self._clock = clock
        self._share = 0.0
        self.use(share)
        self._interval = write_interval_seconds
        self._granted: deque[float] = deque(maxlen=max(count for _, count in WINDOWS))
        self.points = Points(clock, share=share, off=self.off)

    def use(self, share: float) -> None:
        """Use this fraction of the limits from now on, also for writes that wait already."""
        if not 0 < share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {share}")
        self._share = share

    @property
    def share(self) -> float:
        """The fraction of GitHub's limits that this process uses."""
        return self._share

    @property
    def off(self) -> bool:
        """True if writes are not paced."""
        return self._interval <= 0

    def delay(self, now: float, *, urgent: bool = False) -> float:
        """Return the seconds after boot time `now` until the next write may go out; 0 if it may go at once."""
        if self.off or not self._granted:
            return 0.0
        ready = [self._granted[-1] + self._interval]
        for seconds, count in WINDOWS:
            allowed = max(1, int(count * self._share * (1 if urgent else 1 - URGENT_RESERVE)))
            if len(self._granted) >= allowed:
                ready.append(self._granted[-allowed] + seconds)
        return max(0.0, max(ready) - now)

    async def wait(self, *, urgent: bool = False) -> None:
        """Wait until one write may go out, and count it. Nothing is reserved while waiting."""
        while (delay := self.delay(self._clock.boot(), urgent=urgent)) > 0:
            if (waits := _hears.get()) is not None:
                waits()
            await self._clock.sleep(min(delay, LOOK_SECONDS))
        self._granted.append(self._clock.boot())
        self.points.wrote()
