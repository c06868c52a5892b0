"""Construction of a planner from the parts of its repository; the second half of `__main__`.

After each look, the planner's lists let the next pending test get its issue.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from planner_agent.agent import Planner
from planner_agent.assistant.build import answering
from planner_agent.pending.opening import Opening, Wanted, Writer
from planner_agent.pending.register import Register
from planner_agent.policy import Approval, Policy
from planner_agent.ports import Forge
from planner_agent.preapproved_plan import PreapprovedPlan
from planner_agent.reconcile_rules import rules
from planner_agent.story import create_story
from planner_agent.triage.build import triaging
from runtime.arguments import Arguments
from runtime.building.assembly import RepositoryAdapters
from runtime.building.commands import commanded, replies
from shared.errors import Misconfigured
from shared.loop.claims import Claims
from shared.reconcile.complete_inbox import CompleteInbox
from shared.scheduling.agent_contract import Agent
from shared.workflow import UNLABELLED, Role, Track, stages

DECIDED_ROUNDS = 1000
"""Maximum times that a plan may have been sent back before one decided at a terminal takes its place."""


def build(parts: RepositoryAdapters, preapproved_plan: PreapprovedPlan | None = None) -> Agent:
    """Build the planner of one repository; with `preapproved_plan` it carries out what was decided at a terminal."""
    policy = policy_of(parts)
    if preapproved_plan is not None:
        policy = replace(policy, preapproved_plan=preapproved_plan, approval=Approval.GIVEN, rounds=DECIDED_ROUNDS)
    inbox = _inbox(parts)
    if preapproved_plan is None and parts.configured.tdd.pending.globs:
        inbox.add_look("pending tests", opening_of(parts).look)
    answering(parts, inbox)
    forge = forge_of(parts, inbox)
    claims = Claims(Role.PLANNER, parts.port, parts.claimant, parts.budget_check)
    planner = Planner(forge, claims, parts.mirror, parts.coder, policy)
    parts.status.write_by_leases(planner.holding)
    if preapproved_plan is not None:
        return planner
    return commanded(parts, triaging(parts, planner, forge.inbox), forge.inbox)


def _inbox(parts: RepositoryAdapters) -> CompleteInbox:
    """Return the lists of stories and specifications: the last specification to close ends its story."""
    specified = [stage for stage in stages(Track.SPECIFICATION) if stage not in UNLABELLED]
    followed = rules(parts.names, parts.closing, parts.status)
    return parts.inbox([parts.names.story, *specified], followed, lambda item: not item.is_pull_request)


def forge_of(parts: RepositoryAdapters, inbox: CompleteInbox | None = None) -> Forge:
    """Return the planner's side of GitHub."""
    return Forge(
        inbox=inbox or _inbox(parts),
        issues=parts.issues,
        comments=parts.comments,
        people=parts.people,
        labels=parts.labels,
        status=parts.status,
        texts=parts.texts,
        closing=parts.closing,
        replies=replies(parts),
    )


def opening_of(parts: RepositoryAdapters) -> Opening:
    """Build the opening of issues about pending tests."""
    repository = parts.configured
    pending = repository.tdd.pending
    wanted = Wanted(
        pending.globs,
        pending.order,
        pending.open_at_once,
        repository.max_attempts,
        parts.base,
        parts.names,
        repository.labels.include[:1],
    )
    writer = Writer(parts.claimant.agent, parts.account, parts.keys, parts.server_time, parts.clock.boot)
    return Opening(parts.issues, parts.mirror, Register(parts.fences, parts.mirror), writer, wanted)


def policy_of(parts: RepositoryAdapters) -> Policy:
    """Return the planner's policy from the configuration."""
    repository = parts.configured
    return Policy(
        repository=repository.name,
        account=parts.account,
        base=parts.base,
        names=parts.names,
        include=frozenset(repository.labels.include),
        exclude=frozenset(repository.labels.exclude),
        priorities=repository.priority_labels,
        approval=Approval(repository.approval),
        limits=parts.limits,
        take_assigned=repository.take_assigned_issues,
        only=parts.only,
    )


_HOW_TO_APPROVE = {
    "auto": "",
    "comment": "Its plan is posted there; comment /approve to have the specifications created.\n",
    "terminal": "Its plan is posted there; to approve it, run `planner-agent {repository}` at a terminal "
    "and give the number.\n",
}
"""Text that is printed about a story that was just opened, by the key `approval`."""


async def prepare(parts: RepositoryAdapters, arguments: Arguments) -> RepositoryAdapters:
    """Open the story of `--story`, print its address, and plan it alone; `--yes` approves the plan in advance."""
    if arguments.story is None:
        return parts
    if len(parts.settings.repositories) > 1:
        raise Misconfigured("The configuration names several repositories: say for which one, as owner/repo.")
    story = await create_story(parts.issues, arguments.story, parts.names.story)
    sys.stdout.write(f"{parts.page}/issues/{story.number}\n")
    if not arguments.yes:
        sys.stdout.write(_HOW_TO_APPROVE[parts.configured.approval].format(repository=parts.configured.name))
    sys.stdout.flush()
    approval = "auto" if arguments.yes else parts.configured.approval
    return replace(parts, only=story.number, configured=parts.configured.model_copy(update={"approval": approval}))
