"""The reviewer's ports to the outside; the adapters in `shared` satisfy these without importing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from reviewer_agent.merge.merge_turns import MergeTurns
from reviewer_agent.merge.update_turns import UpdateTurns
from reviewer_agent.review.questions import Recorded
from shared.github.ports import (
    BranchRules,
    Checks,
    Closing,
    Comments,
    CompleteInbox,
    Issues,
    LabelBoard,
    MergeQueue,
    People,
    Pulls,
    Replies,
    Reviews,
    ReviewThreads,
    StatusBoard,
)
from shared.models import PullRequest


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the reviewer uses it."""

    inbox: CompleteInbox
    issues: Issues
    comments: Comments
    people: People
    labels: LabelBoard
    pulls: Pulls
    reviews: Reviews
    checks: Checks
    status: StatusBoard
    turns: MergeTurns
    updates: UpdateTurns
    rules: BranchRules
    queue: MergeQueue
    threads: ReviewThreads
    closing: Closing
    replies: Replies


class Records(Protocol):
    """The engine's own records of a pull request's test runs."""

    async def of(self, pull_request: PullRequest, base: str) -> Recorded:
        """Return the records, empty if there are none; `base` is the commit that the branch is compared with."""
        ...
