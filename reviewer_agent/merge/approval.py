"""A person's order to merge: `/merge`, or an approving review of the very commit that the engine approved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reviewer_agent import links
from reviewer_agent.review.verdict import Reader, ReviewVerdict, standing_approvals
from shared.commands.command import Verb, commands
from shared.github.ports import Comments, People
from shared.models import Account, Issue, PullRequest, Review
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
