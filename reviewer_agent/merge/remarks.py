"""Comments by people on an approved commit, which is not merged as long as they are unanswered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewer_agent.merge.approval import MergeApproval, Word, is_app
from reviewer_agent.ports import Forge
from reviewer_agent.review.verdict import Reader, ReviewVerdict, standing_approvals
from shared.models import PullRequest, Review, ReviewState
from shared.text import comment_signatures


class Remarks:
    """Reader of comments by people with write access that nobody has answered by an approval or an order."""

    def __init__(self, forge: Forge, reader: Reader, approval: MergeApproval) -> None:
        self._forge = forge
        self._reader = reader
        self._approval = approval

    async def authors(
        self, pull_request: PullRequest, verdict: ReviewVerdict, reviews: Sequence[Review]
    ) -> tuple[str, ...]:
        """Return the logins of people who commented on the commit of `verdict`; empty after a younger `/merge`.

        A program's comment, an answer in a thread, or a comment by the author of the pull request is no objection.
        Raises `Transient`.
        """
        found = on_commit(self._reader.by_people(pull_request.number, reviews), verdict)
        people = [one for one in found if self._is_by_person(one) and one.author.id != pull_request.author.id]
        heard = [one for one in people if (await self._forge.people.permission(one.author.login)).may_write]
        heard = await self._without_answers(pull_request, heard)
        if not heard:
            return ()
        last = max(verdict.at, *(one.submitted_at for one in heard))
        ordered = await self._approval.of(pull_request, replace(verdict, at=last), ())
        return () if ordered.word is not Word.NONE else tuple(dict.fromkeys(one.author.login for one in heard))

    async def _without_answers(self, pull_request: PullRequest, reviews: list[Review]) -> list[Review]:
        """Return those with words of their own, or that begin a thread on a line."""
        silent = any(not one.body.strip() for one in reviews)
        if not silent:
            return reviews
        if (await self._forge.rules.of(pull_request.base_branch)).conversations:
            return [one for one in reviews if one.body.strip()]  # GitHub itself waits for threads to be resolved
        inline = await self._forge.reviews.comments(pull_request.number)
        begun = {one.review_id for one in inline if one.in_reply_to is None}
        return [one for one in reviews if one.body.strip() or one.id in begun]

    def _is_by_person(self, review: Review) -> bool:
        """Return whether neither an App nor an agent wrote it, not even an agent whose key is not known here."""
        ours = review.author.id in self._reader.accounts and comment_signatures.find(review.body) is not None
        return not (ours or is_app(review.author))


def on_commit(reviews: Sequence[Review], verdict: ReviewVerdict) -> tuple[Review, ...]:
    """Return comments on the commit of `verdict`, or after it, by authors who do not approve of that commit."""
    approving = {one.author.id for one in standing_approvals(reviews) if one.head_sha == verdict.sha}
    return tuple(
        one
        for one in reviews
        if one.state is ReviewState.COMMENTED
        and (one.head_sha == verdict.sha or one.submitted_at > verdict.at)
        and one.author.id not in approving
    )
