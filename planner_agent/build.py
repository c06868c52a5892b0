"""Builds a planner from the parts of its repository; the second half of `__main__`."""

from __future__ import annotations

import sys
from dataclasses import replace

from console.arguments import Arguments
from console.assembly import Parts
from planner_agent.agent import Planner
from planner_agent.policy import Policy
from planner_agent.ports import Forge
from planner_agent.story import create_story
from planner_agent.trade import trade
from shared.errors import Misconfigured
from shared.workflow import UNLABELLED, Track, stages


def build(parts: Parts) -> Planner:
    """The planner of one repository. It watches specifications too: the last one to close ends its story."""
    specified = [stage for stage in stages(Track.SPECIFICATION) if stage not in UNLABELLED]
    forge = Forge(
        inbox=parts.inbox([parts.names.story, *specified], trade(parts.names), lambda item: not item.is_pull_request),
        issues=parts.issues,
        comments=parts.comments,
        people=parts.people,
        labels=parts.labels,
        status=parts.status,
    )
    return Planner(forge, parts.port, parts.claimant, parts.mirror, parts.coder, policy_of(parts))


def policy_of(parts: Parts) -> Policy:
    """What the configuration says to the planner."""
    repository, settings = parts.configured, parts.settings
    return Policy(
        repository=repository.name,
        account=parts.account,
        base_branch=parts.base_branch,
        names=parts.names,
        include=frozenset(repository.labels.include),
        exclude=frozenset(repository.labels.exclude),
        priorities=repository.priority_labels,
        auto=repository.approval == "auto",
        slots=settings.max_concurrent,
        limits=parts.limits,
        only=parts.only,
    )


async def prepare(parts: Parts, arguments: Arguments) -> Parts:
    """With `--story`: open it, say where, and plan it alone; `--yes` approves the plan in advance."""
    if arguments.story is None:
        return parts
    if len(parts.settings.repositories) > 1:
        raise Misconfigured("The configuration names several repositories: say for which one, as owner/repo.")
    story = await create_story(parts.issues, arguments.story, parts.names.story)
    sys.stdout.write(f"{parts.page}/issues/{story.number}\n")
    if not arguments.yes and parts.configured.approval != "auto":
        sys.stdout.write("Its plan is posted there; comment /approve to have the specifications created.\n")
    sys.stdout.flush()
    approval = "auto" if arguments.yes else parts.configured.approval
    return replace(parts, only=story.number, configured=parts.configured.model_copy(update={"approval": approval}))
