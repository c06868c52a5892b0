"""The reviewer's duty: claim the pull request, one paid run, merge what was reviewed, end the worker's fence."""

from __future__ import annotations

from typing import Any

from shared.lock.port import RefUpdate
from shared.workflow import TERMINAL, Role, Stage

from .agent import Agent
from .rules import ISSUE, WORK_BRANCH, stages_of


class Reviewer:
    """A reviewer's work on the issue's pull request."""

    role = Role.REVIEWER

    def __init__(self, agent_lock: Any) -> None:
        self._lock = agent_lock
        self._number = 0

    async def wish(self, agent: Agent) -> tuple[Any, Any] | None:
        """The view and the intent; the pull request is looked for until there is one."""
        if not self._number:
            found = await agent.forge.pulls_of(WORK_BRANCH)
            if not found:
                return None
            self._number = found[0].number
        sweeps = agent.process.kernel.now >= agent.sweep_at
        seen = await agent.forge.item(self._number)
        if not sweeps and (Stage.REVIEWING not in stages_of(seen.labels) or agent.process.boot() < agent.skip_until):
            return None
        key = agent.lock.ItemKey(Role.REVIEWER, ISSUE if agent.fate.world.special.one_thread else self._number)
        if sweeps and await agent.sweep(key) is None:
            return None
        view = await agent.look(key)
        done = view.fence is not None and view.fence.stage is Stage.DONE
        if done or agent.lock.other_holder(view, agent.claimant):
            agent.skip(agent.process.boot())
            return None
        stage = view.fence.stage if view.fence is not None else Stage.IN_REVIEW
        return view, agent.lock.Intent(stage, attempt=0, pr=self._number)

    async def ordered(self, agent: Agent, held: Any) -> bool:
        """Nobody orders a reviewer to stop here."""
        return False

    async def stop(self, agent: Agent, held: Any) -> None:
        """Nothing to end."""

    async def step(self, agent: Agent, held: Any) -> bool:
        """Read, approve, merge, end the worker's fence."""
        if held.fence.stage is Stage.IN_REVIEW:
            await agent.tell(held, "It is read.")
            await agent.paid(held, agent.plan.review)
            agent.effect(held, "verdict")
            head = await agent.forge.tip(WORK_BRANCH)
            await agent.lock.advance(held, agent.lock.FenceChange(stage=Stage.APPROVED, work_head=head or ""))
            return False
        if held.fence.stage is Stage.APPROVED:
            agent.effect(held, "merge")
            if not await agent.forge.merge(self._number, held.fence.work_head, ISSUE):
                found = [pull for pull in await agent.forge.pulls_of(WORK_BRANCH) if pull.merged]
                if not found:
                    await agent.lock.advance(held, agent.lock.FenceChange(stage=Stage.IN_REVIEW))
                    return False
            await agent.tell(held, "It is merged.", Stage.DONE)
            if not await self._end_together(agent, held):
                await self._tidy(agent, held)
                await agent.lock.advance(held, agent.lock.FenceChange(stage=Stage.DONE))
            return False
        return True

    async def _end_together(self, agent: Agent, held: Any) -> bool:
        """Move both fences and the branch in one push, as `reviewer_agent.merge.merging`; all of it, or nothing."""
        fence, gone = await self._left(agent)
        resting = fence if fence is not None and _is_at_rest(fence) else None
        updates = gone if fence is resting else ()
        end_item = agent.lock.end_item
        assert end_item is not None, "only reviewers of the present format are simulated"
        ended = bool(await end_item(held, resting, updates))
        agent.fate.journal.counts["both ended in one push"] += ended and resting is not None
        return ended

    async def _tidy(self, agent: Agent, held: Any) -> None:
        """End them one by one: the branch goes with the fence of its issue, or stays."""
        fence, gone = await self._left(agent)
        if fence is None or not _is_at_rest(fence):
            return
        buried = await agent.lock.end_resting_fence(held, fence.key, fence.stage, gone)
        if not buried and gone and fence.stage not in TERMINAL:
            await agent.lock.end_resting_fence(held, fence.key, fence.stage)

    async def _left(self, agent: Agent) -> tuple[Any, tuple[RefUpdate, ...]]:
        """Return the worker's fence of the issue, and the removal of its branch."""
        key = agent.lock.ItemKey(Role.WORKER, ISSUE)
        found = await agent.fences.read(key.ref)
        tip = await agent.forge.tip(WORK_BRANCH)
        gone = (RefUpdate(WORK_BRANCH, tip, ""),) if tip and agent.plan.deletes_branch else ()
        return (None if found is None else agent.lock.read_fence(key, *found)), gone


def _is_at_rest(fence: Any) -> bool:
    return fence.stage is Stage.REVIEWING or fence.stage in TERMINAL
