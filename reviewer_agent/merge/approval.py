"""People's words on a commit that the engine approved: orders to merge it, and comments that hold the merge up.

An order is `/merge`, or an approving review of that very commit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from reviewer_agent import links
from reviewer_agent.ports import Forge
from reviewer_agent.review.verdict import Reader, ReviewVerdict, standing_approvals
from shared.commands.command import Verb, commands
from shared.github.ports import Comments, People
from shared.models import Account, Issue, PullRequest, Review, ReviewState
from shared.specification import Provenance, authentic, read
from shared.text import comment_signatures

_APP = "[bot]"
"""Suffix of an App's login. Its reviews count as a program's, whatever they say."""

Look = Callable[[int], Awaitable[Issue | None]]
"""Reads one issue; None when it is gone."""


class Word(StrEnum):
    """People's orders to merge, as far as they count."""

    NONE = "none"
    OWN = "only its requester's"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class GivenOrder:
    """The order to merge; `by` is who gave the one that counts, and where: `ada in comment 9`."""

    word: Word = Word.NONE
    by: str = ""


@dataclass(frozen=True, slots=True)
class _Order:
    """One person's order, and where it was given."""

    author: Account
    place: str


class MergeApproval:
    """Reader of orders to merge a pull request that were given after our approval of it."""

    def __init__(self, comments: Comments, people: People, look: Look, ours: Reader, *, by_requester: bool) -> None:
        """Use `ours` to know the engine's texts; with `by_requester` the requester's own order counts as well."""
        self._comments = comments
        self._people = people
        self._look = look
        self._ours = ours
        self._by_requester = by_requester

    async def of(self, pull_request: PullRequest, verdict: ReviewVerdict, reviews: Sequence[Review]) -> GivenOrder:
        """Return the order given after `verdict`; `reviews` are people's, which may count as one. Raises `Transient`.

        An order is bound to the commit of `verdict`: one that was given before cannot have been about it.
        """
        said = [*await self._orders(pull_request, verdict), *_approvals(reviews, verdict)]
        speakers = {one.author.id: one.author.login for one in said}
        trusted = [id for id, login in speakers.items() if (await self._people.permission(login)).may_write]
        if not trusted:
            return GivenOrder()
        silent = set[int]() if self._by_requester else await self._requesters(pull_request)
        counting = [one for one in said if one.author.id in trusted and one.author.id not in silent]
        if not counting:
            return GivenOrder(Word.OWN)
        return GivenOrder(Word.GIVEN, f"{counting[0].author.login} in {counting[0].place}")

    async def _orders(self, pull_request: PullRequest, verdict: ReviewVerdict) -> list[_Order]:
        thread = await self._comments.thread(pull_request.number, verdict.at)
        # What carries a mark is the engine's; the account says nothing when its owner shares it.
        spoken = [c for c in thread if c.created_at > verdict.at and comment_signatures.find(c.body) is None]
        given = [command for command in commands(spoken) if command.verb is Verb.MERGE]
        return [_Order(command.author, f"comment {command.comment_id}") for command in given]

    async def _requesters(self, pull_request: PullRequest) -> set[int]:
        """Return the ids of who wrote the issue, the story that it is part of and, if that is a person, the change.

        A specification written by the planner is requested by its story's author, not by the planner's account.
        """
        own = links.issue_of(pull_request)
        found = set[int]()
        if own is None or pull_request.author.id not in self._ours.accounts:
            found.add(pull_request.author.id)
        number = own or links.issue_closed_by(pull_request)
        issue = await self._look(number) if number else None
        if issue is not None:
            found |= set() if self._is_planned(issue) else {issue.author.id}
            part_of = read(issue.body).part_of
            story = await self._look(part_of) if part_of else None
            found |= {story.author.id} if story is not None else set()
        return found

    def _is_planned(self, issue: Issue) -> bool:
        """Return whether the engine has written every word of it, as its mark shows."""
        ours = issue.author.id in self._ours.accounts
        return ours and authentic(issue.body, self._ours.keys) is Provenance.ENGINE


def _approvals(reviews: Sequence[Review], verdict: ReviewVerdict) -> Iterable[_Order]:
    """Return the approvals of exactly this commit that were given after our review of it; an App's does not count."""
    fitting = (one for one in standing_approvals(reviews) if one.head_sha == verdict.sha)
    people = (one for one in fitting if not is_app(one.author))
    return [_Order(one.author, f"review {one.id}") for one in people if one.submitted_at >= verdict.at]


def is_app(account: Account) -> bool:
    """Return whether a program signs in with this account."""
    return account.login.endswith(_APP)


class Remarks:
    """Reader of comments by people with write access that nobody has answered by an approval or an order.

    A commit is not merged as long as there is one.
    """

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
        if (await self._forge.checks.merge_rules(pull_request.base_branch)).conversations:
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
