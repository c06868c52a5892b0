"""The worker's tick: discover, claim, and one step at a time (observe, decide, act)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import assert_never

import structlog

from shared.claims import Claims
from shared.errors import Blocked, Gone
from shared.governance.endings import RunEnded
from shared.items import Candidate, Ended, Rest, Result, Skip, Step
from shared.lock.claim import Intent, Lease
from shared.lock.claimant import Claimant
from shared.lock.hold import Held
from shared.lock.port import Port
from shared.lock.view import View
from shared.models import Issue, PullRequest
from shared.order import ordered
from shared.specification import read
from shared.workflow import Event, Flag, Role, Stage
from worker_agent import dossier, links
from worker_agent.aborts import Aborted, BranchTaken, CiGivenUp
from worker_agent.decide import WORKING, Action, Snapshot, decide, intent, ordered_to_stop, projection
from worker_agent.handover import Handover
from worker_agent.observe import Observer
from worker_agent.policy import Policy
from worker_agent.ports import Forge
from worker_agent.repairs import Repairs
from worker_agent.tdd.cycle import Cycle
from worker_agent.workshop import Workshop

log = structlog.get_logger()

STAGES = (Stage.READY, Stage.IMPLEMENTING, Stage.TESTING, Stage.CHANGES_REQUESTED)
"""Labels under which the worker finds work."""


class Worker:
    """Specification issue -> tests -> code -> pull request -> green CI; review feedback -> fixes."""

    role = Role.WORKER

    def __init__(self, forge: Forge, port: Port, claimant: Claimant, workshop: Workshop, policy: Policy) -> None:
        self._forge = forge
        self._agent = claimant.agent
        self._claims = Claims(Role.WORKER, port, claimant)
        self._workshop = workshop
        self._policy = policy
        self._handover = Handover(forge, policy)
        self._observer = Observer(forge, workshop.worksite, policy)
        self._cycle = Cycle(workshop, forge.status)
        self._repairs = Repairs(workshop, forge)

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        return self._policy.repository

    async def discover(self) -> Sequence[Candidate]:
        """Issues with a worker's stage, and pull requests of ours that ask for changes."""
        known = await self._forge.inbox.look()
        found: dict[int, Candidate] = {}
        issues = [issue for issue in known.values() if self._wanted(issue)]
        policy = self._policy
        for item in ordered(issues, agent=self._agent, priorities=policy.priorities, slots=policy.slots):
            number = links.issue_named_by(item.body) if item.is_pull_request else item.number
            if number is not None:
                found.setdefault(number, Candidate(number, _version(item, known)))
        return tuple(found.values())

    def _wanted(self, issue: Issue) -> bool:
        labels = {label.casefold() for label in issue.labels}
        if labels & {label.casefold() for label in self._policy.exclude}:
            return False
        include = {label.casefold() for label in self._policy.include}
        if include and not issue.is_pull_request and not labels & include:
            return False
        read = self._policy.names.read(issue.labels)
        stages = {Stage.CHANGES_REQUESTED} | WORKING if issue.is_pull_request else {Stage.READY} | WORKING
        return bool(read.stages & stages) and Flag.PAUSED not in read.flags

    async def claim(self, candidate: Candidate) -> Lease | Skip:
        """Look at lock, issue and pull request; claim when there is something to do and it is free."""
        view = await self._claims.look(candidate.number)
        if isinstance(view, Skip):
            return view
        issue = await self._forge.issues.issue(candidate.number)
        wish = intent(issue, await self._pull_request(candidate, view), view.fence, self._policy.names)
        if isinstance(wish, Intent):
            wish = await self._refusal(issue, view) or wish
        return await self._claims.claim(view, wish)

    async def _pull_request(self, candidate: Candidate, view: View) -> PullRequest | None:
        number = view.fence.pr if view.fence else 0
        named = int(candidate.version.partition("@")[0])
        if not number and named != candidate.number:
            number = named
        if not number:
            return None
        found = await self._forge.pulls.pull_request(number)
        return found if links.issue_of(found) == candidate.number else None

    async def _refusal(self, issue: Issue, view: View) -> str:
        """Why a first claim is not allowed: an open blocker, or a label set by somebody without write."""
        if view.fence is not None and view.fence.stage in WORKING:
            return ""
        for blocker in read(issue.body).depends_on:
            if await self._is_open(blocker):
                return f"blocked by #{blocker}"
        if view.fence is not None and view.fence.stage is Stage.REVIEWING:
            return ""
        label = self._policy.names.of(Stage.READY).casefold()
        events = await self._forge.issues.label_events(issue.number)
        newest = next((e for e in reversed(events) if e.added and e.label.casefold() == label), None)
        if newest is None or not (await self._forge.people.permission(newest.actor.login)).may_write:
            return "the label was not set by somebody with write access"
        return ""

    async def _is_open(self, number: int) -> bool:
        try:
            return (await self._forge.issues.issue(number)).open
        except Gone:
            return False

    def hold(self, lease: Lease) -> AbstractAsyncContextManager[Held]:
        """The lease as a block."""
        return self._claims.hold(lease)

    async def revoked(self, number: int) -> str | None:
        """Closed, locked, paused, or a stage label that a person moved or removed."""
        listed = self._forge.inbox.known.get(number)
        return await self._claims.revoked(number, listed, self._forge.issues.issue, self._order)

    def _order(self, issue: Issue, held: Held) -> str | None:
        labels = self._policy.names.read(issue.labels)
        shown = projection(held.fence).issue
        if not issue.open or issue.locked:
            return "the issue was closed or locked"
        if Flag.PAUSED in labels.flags:
            return f"'{self._policy.names.of(Flag.PAUSED)}' was set"
        if shown is not None and ordered_to_stop(labels.stages, shown):
            return "a person moved or removed the stage label"
        return None

    async def step(self, held: Held) -> Step:
        """Observe, let the labels follow the fence, decide, act."""
        snapshot = await self._observer.look(held)
        order = self._order(snapshot.issue, held)
        if order and snapshot.issue.open:
            await self.stop(held, order)
            return Ended(Result.WITHDRAWN, order)
        await self._handover.show(held, snapshot.issue, snapshot.pull_request)
        action = decide(snapshot, now=held.server_now())
        log.info("step", action=str(action), stage=str(held.fence.stage), phase=held.fence.phase)
        return await self._act(action, held, snapshot)

    async def _act(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        match action:
            case Action.WRITE_TESTS | Action.IMPLEMENT | Action.FIX_CI | Action.ADDRESS_REVIEW:
                await self._build(action, held, snapshot)
            case Action.OPEN_PULL_REQUEST:
                await self._open_pull_request(held, snapshot)
            case Action.WAIT_FOR_CI:
                return Rest("ci")
            case Action.REPAIR:
                await self._handover.repair(held, snapshot)
            case Action.HAND_OVER | Action.HAND_OVER_UNCHECKED:
                return await self._handover.hand_over(held, snapshot, checked=action is Action.HAND_OVER)
            case Action.FINISH:
                return await self._handover.finish(held)
            case Action.WITHDRAW:
                return await self._handover.withdraw(held, "the issue or its pull request was closed")
            case Action.SHOW_HALT:
                return Ended(Result.FAILED, f"halted at {held.fence.stage}")
            case Action.GIVE_UP_ON_ATTEMPTS | Action.GIVE_UP_ON_CI | Action.ASK_ABOUT_HEAD:
                raise self._reason(action, held, snapshot)
            case _:
                assert_never(action)
        return None

    async def _build(self, action: Action, held: Held, snapshot: Snapshot) -> None:
        """The steps that pay a coder."""
        if action is Action.WRITE_TESTS:
            await self._handover.assign(held)
            await self._cycle.write_tests(held, snapshot.issue)
        elif action is Action.IMPLEMENT:
            await self._cycle.implement(held, snapshot.issue, snapshot.bounds.attempts)
        elif action is Action.FIX_CI:
            await self._repairs.fix_ci(held, snapshot.issue, snapshot.ci_fixes)
        else:
            await self._repairs.address_review(held, snapshot.issue)

    def _reason(self, action: Action, held: Held, snapshot: Snapshot) -> Blocked:
        if action is Action.GIVE_UP_ON_ATTEMPTS:
            return self._cycle.attempts_used_up(held, snapshot.bounds.attempts)
        return CiGivenUp(snapshot.bounds.ci_fixes) if action is Action.GIVE_UP_ON_CI else BranchTaken()

    async def _open_pull_request(self, held: Held, snapshot: Snapshot) -> None:
        body = await dossier.pull_request_body(self._workshop, held, snapshot.issue)
        await self._handover.open_pull_request(held, snapshot, body)

    async def stop(self, held: Held, reason: str) -> None:
        """A person's order, noticed between or during steps."""
        snapshot = await self._observer.look(held)
        if decide(snapshot, now=held.server_now()) is Action.FINISH:
            await self._handover.finish(held)
        elif Flag.PAUSED in self._policy.names.read(snapshot.issue.labels).flags:
            await self._handover.pause(held)
        else:
            await self._handover.withdraw(held, reason)

    async def fail(self, held: Held, error: Blocked) -> None:
        """Hand the item to a person, with the flags and the stage that fit the error."""
        flags = error.flags if isinstance(error, Aborted | RunEnded) else (Flag.MANUAL_INTERVENTION,)
        event = Event.CI_GIVEN_UP if isinstance(error, CiGivenUp) else Event.GAVE_UP
        await self._handover.give_up(held, error, flags, event=event)


def _version(item: Issue, known: Collection[int]) -> str:
    """What changes when the item does, or when a blocker of it is closed and so no longer known."""
    blockers = [str(number) for number in read(item.body).depends_on if number in known]
    return f"{item.number}@{item.updated_at.isoformat()} {','.join(blockers)}"
