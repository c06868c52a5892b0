"""The reconciler's rules for stories."""

from __future__ import annotations

from planner_agent import comments
from planner_agent.decide import STAGES, before
from shared.github.ports import Closing, StatusBoard
from shared.github.status import Status
from shared.lock.fence import Fence
from shared.lock.write_permit import Notice
from shared.models import Issue
from shared.reconcile.orphans import TIDYING, ItemEnd, ReconcileRules
from shared.workflow import TERMINAL, Role, Stage
from shared.workflow.labels import Labels


async def _outcome(fence: Fence) -> ItemEnd:
    """Return how a closed story ended: a specified one is done, whoever closed it."""
    return ItemEnd.DONE if fence.stage is Stage.SPECIFIED else ItemEnd.DROPPED


def rules(names: Labels, closing: Closing, status: StatusBoard) -> ReconcileRules:
    """Return the rules. A crash may leave a story without a label: before its first plan it has none."""

    async def status_for(fence: Fence, item: Issue, reason: str) -> Status:
        return comments.withdrawn(fence, reason, item, names)

    async def closed(fence: Fence, item: Issue) -> None:
        """Report the end of a specified story, unless a planner that died while ending it has reported it.

        The end of another stage is reported as a withdrawal.
        """
        if fence.stage is Stage.SPECIFIED and (await status.data(item.number)).get("stage") != Stage.DONE:
            await status.revise(item.number, comments.closed(fence), Notice(item.number, "closed"))
        await closing.unlabel(item, TIDYING)

    return ReconcileRules(
        Role.PLANNER,
        names,
        expected_stage=lambda fence: None if fence.stage in TERMINAL else fence.stage,
        before=before,
        outcome=_outcome,
        status_for=status_for,
        closed=closed,
        owned_stages=STAGES,
        unlabelled=frozenset({Stage.PLANNING}),
    )
