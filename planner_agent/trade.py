"""What the reconciler has to know of stories."""

from __future__ import annotations

from planner_agent import comments
from planner_agent.decide import STAGES, before
from shared.github.status import Status
from shared.labels import Labels
from shared.lock.record import Fence
from shared.reconcile.orphans import Trade
from shared.workflow import TERMINAL, Role, Stage


async def _is_specified(fence: Fence) -> bool:
    """A specified story that is closed is done, whoever closed it."""
    return fence.stage is Stage.SPECIFIED


def trade(names: Labels) -> Trade:
    """A crash may leave a story without a label: before its first plan it has none."""

    async def told(fence: Fence, reason: str) -> Status:
        return comments.withdrawn(fence, reason, names.of(Stage.PLANNING))

    return Trade(
        Role.PLANNER,
        names,
        projected=lambda fence: None if fence.stage in TERMINAL else fence.stage,
        before=before,
        is_over=_is_specified,
        told=told,
        owns=STAGES,
        unlabelled=frozenset({Stage.PLANNING}),
    )
