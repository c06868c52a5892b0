"""The GitHub side of one repository, as the reviewer uses it."""

from __future__ import annotations

from dataclasses import dataclass

from reviewer_agent.merge.merge_turns import MergeTurns
from reviewer_agent.merge.update_turns import UpdateTurns
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
    StatusBoard,
)


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the reviewer uses it."""

    inbox: Inbox
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
    closing: Closing
    replies: Replies
