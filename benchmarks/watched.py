"""`python -m benchmarks.watched LOG MODULE [ARGUMENT ...]`: a program whose event loop is watched.

Each turn of the loop that used the processor for longer than `LEAST_SECONDS` is a line of LOG: that time, the time
that went by, and how long the process had been running. Processor time is what other load on the machine leaves alone.
"""

from __future__ import annotations

import runpy
import selectors
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from selectors import SelectorKey

from shared.loop.real_clock import RealClock

LEAST_SECONDS = 0.02

EventList = list[tuple[SelectorKey, int]]


class WatchedSelector(selectors.DefaultSelector):
    """A selector that notes for how long its loop did not ask for events."""

    log: Path
    clock = RealClock()
    began = clock.boot()

    def __init__(self) -> None:
        super().__init__()
        self._since = self._now()

    def select(self, timeout: float | None = None) -> EventList:
        """Return the events; the time since the last return was the loop's own, and is noted if it is long."""
        used, gone = (now - since for now, since in zip(self._now(), self._since, strict=True))
        if used >= LEAST_SECONDS:
            with self.log.open("a", encoding="ascii") as file:
                file.write(f"{used:.4f} {gone:.4f} {self.clock.boot() - self.began:.2f}\n")
        found: EventList = super().select(timeout)
        self._since = self._now()
        return found

    def _now(self) -> tuple[float, float]:
        return time.thread_time(), self.clock.boot()


def blocks(log: Path) -> list[Mapping[str, float]]:
    """Return the lines of LOG, in seconds; none if there is no file."""
    lines = log.read_text(encoding="ascii").splitlines() if log.exists() else []
    return [dict(zip(("used", "gone", "at"), map(float, line.split()), strict=True)) for line in lines]


def main() -> None:
    """Run the program with its loops watched."""
    WatchedSelector.log = Path(sys.argv[1])
    selectors.DefaultSelector = WatchedSelector  # type: ignore[misc]
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
