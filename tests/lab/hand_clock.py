"""A clock that moves only by hand, for servers in which nothing waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class HandClock:
    """Time that a test moves."""

    seconds: float = 1000.0

    def now(self) -> float:
        return self.seconds

    def boot(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody sleeps here")
