"""Time as a port: who needs it takes a `Clock`; the one real clock lives in `shared.loop`."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Three kinds of time, because they answer different questions."""

    def now(self) -> float:
        """Local wall clock in seconds since the epoch: for people and logs, never for a decision."""
        ...

    def boot(self) -> float:
        """Seconds since boot, suspend included: for deadlines inside this process."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...
