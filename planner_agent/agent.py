"""The planner's tick: discover, claim, and one step at a time (observe, decide, act)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import assert_never

import structlog

from planner_agent import comments, plan_comment
from planner_agent.decide import STAGES, Action, Phase, Snapshot, before, decide, stop_request
from planner_agent.drafting import Drafting
from planner_agent.effects import CONFIGURATION, Closing, Effects
from planner_agent.eligibility import Eligibility
from planner_agent.observe import Listener, Observer, PostedPlan, posted
from planner_agent.plan import Plan
from planner_agent.policy import Policy
from planner_agent.ports import Forge
from planner_agent.specifications import Specifications
from shared.errors import Blocked
from shared.git.ports import Mirror
from shared.github.at_most_once import raise_if_in_flight
from shared.llm.port import Coder
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.loop.claims import Claims
from shared.loop.read_cache import ReadCache
from shared.models import Issue
from shared.newest import Newest
from shared.reconcile.lost import LostLabels
from shared.retry.run_errors import RunEnded
from shared.retry.run_limit import begin_run
from shared.scheduling.agent_contract import Candidate, Claim, Ended, Result, Skip, Step
from shared.scheduling.order import exclusion_reason, urgency
from shared.workflow import UNLABELLED, Event, Role, Stage
from shared.workflow.labels import Flag, folded

log = structlog.get_logger()

_PART_OF = re.compile(r"\bpart of:?[ \t]+#(\d{1,9})\b", re.IGNORECASE)


class RoundsUsedUp(Blocked):
    """The plan was sent back too often."""

    def __init__(self, rounds: int) -> None:
        super().__init__(f"The plan was sent back {rounds} times: the story itself has to say more clearly what it is.")


class PlanChanged(Blocked):
    """The comment with the plan was edited or deleted, so nothing can be created from it."""


@dataclass(frozen=True, slots=True)
class _Labelled:
    """The mark of a story whose labels follow the fence from now on: their removal is an order."""


@dataclass(frozen=True, slots=True)
class _Unposted:
    """A plan that was made of an attempt's story, and is not posted yet."""

    made_from: tuple[int, str]
    plan: Plan


