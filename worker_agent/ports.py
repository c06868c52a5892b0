"""The GitHub side of one repository, as the worker uses it."""

from __future__ import annotations

from dataclasses import dataclass

from shared.commands.text_unchanged import Texts
from shared.github.ports import (
    Checks,
    Closing,
    Comments,
    Inbox,
    Issues,
    LabelBoard,
    People,
    Pulls,
    Replies,
    Reviews,
)
from worker_agent.intake.ceilings import CeilingCheck
from worker_agent.intake.noted_status import NotedStatus
from worker_agent.intake.refused_branches import RefusedBranches
from worker_agent.intake.unusable_configuration import Unusable


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the worker uses it."""

    inbox: Inbox
    issues: Issues
    people: People
    labels: LabelBoard
    pulls: Pulls
    reviews: Reviews
    comments: Comments
    checks: Checks
    status: NotedStatus
    texts: Texts
    closing: Closing
    replies: Replies
    unusable: Unusable
    refused_branches: RefusedBranches
    ceilings: CeilingCheck
