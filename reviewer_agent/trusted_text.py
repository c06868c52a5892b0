"""What of a pull request and its issue a reviewer is shown: nothing that only a stranger stands behind."""

from __future__ import annotations

from typing import Protocol

from reviewer_agent.review.evidence import stated
from reviewer_agent.review.review_input import Subject
from shared.lock.record import Fence
from shared.models import Account, Issue, PullRequest
from shared.specification import body_sha256

NOT_SHOWN = "Its text is not shown: nobody with write access has written or approved it. Judge the change by itself."


class Demand(Protocol):
    """Who may write, and what the worker was bound to."""

    async def trusts(self, account: Account) -> bool: ...

    async def by_worker(self, pull_request: PullRequest) -> Fence | None: ...


async def subject(demand: Demand, pull_request: PullRequest, issue: Issue | None) -> Subject:
    """The issue, else the pull request's own description, as far as trusted people stand behind them.

    An issue by somebody without write access counts in the words that the worker was bound to: edited since, the
    description stands in, which says what was approved. Raises `Transient`.
    """
    fence = await demand.by_worker(pull_request)  # which names what the worker itself has opened
    ours = fence is not None or await demand.trusts(pull_request.author)
    evidence = stated(pull_request.body) if ours else ""
    if issue is not None and not issue.is_pull_request:
        approved = fence.body_sha256 if fence is not None and fence.key.number == issue.number else ""
        if approved == body_sha256(issue.title, issue.body) or await demand.trusts(issue.author):
            return Subject(issue.title, issue.body, evidence)
    if ours:
        return Subject(pull_request.title, pull_request.body, evidence)
    return Subject(f"Pull request #{pull_request.number}", NOT_SHOWN, evidence)
