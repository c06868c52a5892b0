"""The repeated approval of a change that has only had its base merged in, without a paid call (pure)."""

from __future__ import annotations

from reviewer_agent.review.answer import BreakingChange, ReviewAnswer
from reviewer_agent.review.draft import Draft
from reviewer_agent.review.placement import Placed
from reviewer_agent.review.review_input import ReviewInput
from reviewer_agent.review.verdict import ReviewVerdict


def again(review_input: ReviewInput, earlier: ReviewVerdict, round: int) -> Draft:
    """Return the approval `earlier` as one of the present head."""
    pull = review_input.pull_request
    summary = f"The change is the one that was approved at {earlier.sha[:12]}: only its base was merged into it."
    nothing_breaks = BreakingChange(breaks=False, why="")
    answer = ReviewAnswer(verdict="approved", summary=summary, findings=(), criteria=(), breaking_change=nothing_breaks)
    return Draft(
        pull.head_sha,
        round,
        answer,
        Placed((), ()),
        review_input.change,
        removed=review_input.removed,
        onto=pull.base_branch,
        doubt=review_input.recorded.doubt,
        earlier=earlier,
        text=review_input.subject.text,
    )
