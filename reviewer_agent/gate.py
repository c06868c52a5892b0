"""Whether a pull request is taken up: free, ours by label and fence, worth a claim, asked for by trusted people."""

from __future__ import annotations

from datetime import datetime

from reviewer_agent.admission import STAGES, intent, reopening
from reviewer_agent.decide import IDLE, STOPPED, UNANNOUNCED, Hindrance, decide, hindrance
from reviewer_agent.demand import Demand
from reviewer_agent.observe import Observer
from reviewer_agent.policy import Policy
from shared.items import UNTIL_NEWS, Skip
from shared.lock.claim import Intent
from shared.lock.claimant import Claimant
from shared.lock.view import View
from shared.models import Issue, PullRequest
from shared.order import excluded
from shared.reconcile.lost import QUIET
from shared.workflow import Flag, Stage


class Gate:
    """Looks before a claim, because every claim is a comment in somebody's thread."""

    def __init__(self, claimant: Claimant, demand: Demand, observer: Observer, policy: Policy) -> None:
        self._claimant = claimant
        self._demand = demand
        self._observer = observer
        self._policy = policy

    def wanted(self, issue: Issue) -> bool:
        """Whether a listed item may be work for the reviewer."""
        return self.admits(issue) and bool(self._policy.names.read(issue.labels).stages & STAGES)

    def admits(self, issue: Issue) -> bool:
        """Whether nothing but its stage can keep the reviewer away from an item."""
        labels = {label.casefold() for label in issue.labels}
        if not issue.is_pull_request or issue.locked or labels & {label.casefold() for label in self._policy.exclude}:
            return False
        return Flag.PAUSED not in self._policy.names.read(issue.labels).flags

    async def wish(self, view: View, pull_request: PullRequest, changed: datetime) -> Intent | Skip:
        """What to claim the viewed pull request for, or why not; lists say that it was `changed` last then."""
        terms = self._claimant.terms
        barred = excluded(pull_request.labels, self._policy.exclude)  # the list may be older than this reading
        wish = barred or intent(pull_request, view.fence, self._policy.names)
        if isinstance(wish, str):
            return Skip(wish, terms.timeout)
        asked = await self._asked(wish, pull_request, view)
        if asked is None:
            reviewing = self._policy.names.of(Stage.REVIEWING)
            why = f"nobody with write access has asked for a review of this commit: set '{reviewing}'"
            # Every way of asking changes the pull request, but the list that says who asked shows it later.
            return Skip(why, QUIET.total_seconds() if view.at - changed < QUIET else UNTIL_NEWS)
        return await self._stopped(pull_request, view) or await self._nothing_to_do(asked, view) or asked

    async def _stopped(self, pull_request: PullRequest, view: View) -> Skip | None:
        """A review that was put off because of its issue: whether that is still so costs a reading, not an ACK."""
        wait = view.fence.wait if view.fence is not None and pull_request.open else None
        if wait is None or wait.reason != STOPPED or not await self._observer.stopped(pull_request):
            return None
        return Skip(str(Hindrance.STOPPED), self._claimant.terms.heartbeat)

    async def _nothing_to_do(self, wish: Intent, view: View) -> Skip | None:
        """An approved pull request is claimed only when something can be done about it: an ACK is noise."""
        fence = view.fence
        if fence is None or wish.stage is not Stage.APPROVED:
            return None
        seen = await self._observer.look(fence)
        lagging = self._policy.names.read(seen.pull_request.labels).stages != {Stage.APPROVED}
        if lagging or decide(seen, now=view.at) not in IDLE:
            return None
        reason, terms = hindrance(seen), self._claimant.terms
        return Skip(f"approved; {reason}", terms.heartbeat if reason in UNANNOUNCED else terms.timeout)

    async def _asked(self, wish: Intent, pull_request: PullRequest, view: View) -> Intent | None:
        """A review costs money: one that would begin, or go on with other commits, has to be asked for."""
        fence = view.fence
        if fence is None or wish.work_head is not None:
            return wish if await self._demand.first(pull_request, fence) else None
        if not pull_request.open or wish.stage not in STAGES or pull_request.head_sha == fence.work_head:
            return wish
        return reopening(pull_request, fence) if await self._demand.again(pull_request, fence) else None
