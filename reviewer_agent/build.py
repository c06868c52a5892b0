"""Builds a reviewer from the parts of its repository; the second half of `__main__`."""

from __future__ import annotations

from pathlib import Path

from console.assembly import Parts
from reviewer_agent.agent import Reviewer
from reviewer_agent.decide import Bounds, Merge
from reviewer_agent.examine import Examiner
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge
from reviewer_agent.trade import trade
from shared.git.branches import Branches
from shared.prompts import Prompts
from shared.workflow import Stage

PROMPTS = Path(__file__).with_name("prompts")

STAGES = (Stage.REVIEWING, Stage.IN_REVIEW, Stage.APPROVED)
"""Labels under which the reviewer finds work."""


def build(parts: Parts) -> Reviewer:
    """The reviewer of one repository."""
    policy = policy_of(parts)
    forge = Forge(
        inbox=parts.inbox(STAGES, trade(parts.names, parts.pulls), lambda item: item.is_pull_request),
        issues=parts.issues,
        comments=parts.comments,
        people=parts.people,
        labels=parts.labels,
        pulls=parts.pulls,
        reviews=parts.reviews,
        checks=parts.checks,
        status=parts.status,
        branches=Branches(parts.mirror),
    )
    examiner = Examiner(parts.mirror, parts.coder, Prompts(PROMPTS), policy)
    return Reviewer(forge, parts.port, parts.claimant, examiner, policy)


def policy_of(parts: Parts) -> Policy:
    """What the configuration says to the reviewer."""
    repository, settings = parts.configured, parts.settings
    return Policy(
        repository=repository.name,
        names=parts.names,
        exclude=frozenset(repository.labels.exclude),
        priorities=repository.priority_labels,
        bounds=Bounds(ci_seconds=repository.ci.timeout, none_is_green=repository.ci.none_is_green),
        merge=Merge(repository.merge),
        merge_method=repository.merge_method,
        delete_branch=repository.delete_branch,
        slots=settings.max_concurrent,
        limits=parts.limits,
    )
