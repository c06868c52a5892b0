"""What the reviewer sees of a pull request: raw facts folded into one snapshot, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewer_agent import links, trust
from reviewer_agent.admission import STAGES
from reviewer_agent.decide import Merge, Snapshot, hindrance
from reviewer_agent.demand import Demand
from reviewer_agent.material import Subject
from reviewer_agent.opinion import Opinion, Reader, standing_requests
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge, Source
from shared import marks
from shared.ci.verdict import Verdict, fold
from shared.errors import Gone
from shared.governance.commands import Verb, commands
from shared.lock.codec import Fence
from shared.models import Issue, PullRequest, Review
from shared.order import excluded
from shared.workflow import Flag, Stage


class Observer:
    """Looks at a pull request through GitHub and git; needs no lease, so a claim can look first."""

    def __init__(self, forge: Forge, demand: Demand, source: Source, reader: Reader, policy: Policy) -> None:
        self._forge = forge
        self._demand = demand
        self._source = source
        self._reader = reader
        self._policy = policy
        self._begun = False

    async def look(self, fence: Fence, seen: PullRequest | None = None) -> Snapshot:
        """The pull request as it is now; raises `Transient` or `Gone`. `seen` is what was read of it just now."""
        number = fence.key.number
        pull_request = seen or await self._forge.pulls.pull_request(number)
        snapshot = Snapshot(
            fence,
            pull_request,
            flags=self._policy.names.read(pull_request.labels).flags,
            merge=self._policy.merge,
            bounds=self._policy.bounds,
        )
        if not pull_request.open or fence.stage not in STAGES:
            return snapshot
        if snapshot.head_moved:
            return replace(snapshot, asked=await self._demand.again(pull_request, fence))
        reviews = await self._forge.reviews.of(number)
        snapshot = replace(
            snapshot, opinion=self._reader.newest(number, reviews, fence.work_head, pull_request.base_branch)
        )
        return snapshot if fence.stage is Stage.IN_REVIEW else await self._before_merging(snapshot, reviews)

    async def _before_merging(self, s: Snapshot, reviews: Sequence[Review]) -> Snapshot:
        requests = await self.requests(s.pull_request.number, reviews)
        s = replace(s, requested=bool(requests), person_asks=any(_is_news(s, request) for request in requests))
        if s.merge is Merge.NEVER or s.requested or s.opinion is None:
            return s
        if s.needs_order:
            s = replace(s, ordered=await self._ordered(s.opinion, s.pull_request))
        checks = await self._checks(s.fence.work_head, s.pull_request.base_branch)
        if checks in {Verdict.RED, Verdict.RUNNING, Verdict.UNKNOWN}:
            return replace(s, checks=checks)
        s = await self._with_base(replace(s, checks=checks))
        # Last, because it is read only for what would be merged now.
        return s if hindrance(s) else replace(s, stopped=await self.stopped(s.pull_request))

    async def begin(self) -> None:
        """Learn ahead of need what the base branch requires of a merge: later on, that is free. Raises `Transient`."""
        if not self._begun and self._policy.merge is not Merge.NEVER and self._policy.base_branch:
            await self._forge.checks.required(self._policy.base_branch)
        self._begun = True

    async def _checks(self, sha: str, base: str) -> Verdict:
        """What is required is asked only where it can matter: nothing failed and nothing runs."""
        checks = await self._forge.checks.of(sha)
        if not checks and self._policy.bounds.none_is_green:  # none may be a CI that could not start
            checks = await self._forge.checks.unstarted(sha)
        verdict = fold(checks)
        if verdict not in {Verdict.GREEN, Verdict.NONE}:
            return verdict
        return fold(checks, await self._forge.checks.required(base))

    async def requests(self, number: int, reviews: Sequence[Review]) -> tuple[Review, ...]:
        """The standing requests for changes by people with write, of whichever commit. Raises `Transient`."""
        standing = standing_requests(self._reader.by_people(number, reviews))
        return tuple([review for review in standing if await self._may_write(review.author.login)])

    async def _ordered(self, opinion: Opinion, pull_request: PullRequest) -> bool:
        """A person's `/merge`, given after our approval of this very commit."""
        thread = await self._forge.comments.thread(pull_request.number, opinion.at)
        # What carries a mark is the engine's; the account says nothing when its owner shares it.
        spoken = [c for c in thread if c.created_at > opinion.at and marks.find(c.body) is None]
        orders = [command for command in commands(spoken) if command.verb is Verb.MERGE]
        return any([await self._may_write(order.author.login) for order in orders])

    async def _with_base(self, s: Snapshot) -> Snapshot:
        """Nothing is merged on a red base, whatever the head is built on, or on one whose last merge is untested."""
        branch = s.pull_request.base_branch
        await self._source.ensure()
        tip = await self._source.refresh(f"refs/heads/{branch}")
        if tip is None:
            return s
        checks = fold(await self._forge.checks.of(tip))
        s = replace(s, base_tip=tip, base_checks=checks)
        if checks not in {Verdict.RUNNING, Verdict.NONE}:
            return s
        patience = self._policy.bounds.ci_seconds
        return replace(s, settling=await self._forge.turns.settling(branch, tip, checks, seconds=patience))

    async def _may_write(self, login: str) -> bool:
        return (await self._forge.people.permission(login)).may_write

    async def stopped(self, pull_request: PullRequest) -> bool:
        """Whether a person stopped the issue of one of our own branches; raises `Transient`."""
        number = links.issue_of(pull_request)
        return number is not None and self._is_stopped(await self._issue(number))

    def _is_stopped(self, issue: Issue | None) -> bool:
        """Closed, gone, locked, paused, excluded, or not handed over any more."""
        if issue is None or not issue.open or issue.locked or excluded(issue.labels, self._policy.exclude):
            return True
        labels = self._policy.names.read(issue.labels)
        return Flag.PAUSED in labels.flags or Stage.REVIEWING not in labels.stages

    async def _issue(self, number: int) -> Issue | None:
        try:
            return await self._forge.issues.issue(number)
        except Gone:
            return None

    async def subject(self, pull_request: PullRequest) -> Subject | None:
        """What it is judged against: the issue that it closes, else its own description; None when that is stopped."""
        number, own = links.issue_named_by(pull_request), links.issue_of(pull_request)
        issue = None if number is None else await self._issue(number)
        # The body names the issue of our own branch, so that one reading is for both, unless somebody edited it.
        if self._is_stopped(issue) if own is not None and own == number else await self.stopped(pull_request):
            return None
        return await trust.subject(self._demand, pull_request, issue)


def _is_news(s: Snapshot, request: Review) -> bool:
    """A request of this head, or made after our approval: the worker has not been told of it."""
    later = s.opinion is not None and request.submitted_at >= s.opinion.at
    return later or request.head_sha == s.fence.work_head
