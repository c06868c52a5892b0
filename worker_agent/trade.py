"""What the reconciler has to know of specification issues."""

from __future__ import annotations

from shared.errors import Gone
from shared.github.status import Status
from shared.labels import Labels
from shared.lock.record import Fence
from shared.reconcile.orphans import Trade
from shared.workflow import Role, Stage
from worker_agent import comments
from worker_agent.decide import WORKING
from worker_agent.intake.candidates import mourns
from worker_agent.ports import Pulls
from worker_agent.projection import before, projection


def trade(names: Labels, pulls: Pulls) -> Trade:
    """An issue that is closed is done when its pull request is merged; nothing but its fence is left to be ended."""

    async def is_merged(fence: Fence) -> bool:
        try:
            return bool(fence.pr) and (await pulls.pull_request(fence.pr)).merged
        except Gone:
            return False

    async def told(fence: Fence, reason: str) -> Status:
        try:
            pull_request = await pulls.pull_request(fence.pr) if fence.pr else None
        except Gone:
            pull_request = None
        return comments.withdrawn(fence, reason, names, pull_request=pull_request)

    return Trade(
        Role.WORKER,
        names,
        projected=lambda fence: projection(fence).issue,
        before=before,
        is_over=is_merged,
        told=told,
        owns=WORKING | {Stage.REVIEWING, Stage.AWAITING_APPROVAL},
        mourns=mourns,
    )
