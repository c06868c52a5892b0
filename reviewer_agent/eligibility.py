"""Eligibility of a pull request: free, ours by label and fence, worth a claim, asked for by trusted people."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from reviewer_agent.candidates import STAGES, find_intent, reopening
from reviewer_agent.comments import HEAD_MOVED
from reviewer_agent.decide import IDLE, Action, decide
from reviewer_agent.merge.blockers import PASSING, TOLD_ANEW, UNANNOUNCED, WAITS, Blocker, WaitReason
from reviewer_agent.merge.merge_decision import first_blocker
from reviewer_agent.merge.queue_exit import QueueEntry
from reviewer_agent.observe import Observer
from reviewer_agent.policy import Policy
from reviewer_agent.review_request import ReviewRequest
from reviewer_agent.snapshot import Snapshot
from shared.lock.claim import Intent
from shared.lock.claimant import Claimant
from shared.lock.fence import Fence
from shared.lock.view import LockView
from shared.models import Issue, PullRequest
from shared.reconcile.lost import QUIET
from shared.scheduling.agent_contract import UNTIL_NEWS, Skip
from shared.scheduling.order import exclusion_reason
from shared.workflow import Stage
from shared.workflow.labels import Flag

TURN_SECONDS = 60.0
"""Seconds between two checks for a turn: the one before may be merged at any moment, and all others wait for it."""


class Eligibility:
    """The checks before a claim, because every claim is a comment in somebody's thread."""

    def __init__(self, claimant: Claimant, demand: ReviewRequest, observer: Observer, policy: Policy) -> None:
        self._claimant = claimant
        self._demand = demand
        self._observer = observer
        self._policy = policy

    def is_candidate(self, issue: Issue) -> bool:
        """Return whether a listed item may be work for the reviewer."""
        return self.admits(issue) and bool(self._policy.names.read(issue.labels).stages & STAGES)

    def admits(self, issue: Issue) -> bool:
        """Return whether the reviewer may work on an item at a suitable stage: a pull request that is not barred."""
        barred = exclusion_reason(issue.labels, self._policy.exclude)
        if not issue.is_pull_request or issue.locked or issue.draft or barred:
            return False
        return Flag.PAUSED not in self._policy.names.read(issue.labels).flags

    async def intent(self, view: LockView, pull_request: PullRequest, changed: datetime) -> Intent | Skip:
        """Return what to claim the viewed pull request for, or why not; by lists it was last `changed` then."""
        terms = self._claimant.times
        barred = exclusion_reason(pull_request.labels, self._policy.exclude)  # the list may be older than this reading
        if pull_request.open and pull_request.draft:  # its author says that it is not finished, whatever the label
            return Skip("it is a draft: its author marks it as ready for review", UNTIL_NEWS)
        intent = barred or find_intent(pull_request, view.fence, self._policy.names)
        if isinstance(intent, str):
            return Skip(intent, terms.timeout)
        asked = await self._trusted_intent(intent, pull_request, view)
        if asked is None:
            return await self._report_unasked(intent, pull_request, view, changed)
        return await self._put_off(pull_request, view) or await self._something_to_do(_without_wait(asked, view), view)

    async def _report_unasked(
        self, intent: Intent, pull_request: PullRequest, view: LockView, changed: datetime
    ) -> Intent | Skip:
        """Return a claim that only reports commits that nobody asked to review, else the reason to skip them.

        It is reported once, and only for a push to this repository, not to a fork.
        """
        reviewing = self._policy.names.of(Stage.REVIEWING)
        reason = f"nobody with write access has asked for a review of this commit: set '{reviewing}'"
        if view.at - changed < QUIET:  # however it is asked for, that changes it; lists of who asked lag behind
            return Skip(reason, QUIET.total_seconds())
        told = await self._to_tell(intent, pull_request, view.fence) if pull_request.from_own_branch else None
        head = told and (told.work_head or (view.fence and view.fence.work_head))
        if told is not None and head and not await self._observer.has_told(pull_request.number, head, HEAD_MOVED):
            return told
        return Skip(reason, UNTIL_NEWS)

    async def _to_tell(self, intent: Intent, pull_request: PullRequest, fence: Fence | None) -> Intent | None:
        """Return the claim that only reports: of a review under way, or of a hand-over by our worker that is outdated.

        A wait in the fence is ignored, because it concerns another commit.
        """
        # Where it is not, our label would be set, and would then ask for the very review that nobody has asked for.
        labelled = Stage.REVIEWING in self._policy.names.read(pull_request.labels).stages
        if fence is not None:
            lets_go = intent.work_head is None and (labelled or fence.stage is not Stage.REVIEWING)
            return replace(intent, attempt=fence.attempt) if lets_go else None
        handed = await self._demand.of_worker(pull_request) if labelled else None
        if handed is None or handed.stage is not Stage.REVIEWING or handed.work_head == pull_request.head_sha:
            return None
        return replace(intent, stage=Stage.REVIEWING, work_head=handed.work_head)

    async def _put_off(self, pull_request: PullRequest, view: LockView) -> Skip | None:
        """Return a skip while a review stays put off: to find that out costs a read here, not an ACK."""
        fence = view.fence
        reason = WAITS.get(fence.wait.reason) if fence is not None and fence.wait and pull_request.open else None
        if fence is None or reason is None:
            return None
        if reason is not Blocker.CHECKS_RED:
            still = await self._observer.held_up(pull_request)
        else:  # of another head than the fence's, which is a repair, these checks say nothing
            same = pull_request.head_sha == fence.work_head
            still = reason if same and await self._observer.is_red(fence, pull_request) else None
        if still is not reason:  # gone, or something else by now, which a claim tells
            return None
        return Skip(str(still), self._claimant.times.heartbeat)

    async def _something_to_do(self, intent: Intent, view: LockView) -> Intent | Skip:
        """Return `intent` if something can be done about an approved pull request, else a skip: an ACK is noise."""
        fence = view.fence
        if fence is None or intent.stage is not Stage.APPROVED:
            return intent
        snapshot = await self._observer.look(fence)
        intent = replace(intent, approved_by=snapshot.ordered_by)  # the new epoch says who has ordered the merge
        waiting = fence.wait.reason if fence.wait is not None else ""
        action = decide(snapshot, now=view.at)
        if (action, waiting) in {(Action.COOL, WaitReason.COOLING), (Action.ENQUEUE, WaitReason.QUEUED)}:
            return intent  # which waits until then, as the fence says
        if (action, waiting) == (Action.ENQUEUE, WaitReason.OUT_OF_QUEUE):
            unmoved = not snapshot.called_back and QueueEntry.of(fence).base == snapshot.base_tip
            return intent if unmoved else replace(intent, attempt=fence.attempt)
        if waiting in {WaitReason.COOLING, WaitReason.QUEUED, WaitReason.OUT_OF_QUEUE, WaitReason.REFUSED}:
            intent = replace(intent, attempt=fence.attempt)  # something came up before that time
        if self._policy.names.read(snapshot.pull_request.labels).stages != {Stage.APPROVED} or action not in IDLE:
            return intent
        return await self._nothing_to_do(snapshot) or intent

    async def _nothing_to_do(self, snapshot: Snapshot) -> Skip | None:
        """Return a skip with the reason; None if people have not been told yet, because that is worth a claim."""
        reason, terms = first_blocker(snapshot), self._claimant.times
        if reason not in PASSING and (reason is Blocker.BASE_RED) is not _told_of_red_base(snapshot.fence):
            return None
        if reason in TOLD_ANEW and not await self._has_told(snapshot, reason):
            return None
        seconds = terms.heartbeat if reason in UNANNOUNCED else terms.timeout
        return Skip(f"approved; {reason}", min(seconds, TURN_SECONDS) if reason is Blocker.TURN else seconds)

    async def _has_told(self, snapshot: Snapshot, reason: Blocker) -> bool:
        number, head, why = snapshot.fence.key.number, snapshot.fence.work_head, reason.name.casefold()
        # Of any other reason what is named says nothing, and whose turn it is changes often.
        named = snapshot.missing if reason in {Blocker.CHECKS_AWAITED, Blocker.REQUIRED} else None
        named = snapshot.remarked_by if reason is Blocker.REMARKED else named
        return await self._observer.has_told(number, head, why, named)

    async def _trusted_intent(self, intent: Intent, pull_request: PullRequest, view: LockView) -> Intent | None:
        """Return the claim, or None if nobody asks: a review that begins, or takes up other commits, costs money."""
        fence = view.fence
        if fence is None or intent.work_head is not None:
            return intent if await self._demand.first(pull_request, fence) else None
        if not pull_request.open or intent.stage not in STAGES or pull_request.head_sha == fence.work_head:
            return intent
        return reopening(pull_request, fence) if await self._demand.again(pull_request, fence) else None


def _without_wait(intent: Intent, view: LockView) -> Intent:
    """Return `intent`, without further waiting if what the fence waits for has just been seen to be gone."""
    fence = view.fence
    gone = fence is not None and fence.wait is not None and fence.wait.reason in WAITS
    return replace(intent, attempt=fence.attempt) if fence is not None and gone and intent.attempt is None else intent


def _told_of_red_base(fence: Fence) -> bool:
    """Return whether the fence, and with it the status comment, reminds people that the base branch is red."""
    return fence.wait is not None and fence.wait.reason == WaitReason.RED_BASE
