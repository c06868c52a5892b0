"""The reasons for which the reviewer gives a pull request to a person: one class per reason."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer_agent import comments
from reviewer_agent.decide import Action
from reviewer_agent.review.draft import Draft
from shared.errors import Blocked
from shared.lock.record import Fence


class Unpostable(Blocked):
    """GitHub does not take the review; `text` is what it says, so that nothing is lost."""

    def __init__(self, error: Blocked, text: str) -> None:
        super().__init__(f"The review could not be posted: {error}")
        self.text = text


class RoundsUsedUp(Blocked):
    """The review still asks for changes after the last round."""

    def __init__(self, rounds: int) -> None:
        super().__init__(comments.rounds_used_up(rounds))


class ReviewsUsedUp(Blocked):
    """Too many heads of one pull request were reviewed: a person decides."""

    def __init__(self, reviews: int) -> None:
        super().__init__(comments.reviews_used_up(reviews))


class TooLarge(Blocked):
    """Nothing wrong was found, but not all of the change was seen."""

    def __init__(self, missing: Sequence[str] = ()) -> None:
        super().__init__(comments.too_large(missing))


def given_up(action: Action, fence: Fence, draft: Draft | None) -> Blocked:
    """Return the error of an action that gives up."""
    if action is Action.GIVE_UP_ON_ROUNDS:
        return RoundsUsedUp(fence.round + 1)
    if action is Action.GIVE_UP_ON_REVIEWS:
        return ReviewsUsedUp(fence.attempt)
    return TooLarge(draft.patch.missing if draft else ())
