"""The reconciler's rules for specification issues."""

from __future__ import annotations

from contextlib import suppress

from shared.errors import Gone
from shared.github.ports import Closing, Pulls
from shared.github.status import Status
from shared.lock.fence import Fence
from shared.models import Issue
from shared.reconcile.orphans import TIDYING, ItemEnd, ReconcileRules
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels
from worker_agent import comments
from worker_agent.decide import WORKING
from worker_agent.expected_labels import before, expected_labels
from worker_agent.intake.candidates import belongs, needs_followup


def rules(names: Labels, pulls: Pulls, closing: Closing) -> ReconcileRules:
    """Return the rules: a closed issue is done if its pull request is merged; ending leftovers needs no claim."""

    async def outcome(fence: Fence) -> ItemEnd:
        try:
            return ItemEnd.of(await pulls.pull_request(fence.pr)) if fence.pr else ItemEnd.DROPPED
        except Gone:
            return ItemEnd.DROPPED

    async def closed(fence: Fence, item: Issue) -> None:
        """End an item whose pull request a person merged or closed while no agent looked after it."""
        pull_request = None
        with suppress(Gone):
            pull_request = await pulls.pull_request(fence.pr) if fence.pr else None
        if pull_request is not None and pull_request.merged:
            await closing.merged(fence, pull_request, TIDYING)
            return
        for one in (pull_request, item):
            if one is not None and not one.open:
                await closing.unlabel(one, TIDYING)

    async def status_for(fence: Fence, item: Issue, reason: str) -> Status:
        try:
            pull_request = await pulls.pull_request(fence.pr) if fence.pr else None
        except Gone:
            pull_request = None
        return comments.withdrawn(fence, reason, names, pull_request=pull_request, issue=item)

    return ReconcileRules(
        Role.WORKER,
        names,
        expected_stage=lambda fence: expected_labels(fence).issue,
        before=before,
        outcome=outcome,
        status_for=status_for,
        closed=closed,
        owned_stages=WORKING | {Stage.REVIEWING, Stage.AWAITING_APPROVAL},
        needs_followup=needs_followup,
        belongs=belongs,
    )
