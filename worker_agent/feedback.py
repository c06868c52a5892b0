"""What a round of changes answers: of all reviews of a pull request, those that still stand."""

from __future__ import annotations

from collections.abc import Sequence

from shared import marks
from shared.marks import Authenticity, Keyring
from shared.models import Review, ReviewComment, ReviewState
from shared.text import clean
from worker_agent.ports import Reviews
from worker_agent.writers import Writers

MARK = "<!-- engine-review/1 "
"""How the engine's own review begins; its `verdict` counts where GitHub allows no other state than a comment."""

PURPOSE = "review"
ASKS = "changes-requested"

NOTHING = "The reviewer asked for changes without saying which."


class Feedback:
    """The reviews of one repository, as its worker heeds them."""

    def __init__(self, reviews: Reviews, writers: Writers, keys: Keyring) -> None:
        self._reviews = reviews
        self._writers = writers
        self._keys = keys

    async def findings(self, number: int, head: str) -> str:
        """What is asked of the commit `head` of pull request `number`, by everybody whose word counts."""
        trusted = [one for one in await self._reviews.of(number) if await self._writers.include(one.author)]
        reviews = standing(number, trusted, head, self._keys)
        comments = await self._reviews.comments(number) if reviews else ()
        said = [_said(one, [c for c in comments if c.review_id == one.id]) for one in reviews]
        return "\n\n".join(filter(None, said)) or NOTHING


def standing(number: int, reviews: Sequence[Review], head: str, keys: Keyring) -> tuple[Review, ...]:
    """The reviews to answer, oldest first: of each author the newest verdict if it asks for changes, and remarks.

    Remarks are comments about `head` or since the newest of these requests; older ones were answered before.
    """
    verdicts: dict[int, tuple[Review, bool]] = {}
    remarks: list[Review] = []
    for review in sorted(reviews, key=_order):
        asks = _asks(number, review, keys)
        if asks is None:
            remarks.append(review)
        else:
            verdicts[review.author.id] = review, asks
    requests = [review for review, asks in verdicts.values() if asks]
    since = max((review.submitted_at for review in requests), default=None)
    also = [r for r in remarks if r.head_sha == head or (since is not None and r.submitted_at >= since)]
    return tuple(sorted([*requests, *also], key=_order))


def _order(review: Review) -> tuple[float, int]:
    return review.submitted_at.timestamp(), review.id


def _asks(number: int, review: Review, keys: Keyring) -> bool | None:
    """Whether a verdict asks for changes; None when the review is no verdict."""
    if review.state is not ReviewState.COMMENTED:
        return review.state is ReviewState.CHANGES_REQUESTED
    line = review.body.partition("\n")[0].rstrip("\r")
    mark = marks.find(line) if line.startswith(MARK) else None
    if mark is None or keys.verify(PURPOSE, number, line) is not Authenticity.VALID:
        return None
    return mark.fields.get("verdict") == ASKS


def _said(review: Review, inline: Sequence[ReviewComment]) -> str:
    """A review as text. Each part is cleaned by itself, so that none can hide the next."""
    lines = [clean(review.body).strip(), *(f"- {c.path}:{c.line or '?'}: {clean(c.body).strip()}" for c in inline)]
    said = "\n".join(filter(None, lines))
    return f"{review.author.login}:\n{said}" if said else ""
