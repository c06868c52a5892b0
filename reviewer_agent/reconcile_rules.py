"""The reconciler's rules for pull requests under review."""

from __future__ import annotations

from reviewer_agent import comments
from reviewer_agent.candidates import STAGES, before, expected_stage
from reviewer_agent.issue_labels import misplaced
from shared.errors import Gone
from shared.github.ports import Closing, Pulls
from shared.github.status import Status
from shared.lock.fence import Fence
from shared.models import Issue
from shared.reconcile.orphans import TIDYING, ItemEnd, ReconcileRules
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels


def rules(names: Labels, pulls: Pulls, closing: Closing) -> ReconcileRules:
    """Return the rules. A merge is finished by a claim: its branch, its issue and that issue's fence have to end too.

    Once a verdict stands, people and the worker move the label as well.
    """

    async def outcome(fence: Fence) -> ItemEnd:
        try:
            return ItemEnd.of(await pulls.pull_request(fence.key.number))
        except Gone:
            return ItemEnd.DROPPED

    async def status_for(fence: Fence, item: Issue, reason: str) -> Status:
        try:
            is_open = (await pulls.pull_request(fence.key.number)).open
        except Gone:
            is_open = False
        return comments.withdrawn(fence, reason, names if is_open else None, item)

    async def closed(fence: Fence, item: Issue) -> None:
        await closing.unlabel(item, TIDYING)

    return ReconcileRules(
        Role.REVIEWER,
        names,
        expected_stage=expected_stage,
        before=before,
        outcome=outcome,
        status_for=status_for,
        closed=closed,
        owned_stages=frozenset({Stage.REVIEWING, Stage.IN_REVIEW}),
        ended_when_bare=frozenset({Stage.APPROVED}),
        finish_by_claim=STAGES,
        belongs=lambda item, known: bool(misplaced(item, names)),
    )
