"""The start of a process: a daemon waits for a GitHub that does not answer; whatever else is wrong ends it at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from shared.clock import Clock
from shared.errors import Transient

T = TypeVar("T")

log = structlog.get_logger()

FIRST_SECONDS = 1.0
"""The first wait; each further one is twice as long."""

LONGEST_SECONDS = 300.0
"""No wait is longer: that is how late an agent may notice that GitHub is back."""

TOLD_SECONDS = 60.0
"""The log says at most once in so many seconds that it still waits."""


async def patiently(attempt: Callable[[], Awaitable[T]], clock: Clock) -> T:
    """What `attempt` returns, tried again after growing waits for as long as it raises `Transient`.

    Everything else it raises is raised at once: wrong credentials and a wrong configuration do not pass.
    """
    pause, told = FIRST_SECONDS, float("-inf")
    while True:
        try:
            return await attempt()
        except Transient as error:
            if clock.boot() - told >= TOLD_SECONDS:
                told = clock.boot()
                log.warning("start_delayed", outcome="retrying", error=str(error), next_try_seconds=pause)
        await clock.sleep(pause)
        pause = min(2 * pause, LONGEST_SECONDS)