class Planner:
    """The planner: from a story to a plan, its approval and specification issues; the last one closes the story."""

    role = Role.PLANNER

    def __init__(self, forge: Forge, claims: Claims, source: Mirror, coder: Coder, policy: Policy) -> None:
        self._forge = forge
        self.repository, self.holding = policy.repository, claims.holding
        self.claims = claims
        claimant = claims.claimant
        self._policy = policy
        self._lost_labels = LostLabels(forge.issues, forge.labels, policy.names, claimant.accounts, before)
        self._listener = Listener(forge, claimant, policy)
        specifications = Specifications(forge, claimant.keys, policy)
        self._eligibility = Eligibility(forge, self._listener, specifications, policy)
        self._observer = Observer(forge, self._listener, specifications, policy)
        self._drafting = Drafting(forge.issues, self._listener, source, coder, policy)
        self._effects = Effects(forge, specifications, policy)
        self._read_cache: ReadCache[Issue] = ReadCache(claims.port.boot)
        self._seen_open: Newest[int, list[int]] = Newest()

    async def discover(self) -> Sequence[Candidate]:
        """Return stories that are new or at a planner's stage; or the chosen one, whatever lists and filters say."""
        only = self._policy.only
        if only is not None:
            return (Candidate(only, (await self._forge.issues.issue(only)).updated_at.isoformat()),)
        known = await self._forge.inbox.look()
        stories = [issue for issue in known.values() if self._is_wanted(issue) and not self._is_unfinished(issue)]
        orphans = self._forge.inbox.orphans
        stories += [story for number, story in orphans.items() if number not in known and self._is_wanted(story)]
        queue = sorted((urgency(story, self._policy.priorities), story) for story in stories)
        return tuple(Candidate(story.number, self._version(story), rank) for (rank, *_), story in queue)

    def _is_wanted(self, issue: Issue) -> bool:
        if issue.is_pull_request:
            return False
        labels, include = folded(issue.labels), folded(self._policy.include)
        if exclusion_reason(labels, self._policy.exclude) or (include and not labels & include):
            return False
        read = self._policy.names.read(issue.labels)
        return read.story and (not read.stages or bool(read.stages & STAGES)) and Flag.PAUSED not in read.flags

    def _is_unfinished(self, story: Issue) -> bool:
        """Return whether it is specified and lists still show one of its specifications as open: nothing to do yet."""
        if self._policy.names.read(story.labels).stages != {Stage.SPECIFIED}:
            return False
        ours = (issue for issue in self._forge.inbox.known.values() if issue.author == self._policy.account)
        named = ((issue.number, _PART_OF.search(issue.body)) for issue in ours)
        seen = [number for number, found in named if found and int(found[1]) == story.number]
        if seen:
            self._seen_open[story.number] = sorted(seen)
        return bool(seen)

    def _version(self, story: Issue) -> str:
        """Return what has to change before the next look at a story; for a specified one, what of it was open last."""
        if self._policy.names.read(story.labels).stages != {Stage.SPECIFIED}:
            return f"{story.updated_at.isoformat()} {story.comments}"  # a second may hold our change and an answer
        return f"was open: {self._seen_open.get(story.number, [])}"

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        """Read the lock and the story; return its claim if there is something to do and it is free."""
        view = await self.claims.look(candidate.number)
        if isinstance(view, Skip):
            return view
        issue = await self._forge.issues.issue(candidate.number)
        self._read_cache.keep(issue.number, issue)
        return await self.claims.prepare(view, await self._eligibility.intent(issue, view.fence))

    def hold(self, lease: Lease) -> AbstractAsyncContextManager[Held]:
        """Hold the lease as a block."""
        return self.claims.hold(lease)

    async def revoked(self, number: int) -> str | None:
        """Return why to stop: closed, locked, paused, no story, or a stage label that a person moved or removed."""
        held = self.claims.held(number)
        if held is None or held.memory.get(_Labelled) is None or held.memory.get(Closing) is not None:
            return None
        listed = self._forge.inbox.known.get(number)
        return await self.claims.revoked(number, listed, self._read, self._order)

    async def _read(self, held: Held) -> Issue:
        """Return the story, with the stage label that it lost without anybody's order."""
        return await self._restore_label(await self._forge.issues.issue(held.fence.key.number), held)

    async def _restore_label(self, issue: Issue, held: Held) -> Issue:
        begins = held.fence.stage is Stage.PLANNING and held.memory.get(_Labelled) is None
        recorded = None if begins or held.fence.stage in UNLABELLED else held.fence.stage
        return await self._lost_labels.restored(issue, recorded, held.server_now())

    def _order(self, issue: Issue, held: Held) -> str | None:
        labelled, unasked = held.memory.get(_Labelled) is not None, self._policy.preapproved_plan is not None
        return stop_request(issue, held.fence, self._policy.names, labelled=labelled, unasked=unasked)

    async def step(self, held: Held) -> Step:
        """Observe, let the labels follow the fence, decide, act."""
        snapshot = await self._observer.look(held, self._just_read(held))
        order = self._order(await self._restore_label(snapshot.issue, held), held)
        if not order:
            snapshot = await self._effects.show_labels(held, snapshot)
            order = self._order(snapshot.issue, held)  # the reply to a label is newer than any reading
        if order:
            await self.stop(held, order)
            return Ended(Result.WITHDRAWN, order)
        if barred := exclusion_reason(snapshot.issue.labels, self._policy.exclude):
            return Ended(Result.PARKED, barred)
        held.memory.keep(_Labelled())
        action = decide(snapshot)
        log.info("step", action=str(action), stage=str(held.fence.stage), phase=held.fence.phase)
        return await self._act(action, held, snapshot)

    def _just_read(self, held: Held) -> Issue | None:
        """Return the story as the claim has read it, if no newer reading is needed; else None.

        A draft can still be stopped, and closing looks at each specification.
        """
        issue = self._read_cache.take(held.fence.key.number)
        return issue if held.fence.phase == Phase.DRAFT or held.fence.stage is Stage.SPECIFIED else None

    async def _act(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        match action:
            case Action.DRAFT:
                await self._draft(held, snapshot)
            case Action.ASK | Action.SUBMIT:
                event = Event.QUESTIONS_ASKED if action is Action.ASK else Event.PLAN_POSTED
                await self._effects.submit(held, snapshot, event)
            case Action.APPROVE_AS_CONFIGURED | Action.APPROVE:
                await self._effects.approve(held, CONFIGURATION if snapshot.order is None else str(snapshot.order))
            case Action.REDRAFT:
                await self._effects.send_back(held, snapshot)
            case Action.CREATE:
                return await self._effects.create(held, snapshot)
            case Action.CLOSE:
                return await self._effects.finish(held, snapshot)
            case Action.WAIT | Action.HAND_OVER | Action.SHOW_HALT:
                return self._end(action, held)
            case Action.GIVE_UP_ON_ROUNDS | Action.GIVE_UP_ON_PLAN:
                raise RoundsUsedUp(snapshot.rounds) if action is Action.GIVE_UP_ON_ROUNDS else PlanChanged
            case _:
                assert_never(action)
        return None

    async def _draft(self, held: Held, snapshot: Snapshot) -> None:
        name = plan_comment.creation_name(held.fence.attempt, snapshot.story)
        raise_if_in_flight(held, name)  # before anything is paid for
        plan = await self._plan(held, snapshot)
        held.memory.keep(PostedPlan(await self._effects.post(held, snapshot, plan)))
        held.memory.take(_Unposted)

    async def _plan(self, held: Held, snapshot: Snapshot) -> Plan:
        """Return the plan of this text; kept until posted or the lease ends, so that a failed post costs nothing."""
        made_from = (held.fence.attempt, snapshot.story)
        kept = held.memory.get(_Unposted)
        if kept is not None and kept.made_from == made_from:
            return kept.plan
        heard = await self._listener.hear(snapshot.issue.number, own_plan=posted(held))
        await begin_run(held)
        plan = await self._drafting.draft(snapshot.issue, heard, held.fence)
        return held.memory.keep(_Unposted(made_from, plan)).plan

    def _end(self, action: Action, held: Held) -> Ended:
        number = held.fence.key.number
        if action is Action.WAIT:
            return Ended(Result.PARKED, f"the plan of #{number} waits for a person")
        if action is Action.HAND_OVER:
            return Ended(Result.HANDED_OVER, f"#{number} is specified")
        return Ended(Result.FAILED, f"halted at {held.fence.stage}")

    async def stop(self, held: Held, reason: str) -> None:
        """Stop by a person's order, which was noticed between or during steps."""
        snapshot = await self._observer.look(held)
        if Flag.PAUSED in self._policy.names.read(snapshot.issue.labels).flags:
            await self._effects.show(held, comments.paused(held.fence))  # it goes on when the flag is removed
        else:
            await self._effects.withdraw(held, reason)

    async def wait(self, held: Held, sentence: str) -> None:
        """Post in the thread until when it waits, and why."""
        await self._effects.show(held, comments.waiting(held.fence, sentence))

    async def fail(self, held: Held, error: Blocked) -> None:
        """Hand the story to a person, with the flags that fit the error."""
        flagged = error.flags if isinstance(error, RunEnded) else (Flag.MANUAL_INTERVENTION,)
        await self._effects.give_up(held, error, flagged)
