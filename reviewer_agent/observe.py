"""The reviewer's view of a pull request: raw facts folded into one snapshot, once.

Of a pull request and its issue, a reviewer is shown nothing that only a stranger vouches for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from reviewer_agent import links
from reviewer_agent.candidates import STAGES
from reviewer_agent.merge.approval import GivenOrder, MergeApproval, Remarks, Word
from reviewer_agent.merge.blockers import Blocker, WaitReason
from reviewer_agent.merge.merge_decision import first_blocker, is_undecided, unmet
from reviewer_agent.merge.merge_turns import REF as MERGES
from reviewer_agent.merge.queue_exit import QueueEntry
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge
from reviewer_agent.review.evidence import stated
from reviewer_agent.review.review_input import ReviewSubject
from reviewer_agent.review.verdict import Reader, standing_approvals, standing_requests, text_key
from reviewer_agent.review_request import ReviewRequest
from reviewer_agent.snapshot import Merge, Snapshot
from shared.ci.ci_round import UNCHECKED_RED
from shared.ci.presence import Presence
from shared.ci.verdict import CiVerdict, fold, missing
from shared.errors import Gone
from shared.git.names import notes_ref
from shared.git.ports import Mirror
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account, Issue, PullRequest, Review
from shared.scheduling.order import exclusion_reason
from shared.specification import body_sha256
from shared.specification.dependencies import holding, written
from shared.workflow import Role, Stage
from shared.workflow.labels import HOLDING_OF_ISSUE, Flag


class Observer:
    """The view of a pull request through GitHub and git; it needs no lease, so that a claim can look first."""

    def __init__(self, forge: Forge, demand: ReviewRequest, source: Mirror, reader: Reader, policy: Policy) -> None:
        self._forge = forge
        self._demand = demand
        self._source = source
        self._reader = reader
        self._policy = policy
        self._merge_approval = MergeApproval(
            forge.comments, forge.people, self._issue, reader, by_requester=policy.by_requester
        )
        self._remarks = Remarks(forge, reader, self._merge_approval)
        self._presence = Presence(forge.checks, source)
        self._begun = False

    async def look(self, fence: Fence, seen: PullRequest | None = None, *, begins: bool = False) -> Snapshot:
        """Return the pull request as it is now; raises `Transient` or `Gone`. `seen` was read just now.

        Of a first review that `begins`, reviews are not read yet: the answer to its label tells if there are any.
        """
        number = fence.key.number
        pull_request = seen or await self._forge.pulls.pull_request(number)
        snapshot = Snapshot(
            fence,
            pull_request,
            flags=self._policy.names.read(pull_request.labels).flags,
            barred=exclusion_reason(pull_request.labels, self._policy.barring),
            merge=self._policy.merge,
            bounds=self._policy.bounds,
        )
        if not pull_request.open or fence.stage not in STAGES:
            return snapshot
        if snapshot.head_moved:
            return replace(snapshot, review_asked=await self._demand.again(pull_request, fence))
        asks = fence.stage is Stage.APPROVED and Stage.REVIEWING in self._policy.names.read(pull_request.labels).stages
        if asks and await self._demand.since(pull_request, fence):
            return replace(snapshot, review_asked=True)
        if begins:
            return await self._before_paying(snapshot)
        reviews = await self._forge.reviews.of(number)
        snapshot = replace(
            snapshot, verdict=self._reader.newest(number, reviews, fence.work_head, pull_request.base_branch)
        )
        if fence.stage is not Stage.IN_REVIEW:
            return await self._before_merging(snapshot, reviews)
        snapshot = await self._drop_outdated_verdict(snapshot)
        return snapshot if snapshot.verdict else await self._before_paying(snapshot)

    async def _drop_outdated_verdict(self, s: Snapshot) -> Snapshot:
        """Drop a verdict that was made of another text of the issue."""
        number = links.issue_of(s.pull_request)
        if number is None or s.verdict is None or not s.verdict.text:
            return s
        issue = await self._issue(number)
        return s if issue is None or s.verdict.knows(issue) else replace(s, verdict=None)

    async def _before_paying(self, s: Snapshot) -> Snapshot:
        """Add the checks of our worker's hand-over: nobody is paid to review what the worker will have to repair."""
        await self._read_together(s.pull_request)
        if not await self.is_repairable(s.pull_request):
            return s
        late = s.fence.stage is Stage.APPROVED and s.pull_request.behind
        if late or s.pull_request.mergeable is False:
            return await self._with_tip(replace(s, updatable=True))
        s = await self._with_checks(s)
        return replace(s, repairable=s.checks is CiVerdict.RED)

    async def is_repairable(self, pull_request: PullRequest) -> bool:
        """Return whether our worker can repair its CI: its own head, not handed over red, not stopped."""
        fence = await self._demand.by_worker(pull_request)
        if fence is None or fence.stage is not Stage.REVIEWING or fence.phase == UNCHECKED_RED:
            return False
        return await self._held_up(await self._issue(fence.key.number), pull_request, fence) is None

    async def _before_merging(self, s: Snapshot, reviews: Sequence[Review]) -> Snapshot:
        requests = await self.requests(s.pull_request.number, reviews)
        newest = max((request.id for request in requests), default=0)
        asks = any(_is_news(s, request) for request in requests)
        s = replace(s, requested=bool(requests), request=newest, person_asks=asks)
        if s.requested or s.verdict is None:
            return s
        if s.merge is Merge.NEVER:  # people merge; what they are offered is kept green
            return await self._before_paying(s)
        s = await self._with_remarks(s, reviews)
        s = await self._with_order(s, reviews)
        if s.pull_request.out_of_step:  # where it conflicts, GitHub runs no checks
            s = await self._with_tip(s)
            s = replace(s, updatable=await self.is_repairable(s.pull_request))
            if not s.updatable:  # who would resolve it in vain has to know
                return replace(s, held_up=await self.held_up(s.pull_request))
            return s if s.pull_request.mergeable is False else await self._with_turn(s)
        s = await self._with_checks(s)
        if s.checks is CiVerdict.RED:
            return replace(s, repairable=await self.is_repairable(s.pull_request))
        if s.checks in {CiVerdict.RUNNING, CiVerdict.UNKNOWN}:
            return s
        if s.checks is CiVerdict.NONE and not s.bounds.none_is_green:
            s = await self._without_checks(s)
        s = await self._with_base(s)
        s = await self._with_rules(s, reviews)
        if s.unmet and await self._would_lose(s):
            return await self._with_turn(replace(s, updatable=True))
        # Last, because it is read only for what would be merged now.
        return s if first_blocker(s) else await self._with_issue(s)

    async def _with_remarks(self, s: Snapshot, reviews: Sequence[Review]) -> Snapshot:
        """Add who has commented on this commit; nothing holds up a pull request that is in GitHub's queue."""
        if s.verdict is None or (s.fence.wait is not None and s.fence.wait.reason == WaitReason.QUEUED):
            return s
        return replace(s, remarked_by=await self._remarks.authors(s.pull_request, s.verdict, reviews))

    async def _with_order(self, s: Snapshot, reviews: Sequence[Review]) -> Snapshot:
        """Add people's order to merge. An approving review counts as an order only with `merge: auto`."""
        if s.verdict is None or not (s.needs_order or s.bounds.cooling_seconds):
            return s
        approving = s.needs_order and s.merge is Merge.AUTO
        people = self._reader.by_people(s.pull_request.number, reviews) if approving else ()
        return _ordered(s, await self._merge_approval.of(s.pull_request, s.verdict, people))

    async def _without_checks(self, s: Snapshot) -> Snapshot:
        """Add whether the repository has no CI at all; if so, a person's order merges without checks."""
        await self._source.ensure()
        if s.verdict is None or not await self._presence.is_missing(s.pull_request.base_branch):
            return s
        if not s.ordered:
            s = _ordered(s, await self._merge_approval.of(s.pull_request, s.verdict, ()))
        return replace(s, no_ci=True)

    async def _with_issue(self, s: Snapshot) -> Snapshot:
        """Add the state of the issue, if the branch is one of our own."""
        number = links.issue_of(s.pull_request)
        if number is None:
            return s
        issue = await self._issue(number)
        barred = exclusion_reason(issue.labels, self._policy.barring) if issue is not None else ""
        held_up = await self._held_up(issue, s.pull_request)
        s = replace(s, barred=barred, held_up=held_up or self._flag_blocker(issue) or await self._dependency(issue))
        if issue is None or s.verdict is None or s.verdict.knows(issue):
            return s
        # Whoever says `/merge` when the issue has changed for the last time means it as it is.
        said = await self._merge_approval.of(s.pull_request, replace(s.verdict, at=issue.updated_at), ())
        return replace(s, reworded=said.word is Word.NONE)

    async def _dependency(self, issue: Issue | None) -> Blocker | None:
        """Return `BLOCKED` if people named an open blocker after the hand-over; the issue counts its relationships."""
        if issue is None:
            return None
        if issue.blocked_by and holding(issue, await self._forge.issues.blocked_by(issue.number)):
            return Blocker.BLOCKED
        named = [await self._issue(number, issue.updated_at) for number in written(issue)]
        return Blocker.BLOCKED if any(one is not None and one.open for one in named) else None

    def _flag_blocker(self, issue: Issue | None) -> Blocker | None:
        flags = self._policy.names.read(issue.labels).flags if issue is not None else frozenset()
        return Blocker.FLAGGED if flags & HOLDING_OF_ISSUE else None

    async def _with_rules(self, s: Snapshot, reviews: Sequence[Review]) -> Snapshot:
        """Add the base branch's rules that are not met; an approval by the pull request's own author does not count."""
        rules = await self._forge.checks.merge_rules(s.pull_request.base_branch)
        required = await self._forge.checks.required(s.pull_request.base_branch)
        standing = [one for one in standing_approvals(reviews) if one.author.id != s.pull_request.author.id]
        approving = [one for one in standing if await self._counts(one)] if rules.approvals or rules.last_push else []
        entered = QueueEntry.of(s.fence).head == s.fence.work_head  # a queue that no rule shows, see `Merging.merge`
        s = replace(s, queue=rules.queue or entered, unmet=unmet(rules, s.pull_request, approving))
        s = replace(s, undecided=is_undecided(rules, required, s.pull_request))
        if s.outside is None or s.verdict is None:
            return s
        # Anybody's word counts here: without it, the engine would have put it in by itself.
        back = await self._merge_approval.of(s.pull_request, replace(s.verdict, at=s.outside.at), ())
        return replace(s, called_back=back.word is not Word.NONE)

    async def _would_lose(self, s: Snapshot) -> bool:
        """Return whether today's approvals would be lost, because the base has to be merged in afterwards."""
        rules = await self._forge.checks.merge_rules(s.pull_request.base_branch)
        if not (rules.up_to_date and rules.dismisses) or rules.queue or not s.base_tip:
            return False
        fence = await self._demand.by_worker(s.pull_request)
        behind = fence is not None and fence.base not in {"", s.base_tip}
        return behind and await self.is_repairable(s.pull_request)

    async def _with_turn(self, s: Snapshot) -> Snapshot:
        """Add whether another pull request is brought up to date with the base before this one."""
        number, base = s.pull_request.number, s.pull_request.base_branch
        first = await self._forge.updates.before(number, base, complete=s.complete)
        return replace(s, by_turn=True, waits_behind=first)

    async def _counts(self, review: Review) -> bool:
        return review.author.id in self._reader.accounts or await self._may_write(review.author.login)

    async def begin(self) -> None:
        """Read ahead of need what the base branch requires of a merge: later on, that is free. Raises `Transient`."""
        if not self._begun and self._policy.merge is not Merge.NEVER and self._policy.base.name:
            await self._forge.checks.required(self._policy.base.name)
            await self._forge.checks.merge_rules(self._policy.base.name)
        self._begun = True

    async def _with_checks(self, s: Snapshot) -> Snapshot:
        checks, awaited = await self._checks(s.fence.work_head, s.pull_request.base_branch)
        return replace(s, checks=checks, awaited=awaited)

    async def _checks(self, sha: str, base: str) -> tuple[CiVerdict, tuple[str, ...]]:
        """Return the verdict and the missing required checks; read only if nothing failed and nothing runs."""
        checks = await self._forge.checks.of(sha)
        if not checks and self._policy.bounds.none_is_green:  # none may be a CI that could not start
            checks = await self._forge.checks.unstarted(sha)
        verdict = fold(checks)
        if verdict not in {CiVerdict.GREEN, CiVerdict.NONE}:
            return verdict, ()
        required = await self._forge.checks.required(base)
        return fold(checks, required), missing(checks, required)

    async def requests(self, number: int, reviews: Sequence[Review]) -> tuple[Review, ...]:
        """Return the standing requests for changes by people with write access, of any commit. Raises `Transient`."""
        standing = standing_requests(self._reader.by_people(number, reviews))
        return tuple([review for review in standing if await self._may_write(review.author.login)])

    async def _with_base(self, s: Snapshot) -> Snapshot:
        """Add the base's checks: nothing is merged on a red base, or on one whose last merge is untested."""
        branch, s = s.pull_request.base_branch, await self._with_tip(s)
        tip = s.base_tip
        if not tip:
            return s
        checks = fold(await self._forge.checks.of(tip))
        s = replace(s, base_checks=checks)
        if checks not in {CiVerdict.RUNNING, CiVerdict.NONE}:
            return s
        patience = self._policy.bounds.ci_seconds
        return replace(s, settling=await self._forge.turns.settling(branch, tip, checks, seconds=patience))

    async def _read_together(self, pull_request: PullRequest) -> None:
        """Fetch together all refs that a look at a review or a merge reads."""
        await self._source.ensure()
        issue = links.issue_of(pull_request)
        own = () if issue is None else (ItemKey(Role.WORKER, issue).ref, notes_ref(issue))
        await self._source.read_together(f"refs/heads/{pull_request.base_branch}", MERGES, *own)

    async def _with_tip(self, s: Snapshot) -> Snapshot:
        await self._read_together(s.pull_request)
        tip = await self._source.refresh(f"refs/heads/{s.pull_request.base_branch}")
        return replace(s, base_tip=tip or "")

    async def _may_write(self, login: str) -> bool:
        return (await self._forge.people.permission(login)).may_write

    async def held_up(self, pull_request: PullRequest) -> Blocker | None:
        """Return what a person did to the issue of our own branch that holds it up; raises `Transient`."""
        number = links.issue_of(pull_request)
        return None if number is None else await self._held_up(await self._issue(number), pull_request)

    async def _held_up(
        self, issue: Issue | None, pull_request: PullRequest, known: Fence | None = None
    ) -> Blocker | None:
        """Return what holds it up. `known` is the worker's fence if it was read just now: no final act rests on it."""
        if issue is None or self._is_stopped(issue):
            return Blocker.STOPPED
        fence = known or await self._demand.of_worker(pull_request)
        return Blocker.EDITED if await self._is_edited(issue, fence) else None

    async def _is_edited(self, issue: Issue, fence: Fence | None) -> bool:
        """Return whether the issue's text is not the one that the worker was bound to, and its author may not write.

        Everybody may edit their own text; the text of others may be edited only by those who may write.
        """
        if fence is None or fence.body_sha256 in {"", body_sha256(issue.title, issue.body)}:
            return False
        return not await self._demand.trusts(issue.author)

    async def is_red(self, fence: Fence, pull_request: PullRequest) -> bool:
        """Return whether the checks of the fence's commit are red; raises `Transient`."""
        return (await self._checks(fence.work_head, pull_request.base_branch))[0] is CiVerdict.RED

    async def has_told(self, number: int, head: str, reason: str, names: Sequence[str] | None = ()) -> bool:
        """Return whether the status comment gives this reason for this commit, with `names` as missing if not None.

        Raises `Transient`.
        """
        data = await self._forge.status.data(number)
        waiting = data.get("waiting")
        if data.get("head") != head or not isinstance(waiting, Mapping):
            return False
        return waiting.get("why") == reason and (names is None or list(waiting.get("for", ())) == list(names))

    def _is_stopped(self, issue: Issue) -> bool:
        """Return whether the issue is closed, locked, paused, excluded, or not handed over any more."""
        if not issue.open or issue.locked or exclusion_reason(issue.labels, self._policy.exclude):
            return True
        labels = self._policy.names.read(issue.labels)
        return Flag.PAUSED in labels.flags or Stage.REVIEWING not in labels.stages

    async def _issue(self, number: int, named_at: datetime | None = None) -> Issue | None:
        try:
            issues = self._forge.issues
            return await (issues.named(number, named_at) if named_at else issues.issue(number))
        except Gone:
            return None

    async def subject(self, pull_request: PullRequest) -> ReviewSubject | None:
        """Return what the change is judged against: the closed issue, else its description; None if that is held up."""
        number, own = links.issue_closed_by(pull_request), links.issue_of(pull_request)
        issue = None if number is None else await self._issue(number)
        # The body names the issue of our own branch, so that one reading is for both, unless somebody edited it.
        same = own is not None and own == number
        fence = await self._demand.of_worker(pull_request)
        if await self._held_up(issue, pull_request, fence) if same else await self.held_up(pull_request):
            return None
        handed = fence if fence is not None and fence.work_head == pull_request.head_sha else None
        return await subject(self._demand.trusts, pull_request, issue, handed)


