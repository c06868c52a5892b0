"""The worker's duty: claim, label, two paid runs, an atomic push, one pull request, CI, and the hand-over."""

from __future__ import annotations

import hashlib
from typing import Any

from shared.errors import Gone, Transient
from shared.lock.port import RefUpdate
from shared.workflow import Role, Stage

from .agent import Agent
from .kernel import Sleep
from .records import Item
from .rules import (
    ISSUE,
    WORK_BRANCH,
    WORKING,
    Stale,
    asked_again,
    by_person,
    expected_labels,
    halted,
    is_odd,
    last_of_people,
    newest,
    stages_of,
    unfinished,
)

READY = frozenset({Stage.READY})


class Worker:
    """A worker's work on the issue."""

    role = Role.WORKER

    def __init__(self, agent_lock: Any) -> None:
        self.key = agent_lock.ItemKey(Role.WORKER, ISSUE)
        self._intent = agent_lock.Intent

    # Looking for work

    async def wish(self, agent: Agent) -> tuple[Any, Any] | None:
        """Return the view and the intent, when there is something to begin or to go on with."""
        boot = agent.process.boot()
        try:
            seen = await agent.forge.item(ISSUE)
        except Gone:
            return None
        sweeps = agent.process.kernel.now >= agent.sweep_at
        await agent.hear(ISSUE)
        fence = await agent.sweep(self.key) if sweeps else None
        if not seen.open and sweeps:
            await self._bury(agent, fence)
        works = bool(stages_of(seen.labels) & (WORKING | READY))
        if not seen.open or not (works or fence is not None):
            return None
        if not sweeps and boot < agent.skip_until and seen == agent.skipped:
            return None
        view = await agent.look(self.key)
        other = agent.lock.other_holder(view, agent.claimant)
        agent.fate.journal.counts["comment respected where there is no fence"] += bool(other) and view.fence is None
        intent = None if other else await self._wanted(agent, seen, view.fence)
        if intent is None:
            agent.say(f"skips: {other or 'nothing to claim'}")
            agent.skip(boot, seen)
            return None
        return view, intent

    async def _bury(self, agent: Agent, fence: Any) -> None:
        """End the fence of what was merged while this kind held it, after `shared.reconcile.sweep`."""
        if fence is not None and fence.stage is Stage.REVIEWING and _merged(await agent.forge.pulls_of(WORK_BRANCH)):
            buried = await agent.lock.end_unheld_fence(agent.port, agent.claimant, fence, Stage.DONE)
            agent.fate.journal.counts["fence of a merged issue ended"] += buried

    async def _wanted(self, agent: Agent, seen: Item, fence: Any) -> Any:
        """Return the intent of a claim, after `worker_agent.intake.intents`."""
        stages, intent = stages_of(seen.labels), self._intent
        fresh = intent(Stage.IMPLEMENTING, "red", attempt=0, pr=0, work_head="")
        if agent.plan.labels_decide and stages & (WORKING | READY):
            return fresh
        if unfinished(fence):
            agent.fate.journal.counts["orphan repaired"] += not stages & WORKING
            return intent(fence.stage, fence.phase)
        if Stage.READY in stages:
            if not halted(fence):
                return fresh if fence is None else None if stages == READY else intent(fence.stage, fence.phase)
            newest_or_transient(timeline := await agent.forge.timeline(ISSUE), seen)
            return fresh if asked_again(last_of_people(timeline)) else None
        if fence is not None and fence.stage is Stage.REVIEWING and stages != {Stage.REVIEWING}:
            if not stages and by_person(newest_or_transient(await agent.forge.timeline(ISSUE), seen)):
                return None
            return intent(fence.stage, fence.phase)
        return fresh if fence is None and stages & WORKING else None

    # A person's order

    async def ordered(self, agent: Agent, held: Any) -> bool:
        """Return whether the issue was closed, or a person moved the stage label."""
        seen = await agent.forge.item(ISSUE)
        await agent.hear(ISSUE)
        return await self._order(agent, held, seen)

    async def _order(self, agent: Agent, held: Any, seen: Item) -> bool:
        if not seen.open:
            return True
        shown = expected_labels(held.fence).issue
        if shown is None or not is_odd(seen.labels, shown):
            return False
        change = newest_or_transient(await agent.forge.timeline(ISSUE), seen)
        if by_person(change) and not asked_again(change):
            return True
        agent.fate.journal.counts["labels repaired"] += 1
        return False

    async def stop(self, agent: Agent, held: Any) -> None:
        """Record the stop in the fence; the branch stays."""
        if held.fence.stage not in {Stage.WITHDRAWN, Stage.REVIEWING}:
            await agent.lock.advance(held, agent.lock.FenceChange(stage=Stage.WITHDRAWN))

    # Working

    async def step(self, agent: Agent, held: Any) -> bool:
        """One step, after `worker_agent.agent`."""
        try:
            seen = await agent.forge.item(ISSUE)
        except Gone:  # as `shared.reconcile.tombstones.abandon`
            await self.stop(agent, held)
            return True
        if await self._order(agent, held, seen):
            agent.say("withdraws: a person's order")
            await self.stop(agent, held)
            return True
        await agent.tell(held, f"It is {held.fence.stage}, {held.fence.phase}.")
        await self._show(agent, held, seen)
        if held.fence.stage is Stage.IMPLEMENTING:
            await self._build(agent, held)
            return agent.plan.parks
        if held.fence.stage is Stage.TESTING:
            await self._test(agent, held)
            return agent.plan.parks and bool(held.fence.pr)
        return True

    async def _show(self, agent: Agent, held: Any, seen: Item) -> None:
        """Set the labels by the fence: the pull request's first, then the issue's; add, then remove."""
        wanted = expected_labels(held.fence)
        if wanted.pull_request is not None and held.fence.pr:
            await self._label(agent, held, held.fence.pr, wanted.pull_request, await agent.forge.item(held.fence.pr))
        if wanted.issue is not None:
            await self._label(agent, held, ISSUE, wanted.issue, seen)

    async def _label(self, agent: Agent, held: Any, number: int, stage: Stage, seen: Item) -> None:
        labels = seen.labels
        if stage not in labels:
            agent.effect(held, "label")
            labels = await agent.forge.add_label(number, str(stage))
        for label in sorted(labels - {str(stage)}):
            agent.effect(held, "label")
            await agent.forge.remove_label(number, label)

    async def _build(self, agent: Agent, held: Any) -> None:
        """Make a paid run, then its commit with the fence; the branch moves when the tests are green."""
        plan, phase = agent.plan, held.fence.phase
        await agent.paid(held, {"red": plan.red, "green": plan.green}.get(phase, plan.fix))
        agent.effect(held, "commit")
        commit = hashlib.sha1(f"{held.fence.oid}{phase}".encode()).hexdigest()
        if phase == "red":
            change = agent.lock.FenceChange(phase="green", work_head=commit, attempt=held.fence.attempt + 1)
            await agent.lock.advance(held, change)
            return
        moved = RefUpdate(WORK_BRANCH, await agent.forge.tip(WORK_BRANCH), commit)
        agent.effect(held, "push")
        done = "fixed" if phase == "fix" else ""
        change = agent.lock.FenceChange(stage=Stage.TESTING, phase=done, work_head=commit)
        await agent.lock.advance(held, change, updates=(moved,))

    async def _test(self, agent: Agent, held: Any) -> None:
        """Open or adopt the pull request, wait for CI, hand over."""
        plan, fence = agent.plan, held.fence
        if not fence.pr:
            await self._open(agent, held)
            return
        await Sleep(plan.ci)
        agent.effect(held, "verdict")
        if plan.ci_breaks and fence.phase != "fixed":
            await agent.lock.advance(held, agent.lock.FenceChange(stage=Stage.IMPLEMENTING, phase="fix"))
        else:
            await agent.lock.advance(held, agent.lock.FenceChange(stage=Stage.REVIEWING, phase=""))

    async def _open(self, agent: Agent, held: Any) -> None:
        found = [pull for pull in await agent.forge.pulls_of(WORK_BRANCH) if not pull.merged]
        pull = found[0] if found else None
        if pull is None:
            agent.effect(held, "pull request")
            pull = await agent.forge.open_pull(WORK_BRANCH)
        else:
            agent.fate.journal.counts["pull request adopted"] += 1
        if pull is None:
            raise Transient("GitHub says that there is a pull request, and does not show it yet.")
        await agent.lock.advance(held, agent.lock.FenceChange(pr=pull.number))


def _merged(pulls: Any) -> bool:
    return any(pull.merged for pull in pulls)


def newest_or_transient(timeline: Any, seen: Item) -> Any:
    """The newest change of labels; raises `Transient` when the timeline is another moment's."""
    try:
        return newest(timeline, seen.labels)
    except Stale:
        raise Transient("The labels and their timeline do not fit together yet.") from None
