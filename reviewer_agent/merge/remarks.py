"""Who has commented on an approved commit, so that nobody merges it over what they said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewer_agent.merge.approval import MergeApproval, Word, is_app
from reviewer_agent.ports import Forge
from reviewer_agent.review.verdict import Reader, ReviewVerdict, standing_approvals
from shared.models import PullRequest, Review, ReviewState
from shared.text import comment_signatures


class Remarks:
    """Reads the comments of people with write access that nobody has answered by an approval or an order."""

    def __init__(self, forge: Forge, reader: Reader, approval: MergeApproval) -> None:
        self._forge = forge
        self._reader = reader
        self._approval = approval

    async def authors(
        self, pull_request: PullRequest, verdict: ReviewVerdict, reviews: Sequence[Review]
    ) -> tuple[str, ...]:
        """The logins of who has commented on the commit of `verdict`; empty after a `/merge` that is younger.

        What a program says holds nothing up, nor does an answer in a thread; and who has opened a pull request speaks
        there without objecting to it. Raises `Transient`.
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

    async def _without_answers(self, pull_request: PullRequest, heard: list[Review]) -> list[Review]:
        """Those with words of their own, or that begin a thread on a line."""
        silent = any(not one.body.strip() for one in heard)
        if not silent:
            return heard
        if (await self._forge.rules.of(pull_request.base_branch)).conversations:
            return [one for one in heard if one.body.strip()]  # GitHub itself waits for threads to be resolved
        inline = await self._forge.reviews.comments(pull_request.number)
        begun = {one.review_id for one in inline if one.in_reply_to is None}
        return [one for one in heard if one.body.strip() or one.id in begun]

    def _is_by_person(self, review: Review) -> bool:
        """Whether neither an App wrote it nor an agent, also one that signs by a key which is not known here."""
        ours = review.author.id in self._reader.accounts and comment_signatures.find(review.body) is not None
        return not (ours or is_app(review.author))


def on_commit(reviews: Sequence[Review], verdict: ReviewVerdict) -> tuple[Review, ...]:
    """Comments on the commit of `verdict`, or after it, of authors who do not approve of that commit themselves."""
    approving = {one.author.id for one in standing_approvals(reviews) if one.head_sha == verdict.sha}
    return tuple(
        one
        for one in reviews
        if one.state is ReviewState.COMMENTED
        and (one.head_sha == verdict.sha or one.submitted_at > verdict.at)
        and one.author.id not in approving
    )
