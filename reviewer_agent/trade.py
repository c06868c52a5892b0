"""What the reconciler has to know of pull requests under review."""

from __future__ import annotations

from reviewer_agent import comments
from reviewer_agent.admission import STAGES, before, projection
from reviewer_agent.ports import Pulls
from shared.errors import Gone
from shared.github.status import Status
from shared.labels import Labels
from shared.lock.record import Fence
from shared.reconcile.orphans import Trade
from shared.workflow import Role, Stage


def trade(names: Labels, pulls: Pulls) -> Trade:
    """What is merged is finished by a claim: its branch, its issue and that issue's fence are to be ended too.

    Once a verdict stands, people and the worker move the label as well.
    """

    async def is_merged(fence: Fence) -> bool:
        try:
            return (await pulls.pull_request(fence.key.number)).merged
        except Gone:
            return False

    async def told(fence: Fence, reason: str) -> Status:
        return comments.withdrawn(fence, reason)

    return Trade(
        Role.REVIEWER,
        names,
        projected=projection,
        before=before,
        is_over=is_merged,
        told=told,
        owns=frozenset({Stage.REVIEWING, Stage.IN_REVIEW}),
        tidies=STAGES,
    )
