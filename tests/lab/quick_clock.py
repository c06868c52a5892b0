"""A clock on which short waits take no time: the machine's, put forward by whatever somebody sleeps."""

from __future__ import annotations

import anyio
import anyio.lowlevel

from shared.loop import RealClock

SHORT_SECONDS = 5.0
"""Longer sleeps are heartbeats and polls, which must not run away."""


class QuickClock(RealClock):
    """The machine's clocks; a short sleep lets others run and moves `boot` and `now` on by as much."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead = 0.0

    def now(self) -> float:
        return super().now() + self._ahead

    def boot(self) -> float:
        return super().boot() + self._ahead

    def skip(self, seconds: float) -> None:
        """Let so much time pass at once."""
        self._ahead += seconds

    async def sleep(self, seconds: float) -> None:
        if seconds > SHORT_SECONDS:
            await super().sleep(seconds)
            return
        await anyio.lowlevel.checkpoint()
        self._ahead += seconds
