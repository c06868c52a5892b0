"""Limit of paid runs per step, counted in the fence before each run: no crash and no failing server can reset it."""

from __future__ import annotations

from shared.errors import Blocked
from shared.lock.fence import FenceChange, Wait
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.retry.failures import Pause

RUNS_PER_STEP = 10
"""Paid runs that may be started before one achieves something; leaves room for the retries of every phase."""


class RunsUsedUp(Blocked):
    """Paid runs were begun again and again without a result."""

    def __init__(self) -> None:
        super().__init__(
            f"{RUNS_PER_STEP} paid runs were begun for this step and none led to anything that could be recorded."
        )


async def begin_run(held: Held, *, more: tuple[tuple[str, str], ...] | None = None) -> None:
    """Count one paid run in the fence before the run starts; `more` replaces the agent's own trailers if given.

    Raises `RunsUsedUp`, `Lost` and `Transient`.
    """
    if held.fence.paid_runs >= RUNS_PER_STEP:
        raise RunsUsedUp
    await advance(held, FenceChange(paid_runs=held.fence.paid_runs + 1, wait=None, more=more))


async def park(held: Held, pause: Pause) -> None:
    """Record in the fence that the last run failed and when to retry it; the next holder continues from this record.

    The run then counts as a failure of its category, and no longer as a run that never ended.
    Raises `Lost` and `Transient`.
    """
    wait = Wait(pause.reason, pause.until)
    await advance(held, FenceChange(wait=wait, failures=str(pause.history), paid_runs=max(0, held.fence.paid_runs - 1)))
