"""The planner's view: a story's thread, who said what with which rights, and a held story as one snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from planner_agent import conversation
from planner_agent.conversation import Conversation, PlanCommand
from planner_agent.decide import Phase, Snapshot
from planner_agent.policy import Approval, Policy, PreapprovedPlan
from planner_agent.ports import Forge
from planner_agent.specifications import Specifications
from shared.commands.command import Verb
from shared.github.errors import NotShown
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.lock.claimant import Claimant
from shared.lock.hold import Held
from shared.models import Comment, Issue
from shared.workflow import Stage

NEWS = timedelta(seconds=30)
"""Age of a posted plan up to which it cannot have been answered: what the thread said before it is known."""

ASK_AGAIN_SECONDS = 2.0
"""Seconds until a plan that was accepted and is not shown is asked for again."""

TALKING = frozenset({Stage.PLANNING, Stage.AWAITING_APPROVAL})
"""Stages in which the thread decides."""


@dataclass(frozen=True, slots=True)
class PostedPlan:
    """A plan that this lease has posted: it was paid for, and must not be missed."""

    comment: Comment


def posted(held: Held) -> Comment | None:
    """Return the plan that was posted in this lease; None if there is none."""
    plan = held.memory.get(PostedPlan)
    return None if plan is None else plan.comment


class Listener:
    """Reader of threads that tells whose words count."""

    def __init__(self, forge: Forge, claimant: Claimant, policy: Policy) -> None:
        self._forge = forge
        self._claimant = claimant
        self._policy = policy

    async def hear(
        self, number: int, *, own_plan: Comment | None = None, after: Comment | None = None, anew: bool = False
    ) -> Conversation:
        """Return the conversation on story `number`, with the plan `own_plan` of a lease even if a stale read lacks it.

        A reading of the last 30 seconds, or one of any age that shows the comment `after`, is used again, unless
        `anew`.
        """
        comments, witness = self._forge.comments, after.id if after else 0
        read = await comments.thread(number) if anew else await comments.recent_thread(number, witness=witness)
        thread = {one.id: one for one in read}
        if own_plan is not None:
            thread.setdefault(own_plan.id, own_plan)
        ordered = [thread[id] for id in sorted(thread)]
        return conversation.of(ordered, number, self._claimant.accounts, self._claimant.keys)

    async def order(self, thread: Conversation, revision: int) -> PlanCommand | None:
        """Return the last decision on plan `revision`: at our terminal, else by somebody with write access.

        Where plans are approved at a terminal, no comment approves one.
        """
        if self._policy.preapproved_plan is not None:
            return _preapproved_order(self._policy.preapproved_plan, thread, revision)
        for order in thread.orders(revision):
            if order.verb is Verb.APPROVE and self._policy.approval is Approval.TERMINAL:
                continue
            if await self.may_write(order.login):
                return order
        return None

    async def trusted(self, comments: Iterable[Comment]) -> tuple[Comment, ...]:
        """Return the comments of people with write access."""
        return tuple([one for one in comments if await self.may_write(one.author.login)])

    async def may_write(self, login: str) -> bool:
        """Return whether a person's words count, by their permission as it is now."""
        return (await self._forge.people.permission(login)).may_write


def _preapproved_order(plan: PreapprovedPlan, thread: Conversation, revision: int) -> PlanCommand | None:
    """Return the decision at a terminal as one on the plan in the thread: approve it, or replace it by another."""
    current = thread.current(revision)
    if current is None:
        return None
    same = current.sha == plan.sha and current.story == plan.story
    return PlanCommand(0, plan.login, Verb.APPROVE if same else Verb.EDIT)


class Observer:
    """The view of a held story."""

    def __init__(self, forge: Forge, listener: Listener, specifications: Specifications, policy: Policy) -> None:
        self._forge = forge
        self._listener = listener
        self._specifications = specifications
        self._policy = policy

    async def look(self, held: Held, seen: Issue | None = None) -> Snapshot:
        """Return the story as it is now; raises `Transient` or `Gone`. `seen` is what was read of it just now."""
        fence = held.fence
        issue = seen or await self._forge.issues.issue(fence.key.number)
        snapshot = Snapshot(fence, issue, auto=self._policy.auto, rounds=self._policy.rounds)
        if fence.stage is Stage.SPECIFIED:
            return replace(snapshot, closed=await self._specifications.closed(issue, fence))
        if fence.stage not in TALKING:
            return snapshot
        heard = await self._listener.hear(issue.number, own_plan=posted(held), after=_new_plan(held))
        if fence.phase == Phase.CREATE and heard.current(fence.attempt) is None:
            heard = await self._hear_accepted(held)
        order = await self._listener.order(heard, fence.attempt)
        return replace(snapshot, posted=heard.current(fence.attempt), order=order)

    async def _hear_accepted(self, held: Held) -> Conversation:
        """Return the thread, read again because it lacked the plan that was accepted: a replica may be behind.

        Raises `NotShown` while the epoch or the acceptance is young; what is missing after that was deleted.
        """
        heard = await self._listener.hear(held.fence.key.number, own_plan=posted(held), anew=True)
        is_young = (held.server_now() - held.fence.at).total_seconds() < PATIENCE_SECONDS
        if heard.current(held.fence.attempt) is None and is_young:
            raise NotShown("the plan that was accepted", ASK_AGAIN_SECONDS)
        return heard


def _new_plan(held: Held) -> Comment | None:
    """Return the plan that this lease has just posted, while nobody is asked about it; else None."""
    plan = posted(held)
    if plan is None or held.fence.stage is not Stage.PLANNING:
        return None
    return plan if held.server_now() - plan.created_at < NEWS else None
