"""The errors with which the reviewer gives a pull request to a person."""

from __future__ import annotations

from reviewer_agent import comments
from reviewer_agent.decide import Action
from reviewer_agent.review.draft import Draft
from shared.errors import Blocked
from shared.lock.fence import Fence


class Unpostable(Blocked):
    """GitHub does not take the review; `text` is what it says, so that nothing is lost."""

    def __init__(self, error: Blocked, text: str) -> None:
        super().__init__(f"The review could not be posted: {error}")
        self.text = text


def given_up(action: Action, fence: Fence, draft: Draft | None) -> Blocked:
    """Return the error of an action that gives up, with the reason why a person decides."""
    if action is Action.GIVE_UP_ON_ROUNDS:
        return Blocked(comments.rounds_used_up(fence.round + 1))
    if action is Action.GIVE_UP_ON_REVIEWS:
        return Blocked(comments.reviews_used_up(fence.attempt))
    return Blocked(comments.too_large(draft.patch.missing if draft else ()))
