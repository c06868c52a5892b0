"""Requests of earlier rounds, finding by finding, read back from the reviews as they stand on GitHub."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from reviewer_agent.review.verdict import Judgement, Reader, ReviewVerdict
from shared.github.ports import Reviews
from shared.models import PullRequest, Review, ReviewComment
from shared.text.comment_signatures import CommentSignatures

ANSWER = "<!-- engine-answer/1 "
"""Beginning of a worker's answer in a review thread."""

_LISTED = re.compile(r"- (?=\*\*(?:critical|major|minor|remark)\*\* `|`[^`]+:\d+` \*\*)")
"""Beginning of a finding in the body of our review, placed there by us or by GitHub's adapter."""

Requests = Callable[[int, Sequence[Review]], Awaitable[Sequence[Review]]]


@dataclass(frozen=True, slots=True)
class EarlierRounds:
    """Requests of earlier rounds: a text with an id at each finding, the ids, and the commit that was judged last.

    `threads` maps the id of a finding of ours to its inline comment, `own` are all such comments.
    """

    text: str = ""
    listed: tuple[str, ...] = ()
    sha: str = ""
    threads: Mapping[str, int] = field(default_factory=dict)
    own: frozenset[int] = frozenset()

    def settled(self, resolved: Collection[str], *, approved: bool) -> frozenset[int]:
        """Return our threads that need no further look; people's threads are theirs to resolve."""
        return self.own if approved else frozenset(self.threads[id] for id in resolved if id in self.threads)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Findings that are being collected: the inline comments, and the ids that were given so far."""

    pull_request: PullRequest
    remarks: Sequence[ReviewComment]
    listed: list[str] = field(default_factory=list)
    inline: dict[str, int] = field(default_factory=dict)

    def id(self, remark: int = 0) -> str:
        """Return the next id; `remark` is the inline comment that it is for, if there is one."""
        self.listed.append(f"F{len(self.listed) + 1}")
        if remark:
            self.inline[self.listed[-1]] = remark
        return self.listed[-1]


class PreviousFindings:
    """Reader of our newest request for changes, and of every standing one by a person with write access."""

    def __init__(self, reviews: Reviews, reader: Reader, requests: Requests) -> None:
        """Read with `requests`, which picks the standing requests for changes by people who may write."""
        self._reviews = reviews
        self._reader = reader
        self._requests = requests

    async def of(self, pull_request: PullRequest, round: int) -> EarlierRounds:
        """Return all requests, ids at findings; in a later round also the commit judged last. Raises `Transient`."""
        number = pull_request.number
        reviews = await (self._reviews.of(number) if round else self._reviews.at_start(number))
        last = self._reader.last(number, reviews, pull_request.head_sha) if round else None
        sha = "" if last is None else last.sha
        ours = [review for review in reviews if self._requests_changes(number, review)][-1:]
        people = await self._requests(number, reviews)
        if not ours and not people:
            return EarlierRounds(sha=sha)
        seen = _Reading(pull_request, await self._reviews.comments(number))
        blocks = [*map(partial(self._ours, seen), ours), *map(partial(self._persons, seen), people)]
        mine = {review.id for review in reviews if self._reader.read(number, review) is not None}
        own = frozenset(one.id for one in seen.remarks if not one.in_reply_to and one.review_id in mine)
        threads = {id: remark for id, remark in seen.inline.items() if remark in own}
        return EarlierRounds("\n\n".join(blocks), tuple(seen.listed), sha, threads, own)

    async def approved(self, pull_request: PullRequest) -> ReviewVerdict | None:
        """Return our newest verdict on an earlier head, if it stands and approves of merging that into the same branch.

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
        """Return the worker's last answer to a remark: a reason not to repeat it, or to insist."""
        author, number = seen.pull_request.author.id, seen.pull_request.number
        given = [one for one in seen.remarks if one.in_reply_to == remark.id and one.author.id == author]
        told = [one.body for one in given if self._is_answer(number, one.body)]
        return f"\n  The worker answered: {told[-1].partition(chr(10))[2]}" if told else ""

    def _is_answer(self, number: int, body: str) -> bool:
        return body.startswith(ANSWER) and self._reader.keys.verify("answer", number, body) is CommentSignatures.VALID

    def _requests_changes(self, number: int, review: Review) -> bool:
        verdict = self._reader.read(number, review)
        return verdict is not None and verdict.judgement is Judgement.CHANGES_REQUESTED
