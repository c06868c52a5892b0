"""Clocks: moved by hand, moved by who sleeps, and the machine's, on which waits take no time, or less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel

from shared.loop.real_clock import RealClock

SHORT_SECONDS = 5.0
"""Longer sleeps are heartbeats and polls, which must not run away."""


@dataclass
class HandClock:
    """Time that only a test moves: nobody sleeps."""

    seconds: float = 1000.0

    def now(self) -> float:
        return self.seconds

    def boot(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"nobody sleeps here, least of all {seconds} s")


@dataclass
class PassingClock(HandClock):
    """Time that passes at once when somebody sleeps; it keeps for how long."""

    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


class HurriedClock(RealClock):
    """The machine's clocks for a process of its own, whose waits take a sixtieth and move `boot` and `now` in full."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead = 0.0

    def now(self) -> float:
        return super().now() + self._ahead

    def boot(self) -> float:
        return super().boot() + self._ahead

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 60)
        self._ahead += seconds - seconds / 60


class QuickClock(RealClock):
    """The machine's clocks; a short sleep lets others run and moves `boot` and `now` on by as much."""

    def __init__(self, also: Callable[[float], None] = lambda _: None) -> None:
        """`also` moves another clock on by as many seconds: what is on both sides of a wire is compared."""
        super().__init__()
        self._ahead = 0.0
        self._also = also

    def now(self) -> float:
        return super().now() + self._ahead

    def boot(self) -> float:
        return super().boot() + self._ahead

    def skip(self, seconds: float) -> None:
        """Let so much time pass at once."""
        self._ahead += seconds
        self._also(seconds)

    async def sleep(self, seconds: float) -> None:
        if seconds > SHORT_SECONDS:
            await super().sleep(seconds)
            return
        await anyio.lowlevel.checkpoint()
        self.skip(seconds)
