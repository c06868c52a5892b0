"""The lab's own clock: real time plus an offset that tests may advance."""

from __future__ import annotations

import asyncio
import time


class LabClock:
    """Real time, shifted; a `Clock` whose offset makes hours pass at once."""

    def __init__(self, offset: float = 0.0) -> None:
        self.offset = offset

    def now(self) -> float:
        """Server time in seconds since the epoch."""
        return time.time() + self.offset

    def boot(self) -> float:
        """Seconds of a monotonic clock, moved by the same offset."""
        return time.monotonic() + self.offset

    async def sleep(self, seconds: float) -> None:
        """Let real `seconds` pass."""
        await asyncio.sleep(seconds)

    def advance(self, seconds: float) -> None:
        """Make the server's time jump forward."""
        self.offset += seconds
