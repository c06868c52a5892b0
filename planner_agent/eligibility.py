"""Conditions of a claim of a story: a trusted label, a person's decision, closed specifications."""

from __future__ import annotations

from typing import assert_never

from planner_agent import comments
from planner_agent.decide import UNBEGUN, Phase, Wish, lags, triggers, wish
from planner_agent.observe import Listener
from planner_agent.policy import Policy
from planner_agent.ports import Forge
from planner_agent.specifications import Specifications
from shared.commands.one_time_replies import UnexplainedLabels, untrusted_label
from shared.lock.claim import Intent
from shared.lock.fence import Fence
from shared.lock.write_permit import Notice
from shared.models import Issue, LabelEvent
from shared.newest import Newest
from shared.scheduling.order import assigned, exclusion_reason
from shared.specification import body_sha256
from shared.workflow import HALTED, TERMINAL, Stage


class Eligibility:
    """The checks before a claim. A refusal costs no comment and no paid call."""

    def __init__(self, forge: Forge, listener: Listener, specifications: Specifications, policy: Policy) -> None:
        self._forge = forge
        self._listener = listener
        self._specifications = specifications
        self._policy = policy
        self._answered: Newest[int, None] = Newest()
        self._unexplained = UnexplainedLabels(forge.replies)

    async def intent(self, issue: Issue, fence: Fence | None) -> Intent | str:
        """Return what a claim of this story would begin, or the reason why it is not claimed."""
        if fence is not None and fence.phase in UNBEGUN:
            fence = None
        barred = exclusion_reason(issue.labels, self._policy.exclude)  # the list may be older than this reading
        left = barred or self._assignment(issue, fence)
        wanted = left or wish(issue, fence, self._policy.names, unasked=self._policy.preapproved_plan is not None)
        if isinstance(wanted, str):
            return wanted
        if fence is None:
            return await self._begin(issue, None)
        match wanted:
            case Wish.BEGIN | Wish.RESTART:
                return await self._restart(issue, fence)
            case Wish.RESUME:
                return Intent(fence.stage, fence.phase)
            case Wish.RESUME_UNLABELLED:
                return await self._resume(issue, fence)
            case Wish.DECIDE:
                heard = await self._listener.hear(issue.number)
                order = await self._listener.order(heard, fence.attempt)
                return Intent(fence.stage, fence.phase) if order else "waits for a person's decision"
            case Wish.CLOSE:
                closed = await self._specifications.closed(issue, fence)
                return Intent(fence.stage, fence.phase) if closed else "a specification is still open"
            case _:
                assert_never(wanted)

    def _assignment(self, issue: Issue, fence: Fence | None) -> str:
        """Return why it is left to a person, unless a person named it at a terminal. A begun one goes on."""
        begun = fence is not None and fence.stage not in TERMINAL
        if begun or self._policy.take_assigned or self._policy.only is not None:
            return ""
        return assigned(issue, lambda one: one == self._policy.account)

    async def _begin(self, issue: Issue, fence: Fence | None) -> Intent | str:
        """Return the intent to begin, if the newest label that asks for a plan counts; else the reason why not.

        It has to be younger than the fence, and set by somebody with write access.
        """
        opened = fence is None and issue.untouched and await self._listener.may_write(issue.author.login)
        refused = "" if opened else await self._distrust(issue, fence)
        if refused:
            return refused
        revision = (await self._listener.hear(issue.number)).revision
        return Intent(
            Stage.PLANNING,
            Phase.DRAFT,
            attempt=max(revision, fence.attempt if fence else 0) + 1,
            round=0,
            body_sha256=body_sha256(issue.title, issue.body),
        )

    async def _distrust(self, issue: Issue, fence: Fence | None) -> str:
        """Return why the newest label that asks for a plan does not count; at a terminal a person asks without one."""
        if self._policy.preapproved_plan is not None:
            return ""
        asking = triggers(issue, self._policy.names)
        event = await self._newest_event(issue, *asking)
        if event is None and fence is None:
            await self._unexplained.look(issue, asking)
        if event is None or not event.added or (fence is not None and event.at <= fence.at):
            return f"{fence.stage if fence else 'not begun'}: nobody has set a label that asks for a plan"
        if not await self._listener.may_write(event.actor.login):
            if issue.number not in self._answered:
                await self._forge.replies.once(issue.number, *untrusted_label(event.label, event.actor.login))
                self._answered[issue.number] = None
            return f"'{event.label}' was not set by somebody with write access"
        return await self._doubt(issue, event)

    async def _doubt(self, issue: Issue, asked: LabelEvent) -> str:
        """Return why the text may not be the one that was asked for; posted once. Who may write may also edit."""
        if self._forge.texts.stood(issue, asked.at) or issue.author == self._policy.account:
            return ""
        if await self._listener.may_write(issue.author.login):
            return ""
        told = comments.doubtful(asked.label, issue.author.login)
        await self._forge.status.show(issue.number, told, Notice(issue.number, "wording"))
        return told.sentence

    async def _restart(self, issue: Issue, fence: Fence) -> Intent | str:
        """Begin anew if a person asks for that; else let a claim finish labels that lag behind the fence."""
        begun = await self._begin(issue, fence)
        if isinstance(begun, str) and (lags(issue, fence, self._policy.names) or await self._is_bare(issue, fence)):
            return Intent(fence.stage, fence.phase)
        return begun

    async def _is_bare(self, issue: Issue, fence: Fence) -> bool:
        """Return whether it was given up before its first label, and a crash came before that was shown."""
        if fence.stage not in HALTED or self._policy.names.read(issue.labels).stages:
            return False
        shown = (fence.stage, Stage.PLANNING, Stage.AWAITING_APPROVAL)
        newest = await self._newest_event(issue, *(self._policy.names.of(stage) for stage in shown))
        return newest is None or newest.at < fence.at

    async def _resume(self, issue: Issue, fence: Fence) -> Intent | str:
        """Resume a story without a stage label, unless a person removed it: a crash came first, or it was lost."""
        newest = await self._newest_event(issue, self._policy.names.of(fence.stage))
        never = newest is None or (not newest.added and newest.at < fence.at)
        if never and fence.stage is Stage.PLANNING:
            return Intent(fence.stage, fence.phase)
        if self._policy.preapproved_plan is not None:
            return await self._begin(issue, fence)  # a person at our terminal has just agreed on another plan
        if newest is None or not newest.added:
            return "a person removed the stage label"
        return Intent(fence.stage, fence.phase)

    async def _newest_event(self, issue: Issue, *labels: str) -> LabelEvent | None:
        wanted = {label.casefold() for label in labels}
        events = await self._forge.issues.label_events(issue.number) if wanted else ()
        return next((event for event in reversed(events) if event.label.casefold() in wanted), None)
