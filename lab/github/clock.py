"""The lab's own clock: real time plus an offset that tests may advance."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_ahead: ContextVar[float] = ContextVar("ahead", default=0.0)
"""By how much time differs for the request that is being served."""


class LabClock:
    """Real time, shifted; a `Clock` whose offset makes hours pass at once."""

    def __init__(self, offset: float = 0.0) -> None:
        self.offset = offset
        self._advanced = asyncio.Event()

    def now(self) -> float:
        """Server time in seconds since the epoch."""
        return time.time() + self.offset + _ahead.get()

    def boot(self) -> float:
        """Seconds of a monotonic clock, moved by the same offset."""
        return time.monotonic() + self.offset

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass: real ones, or those that `advance` skips."""
        end = self.boot() + seconds
        while (left := end - self.boot()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._advanced.wait(), left)

    def advance(self, seconds: float) -> None:
        """Make the server's time jump forward; whoever sleeps past that moment wakes up."""
        self.offset += seconds
        self._advanced.set()
        self._advanced = asyncio.Event()

    @contextmanager
    def shifted(self, seconds: float) -> Iterator[None]:
        """In this block, and only for this task, the server's time is `seconds` ahead of (or behind) itself."""
        token = _ahead.set(_ahead.get() + seconds)
        try:
            yield
        finally:
            _ahead.reset(token)
