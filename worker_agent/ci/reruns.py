"""Records in the fence that failed jobs of a commit were rerun, so that no agent runs them again.

A later round of the same commit, caused by its checks after the hand-over, gets no second rerun.
"""

from __future__ import annotations

from shared.ci.ci_round import Rerun
from shared.lock.record import Fence
from worker_agent.decide import RED_BASE

TRAILER = "Reran"
"""The fence's trailer that names the commit."""

More = tuple[tuple[str, str], ...]


def noted(fence: Fence) -> More:
    """Return the fence's further trailers, with its commit marked as one whose jobs were rerun."""
    return (*forgotten(fence), (TRAILER, fence.work_head))


def forgotten(fence: Fence) -> More:
    """Return the fence's further trailers without that mark."""
    return tuple((name, value) for name, value in fence.more if name != TRAILER)


def are_left(fence: Fence) -> bool:
    """Return whether the jobs of the fence's commit may be rerun.

    They may also if the base was to blame the last time, or if a person's command continues the work.
    """
    if Rerun.read(fence.phase) is not None:
        return False
    continued = fence.phase == RED_BASE or fence.approved_by.startswith("/")
    return continued or dict(fence.more).get(TRAILER) != fence.work_head
