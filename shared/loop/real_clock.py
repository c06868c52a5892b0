"""The machine's own clocks: the only code that reads them."""

from __future__ import annotations

import time

import anyio


class RealClock:
    """The machine's clocks. `boot` counts suspend where the system can (Linux)."""

    def __init__(self) -> None:
        self._boot = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

    def now(self) -> float:
        """Return the wall clock in seconds."""
        return time.time()

    def boot(self) -> float:
        """Return the boot clock in seconds."""
        return time.clock_gettime(self._boot)

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        await anyio.sleep(seconds)
