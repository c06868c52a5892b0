"""The work that a request for changes begins, by the account that set its label: remarks, an edited text, or CI."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from shared.ci.ci_round import BASE_MOVED, SENT_BACK
from shared.github.errors import NotShown
from shared.github.ports import Issues
from shared.github.replica_lag import PAUSES_SECONDS
from shared.lock.claim import Intent
from shared.lock.fence import Fence
from shared.models import Issue, LabelEvent, PullRequest
from shared.specification import body_sha256
from shared.workflow import Stage
from shared.workflow.labels import Labels
from worker_agent.branch.history import History
from worker_agent.decide import Head, NextStep
from worker_agent.feedback.reading import Feedback
from worker_agent.intake.trusted_accounts import OtherAccounts, TrustedWriters

AT_ONCE = timedelta(minutes=2)
"""The most time between the reviewer's fence move and its own label, if nothing delays it."""


_NOBODYS = {SENT_BACK: NextStep.CI, BASE_MOVED: NextStep.BASE}
"""The worker's phase for the reviewer's reasons to give a pull request back without requested changes."""


class Requests:
    """Tells a person's request from the reviewer's own; an intent that is no request stays as it is."""

    def __init__(
        self,
        issues: Issues,
        history: History,
        other_accounts: OtherAccounts,
        writers: TrustedWriters,
        feedback: Feedback,
        names: Labels,
    ) -> None:
        self._issues = issues
        self._history = history
        self._other_accounts = other_accounts
        self._writers = writers
        self._feedback = feedback
        self._label = names.of(Stage.CHANGES_REQUESTED).casefold()

    async def refined(
        self, intent: Intent, issue: Issue, pull_request: PullRequest | None, fence: Fence | None
    ) -> Intent:
        """Return `intent` refined for work that was handed over. Raises `Transient`.

        A person's label, which the eligibility check verifies, approves the issue's text as it is.
        """
        asks = intent.phase in {NextStep.FEEDBACK, NextStep.ROUNDS}
        if not asks or pull_request is None or fence is None or fence.stage is not Stage.REVIEWING:
            return intent
        requested = await self._other_accounts.requested(pull_request.number)
        if await self._by_person(pull_request.number, fence, requested):
            return await self._on_head(_on_text(intent, issue, fence), pull_request, fence)
        if requested is None:
            return intent
        if requested.phase not in _NOBODYS:
            # The reviewer counts its own rounds, and a command may have given it more: what it asks for is worked on.
            return replace(intent, phase=NextStep.FEEDBACK, round=fence.round + 1)
        if requested.work_head != pull_request.head_sha:
            return intent
        if intent.phase == NextStep.FEEDBACK and (await self._feedback.read(pull_request.number)).items:
            return intent
        # Nobody has asked for a change, so it is no round: the bounds of CI hold, over all of these together.
        return replace(intent, phase=_NOBODYS[requested.phase], round=max(fence.round, 1))

    async def _on_head(self, intent: Intent, pull_request: PullRequest, fence: Fence) -> Intent:
        """Return `intent` on the present head if that was rewritten: the person who asks has seen it, or did it."""
        head = pull_request.head_sha
        if head == fence.work_head or await self._history.relation(fence, head) is not Head.FOREIGN:
            return intent
        return replace(intent, work_head=head)

    async def _by_person(self, number: int, fence: Fence, requested: Fence | None) -> bool:
        """Return whether a person set the label; people may share our account, but the reviewer moves its fence first.

        A reviewer with a token of its own looks like a person; its label comes right after that move.
        """
        newest = await self._newest(number)
        if newest is None:
            return False
        if requested is not None:
            return not self._writers.is_engine(newest.actor) and newest.at - requested.at > AT_ONCE
        return newest.at >= fence.at or not self._writers.is_engine(newest.actor)

    async def _newest(self, number: int) -> LabelEvent | None:
        """Return the event that set the present label; raise `NotShown` if the events show it taken off last."""
        events = [one for one in await self._issues.label_events(number) if one.label.casefold() == self._label]
        if events and not events[-1].added:
            raise NotShown(f"who set '{events[-1].label}' on #{number}", PAUSES_SECONDS[0])
        return events[-1] if events else None


def _on_text(intent: Intent, issue: Issue, fence: Fence) -> Intent:
    """Return `intent` bound to the issue's text, if the work was bound to another one."""
    text = body_sha256(issue.title, issue.body)
    if fence.body_sha256 in {"", text}:
        return intent
    return replace(intent, phase=NextStep.TEXT if intent.phase == NextStep.FEEDBACK else intent.phase, body_sha256=text)