def _ordered(s: Snapshot, said: GivenOrder) -> Snapshot:
    return replace(s, ordered=said.word is Word.GIVEN, ordered_by=said.by, own_order=said.word is Word.OWN)


def _is_news(s: Snapshot, request: Review) -> bool:
    """Return whether the request is of this head or younger than our approval: the worker has not been told of it."""
    later = s.verdict is not None and request.submitted_at >= s.verdict.at
    return later or request.head_sha == s.fence.work_head


NOT_SHOWN = "Its text is not shown: nobody with write access has written or approved it. Judge the change by itself."


async def subject(
    trusts: Callable[[Account], Awaitable[bool]], pull_request: PullRequest, issue: Issue | None, fence: Fence | None
) -> ReviewSubject:
    """Return the issue, else the pull request's own description, as far as people whom `trusts` names vouch for them.

    `fence` is that of the worker that has handed this very head over, and says what it was bound to. An issue by
    somebody without write access counts in the words that the worker was bound to; if it was edited since, the
    description, which says what was approved, takes its place. Raises `Transient`.
    """
    ours = fence is not None or await trusts(pull_request.author)
    evidence = stated(pull_request.body) if ours else ""
    if issue is not None and not issue.is_pull_request:
        approved = fence.body_sha256 if fence is not None and fence.key.number == issue.number else ""
        if approved == body_sha256(issue.title, issue.body) or await trusts(issue.author):
            return ReviewSubject(issue.title, issue.body, evidence, text_key(issue))
    if ours:
        return ReviewSubject(pull_request.title, pull_request.body, evidence)
    return ReviewSubject(f"Pull request #{pull_request.number}", NOT_SHOWN, evidence)
