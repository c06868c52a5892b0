"""Records in the fence that failed jobs of a commit were run once more, so that nobody runs them again.

A later round of the same commit, which its checks have led to after the hand-over, has no second one.
"""

from __future__ import annotations

from shared.ci.round import Rerun
from shared.lock.record import Fence
from worker_agent.decide import RED_BASE

TRAILER = "Reran"
"""The fence's trailer that names the commit."""

More = tuple[tuple[str, str], ...]


def noted(fence: Fence) -> More:
    """The fence's further trailers, with its commit as one whose jobs were run once more."""
    return (*forgotten(fence), (TRAILER, fence.work_head))


def forgotten(fence: Fence) -> More:
    """The same without any."""
    return tuple((name, value) for name, value in fence.more if name != TRAILER)


def are_left(fence: Fence) -> bool:
    """Whether the jobs of the fence's commit may be run once more: also when the base was to blame for the last time,
    and when a person's command leads on.
    """
    if Rerun.read(fence.phase) is not None:
        return False
    led_on = fence.phase == RED_BASE or fence.approved_by.startswith("/")
    return led_on or dict(fence.more).get(TRAILER) != fence.work_head
