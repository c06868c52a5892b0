"""What earlier rounds asked for, finding by finding, read back from the reviews as they stand on GitHub."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from reviewer_agent.review.convergence import NOTHING, EarlierRounds
from reviewer_agent.review.verdict import Judgement, Reader, ReviewVerdict
from shared.github.ports import Reviews
from shared.models import PullRequest, Review, ReviewComment
from shared.text.comment_signatures import CommentSignatures

ANSWER = "<!-- engine-answer/1 "
"""How an answer of the worker's in a review thread begins."""

_LISTED = re.compile(r"- (?=\*\*(?:critical|major|minor|remark)\*\* `|`[^`]+:\d+` \*\*)")
"""How a finding begins that stands in the body of our review: placed there by us, or by GitHub's adapter."""

Requests = Callable[[int, Sequence[Review]], Awaitable[Sequence[Review]]]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is being put together: the inline comments, and the ids that were given so far."""

    pull_request: PullRequest
    remarks: Sequence[ReviewComment]
    listed: list[str] = field(default_factory=list)
    inline: dict[str, int] = field(default_factory=dict)

    def id(self, remark: int = 0) -> str:
        """The next one, of the inline comment `remark` where it is one."""
        self.listed.append(f"F{len(self.listed) + 1}")
        if remark:
            self.inline[self.listed[-1]] = remark
        return self.listed[-1]


class PreviousFindings:
    """Our newest request, and every standing one of a person with write access."""

    def __init__(self, reviews: Reviews, reader: Reader, requests: Requests) -> None:
        """`requests` picks the standing requests for changes by people who may."""
        self._reviews = reviews
        self._reader = reader
        self._requests = requests

    async def of(self, pull_request: PullRequest, round: int) -> EarlierRounds:
        """All of it with an id at each finding; in a later round with the commit judged last. Raises `Transient`."""
        number = pull_request.number
        reviews = await self._reviews.of(number)
        last = self._reader.last(number, reviews, pull_request.head_sha) if round else None
        sha = "" if last is None else last.sha
        ours = [review for review in reviews if self._asked(number, review)][-1:]
        people = await self._requests(number, reviews)
        if not ours and not people:
            return EarlierRounds(sha=sha) if sha else NOTHING
        seen = _Reading(pull_request, await self._reviews.comments(number))
        blocks = [*map(partial(self._ours, seen), ours), *map(partial(self._persons, seen), people)]
        mine = {review.id for review in reviews if self._reader.read(number, review) is not None}
        own = frozenset(one.id for one in seen.remarks if not one.in_reply_to and one.review_id in mine)
        threads = {id: remark for id, remark in seen.inline.items() if remark in own}
        return EarlierRounds("\n\n".join(blocks), tuple(seen.listed), sha, threads, own)

    async def approved(self, pull_request: PullRequest) -> ReviewVerdict | None:
        """Our newest verdict on an earlier head, if it stands and approves of merging that into the same branch.

        Raises `Transient`.
        """
        number = pull_request.number
        reviews = await self._reviews.of(number)
        last = self._reader.last(number, reviews, pull_request.head_sha)
        if last is None or last.judgement is not Judgement.APPROVED:
            return None
        return self._reader.newest(number, reviews, last.sha, pull_request.base_branch)

    def _ours(self, seen: _Reading, review: Review) -> str:
        return self._block(seen, review, _LISTED.sub(lambda _: f"- {seen.id()} ", review.body))

    def _persons(self, seen: _Reading, review: Review) -> str:
        body = review.body.strip()
        return self._block(seen, review, body and f"- {seen.id()} {review.author.login} asks: {body}")

    def _block(self, seen: _Reading, review: Review, body: str) -> str:
        inline = [
            f"- {seen.id(c.id)} {c.path}:{c.line or '?'}: {c.body}{self._answer(c, seen)}"
            for c in seen.remarks
            if c.review_id == review.id
        ]
        return "\n".join([f"Of commit {review.head_sha[:12]}:", body, *inline])

    def _answer(self, remark: ReviewComment, seen: _Reading) -> str:
        """What the worker has said of a remark last: a reason not to repeat it, or to insist."""
        author, number = seen.pull_request.author.id, seen.pull_request.number
        given = [one for one in seen.remarks if one.in_reply_to == remark.id and one.author.id == author]
        told = [one.body for one in given if self._is_answer(number, one.body)]
        return f"\n  The worker answered: {told[-1].partition(chr(10))[2]}" if told else ""

    def _is_answer(self, number: int, body: str) -> bool:
        return body.startswith(ANSWER) and self._reader.keys.verify("answer", number, body) is CommentSignatures.VALID

    def _asked(self, number: int, review: Review) -> bool:
        verdict = self._reader.read(number, review)
        return verdict is not None and verdict.judgement is Judgement.CHANGES_REQUESTED
