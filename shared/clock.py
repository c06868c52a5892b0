"""Time as a port: code that needs it takes a `Clock`; the one real clock is in `shared.loop`."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """The three kinds of time: wall clock, time since boot, and waiting."""

    def now(self) -> float:
        """Local wall clock in seconds since the epoch: for people and logs, never for a decision."""
        ...

    def boot(self) -> float:
        """Seconds since boot, suspend included: for deadlines inside this process."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        ...
