"""Whether a pull request is taken up: free, ours by label and fence, worth a claim, asked for by trusted people."""

from __future__ import annotations

from reviewer_agent.admission import STAGES, intent
from reviewer_agent.decide import IDLE, UNANNOUNCED, decide, hindrance
from reviewer_agent.observe import Observer
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge
from shared.items import Skip
from shared.lock.claim import Intent
from shared.lock.claimant import Claimant
from shared.lock.view import View
from shared.models import Issue, PullRequest
from shared.workflow import Flag, Stage


class Gate:
    """Looks before a claim, because every claim is a comment in somebody's thread."""

    def __init__(self, forge: Forge, claimant: Claimant, observer: Observer, policy: Policy) -> None:
        self._forge = forge
        self._claimant = claimant
        self._observer = observer
        self._policy = policy

    def wanted(self, issue: Issue) -> bool:
        """Whether a listed item may be work for the reviewer."""
        labels = {label.casefold() for label in issue.labels}
        if not issue.is_pull_request or issue.locked or labels & {label.casefold() for label in self._policy.exclude}:
            return False
        read = self._policy.names.read(issue.labels)
        return bool(read.stages & STAGES) and Flag.PAUSED not in read.flags

    async def wish(self, view: View) -> Intent | Skip:
        """What to claim the viewed pull request for, or why not."""
        terms = self._claimant.terms
        pull_request = await self._forge.pulls.pull_request(view.key.number)
        wish = intent(pull_request, view.fence, self._policy.names)
        if isinstance(wish, str):
            return Skip(wish, terms.timeout)
        skip = await self._nothing_to_do(wish, pull_request, view) or await self._refusal(wish, pull_request, view)
        return skip or wish

    async def _nothing_to_do(self, wish: Intent, pull_request: PullRequest, view: View) -> Skip | None:
        """An approved pull request is claimed only when something can be done about it: an ACK is noise."""
        fence = view.fence
        if fence is None or wish.stage is not Stage.APPROVED:
            return None
        seen = await self._observer.look(fence)
        lagging = self._policy.names.read(pull_request.labels).stages != {Stage.APPROVED}
        if lagging or decide(seen, now=view.at) not in IDLE:
            return None
        reason, terms = hindrance(seen), self._claimant.terms
        return Skip(f"approved; {reason}", terms.heartbeat if reason in UNANNOUNCED else terms.timeout)

    async def _refusal(self, wish: Intent, pull_request: PullRequest, view: View) -> Skip | None:
        """A new review costs money: the label that asks for it was set by somebody with write access."""
        if view.fence is not None and (wish.stage is view.fence.stage or wish.stage is not Stage.IN_REVIEW):
            return None
        names = self._policy.names
        stage = Stage.REVIEWING if Stage.REVIEWING in names.read(pull_request.labels).stages else Stage.IN_REVIEW
        events = await self._forge.issues.label_events(pull_request.number)
        label = names.of(stage).casefold()
        newest = next((e for e in reversed(events) if e.added and e.label.casefold() == label), None)
        if newest is not None and newest.actor.id in self._claimant.accounts:
            return None
        if newest is None or not (await self._forge.people.permission(newest.actor.login)).may_write:
            return Skip("the label was not set by somebody with write access", self._claimant.terms.timeout)
        return None
