"""A bound on paid runs that no crash and no failing server can reset: they are counted before they begin."""

from __future__ import annotations

from shared.errors import Blocked
from shared.lock.fence import advance
from shared.lock.hold import Held
from shared.lock.record import FenceChange, Wait
from shared.retry.failures import Pause

RUNS_PER_STEP = 10
"""Paid runs that may be begun without anything being achieved; every phase's own retries fit in."""


class RunsUsedUp(Blocked):
    """Paid runs were begun again and again without a result."""

    def __init__(self) -> None:
        super().__init__(
            f"{RUNS_PER_STEP} paid runs were begun for this step and none led to anything that could be recorded."
        )


async def begin_run(held: Held, *, more: tuple[tuple[str, str], ...] | None = None) -> None:
    """Count one paid run in the fence, before it is paid for, with its agent's own trailers if they change.

    Raises `RunsUsedUp`, `Lost` and `Transient`.
    """
    if held.fence.runs >= RUNS_PER_STEP:
        raise RunsUsedUp
    await advance(held, FenceChange(runs=held.fence.runs + 1, wait=None, more=more))


async def park(held: Held, pause: Pause) -> None:
    """Record that the run just begun has failed and when it is repeated: whoever holds the item then goes on from it.

    The failure is counted by its category from now on, and no longer as a run without an end.
    Raises `Lost` and `Transient`.
    """
    wait = Wait(pause.reason, pause.until)
    await advance(held, FenceChange(wait=wait, failures=str(pause.history), runs=max(0, held.fence.runs - 1)))
