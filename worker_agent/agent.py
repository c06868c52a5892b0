"""The worker's tick: discover, claim, and one step at a time (observe, decide, act)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import assert_never

import structlog

from shared.claims import Claims
from shared.errors import Blocked
from shared.governance.endings import RunEnded
from shared.items import Candidate, Ended, Rest, Result, Skip, Step
from shared.lock.claim import Lease
from shared.lock.claimant import Claimant
from shared.lock.hold import Held
from shared.lock.port import Port
from shared.models import Issue
from shared.reconcile.lost import Item, LostLabels
from shared.sightings import Sightings
from shared.workflow import Event, Flag, Role, Stage
from worker_agent import dossier
from worker_agent.aborts import Aborted, BranchTaken, CiGivenUp, RoundsUsedUp, SpecificationEdited
from worker_agent.candidates import Candidates
from worker_agent.decide import NO_LABELS, Action, Phase, Snapshot, decide, of_pull_request, projection
from worker_agent.feedback import Feedback
from worker_agent.gate import Gate
from worker_agent.handover import Handover
from worker_agent.observe import Observer
from worker_agent.orders import order, paused
from worker_agent.parts import passed_on, refusal
from worker_agent.policy import Policy
from worker_agent.ports import Forge
from worker_agent.repairs import Repairs
from worker_agent.tdd.cycle import Cycle
from worker_agent.workshop import Workshop
from worker_agent.writers import Writers

log = structlog.get_logger()

STAGES = (
    Stage.READY,
    Stage.IMPLEMENTING,
    Stage.TESTING,
    Stage.CHANGES_REQUESTED,
    Stage.REVIEWING,
    Stage.IN_REVIEW,
    Stage.APPROVED,
)
"""Labels under which the worker finds work, and sees whose pull request is still open."""


class Worker:
    """Specification issue -> tests -> code -> pull request -> green CI; review feedback -> fixes."""

    role = Role.WORKER

    def __init__(self, forge: Forge, port: Port, claimant: Claimant, workshop: Workshop, policy: Policy) -> None:
        self._forge = forge
        self._claims = Claims(Role.WORKER, port, claimant)
        self._workshop = workshop
        self._policy = policy
        self._candidates = Candidates(policy, claimant.agent)
        self._lost = LostLabels(forge.issues, forge.labels, policy.names)
        self._handover = Handover(forge, policy)
        self._observer = Observer(forge, workshop.worksite, policy)
        self._cycle = Cycle(workshop, forge.status)
        writers = Writers(forge.people, claimant.accounts)
        self._sightings: Sightings[Issue] = Sightings(port.boot)
        self._gate = Gate(forge, writers, policy, claimant.keys, self._sightings)
        self._repairs = Repairs(workshop, forge.checks, Feedback(forge.reviews, writers, claimant.keys))

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        return self._policy.repository

    async def discover(self) -> Sequence[Candidate]:
        """Issues with a worker's stage, pull requests that ask for changes, issues whose pull request is gone."""
        known = await self._forge.inbox.look()
        await self._workshop.worksite.tidy(self._claims.numbers)
        return self._candidates.of(known, self._forge.inbox.orphans.values())

    async def claim(self, candidate: Candidate) -> Lease | Skip:
        """Look at lock, issue and pull request; claim when there is something to do and it is free."""
        view = await self._claims.look(candidate.number)
        if isinstance(view, Skip):
            return view
        wish = await self._gate.intent(candidate, view.fence)
        left = "" if isinstance(wish, str) else refusal(wish, view.fence, self._policy)
        return await self._claims.claim(view, left or wish)

    def hold(self, lease: Lease) -> AbstractAsyncContextManager[Held]:
        """The lease as a block."""
        return self._claims.hold(lease)

    async def revoked(self, number: int) -> str | None:
        """Closed, locked, paused, or a stage label that a person moved or removed; on the pull request too."""
        known, held = self._forge.inbox.known, self._claims.held(number)
        reason = await self._claims.revoked(number, known.get(number), self._read, self._order)
        if reason or held is None or not held.fence.round or held.fence.pr not in known:
            return reason
        return await self._said_on_pull_request(held, await self._forge.issues.issue(held.fence.pr))

    async def _read(self, number: int) -> Issue:
        """An issue, with the stage label that it lost without anybody's order."""
        issue, held = await self._forge.issues.issue(number), self._claims.held(number)
        return issue if held is None else await self._restored(issue, held)

    async def _restored(self, issue: Issue, held: Held) -> Issue:
        return await self._lost.restored(issue, projection(held.fence).issue, held.server_now())

    async def _said(self, held: Held, seen: Snapshot) -> str | None:
        """Which order of a person the labels show."""
        said = self._order(await self._restored(seen.issue, held), held)
        if said or seen.pull_request is None or not held.fence.round:
            return said
        return await self._said_on_pull_request(held, seen.pull_request)

    async def _said_on_pull_request(self, held: Held, item: Item) -> str | None:
        """In a round of changes the pull request moves, so a person's word on it counts as well."""
        recorded = of_pull_request(held.fence, self._policy.names.read(item.labels).stages)
        item = await self._lost.restored(item, recorded, held.server_now())
        return order(item, recorded, self._policy.names) if item.open else None

    def _order(self, issue: Issue, held: Held) -> str | None:
        return order(issue, projection(held.fence).issue, self._policy.names)

    async def step(self, held: Held) -> Step:
        """Observe, let the labels follow the fence, decide, act."""
        seen = await self._observer.look(held, self._just_read(held))
        said = await self._said(held, seen)
        if said and seen.issue.open:
            return await self._obey(held, said)
        action = decide(seen, now=held.server_now())
        await self._handover.tell(held, action, seen.pull_request)
        if action not in NO_LABELS:
            seen = replace(seen, issue=await self._handover.show(held, seen.issue, seen.pull_request))
            said = self._order(seen.issue, held)  # the reply to a label is newer than any reading
            if said and seen.issue.open:
                return await self._obey(held, said)
        log.info("step", action=str(action), stage=str(held.fence.stage), phase=held.fence.phase)
        role = passed_on(action, self._policy)
        if role:
            return await self._handover.pass_on(held, role)
        return await self._act(action, held, seen)

    async def _obey(self, held: Held, said: str) -> Ended:
        await self.stop(held, said)
        return Ended(Result.WITHDRAWN, said)

    def _just_read(self, held: Held) -> Issue | None:
        """The issue as the claim has read it: what a fresh start begins with can still be stopped."""
        issue = self._sightings.take(held.fence.key.number)
        return issue if held.fence.phase == Phase.RED else None

    async def _act(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        match action:
            case Action.WRITE_TESTS | Action.IMPLEMENT | Action.FIX_CI | Action.ADDRESS_REVIEW:
                await self._build(action, held, snapshot)
            case Action.OPEN_PULL_REQUEST:
                await self._open_pull_request(held, snapshot)
                return Rest("ci")  # its checks have only just been asked for
            case Action.WAIT_FOR_CI:
                return Rest("ci")
            case Action.REPAIR:
                await self._handover.repair(held, snapshot)
            case Action.HAND_OVER | Action.HAND_OVER_UNCHECKED:
                return await self._handover.hand_over(held, snapshot, checked=action is Action.HAND_OVER)
            case Action.FINISH:
                return await self._handover.finish(held, snapshot)
            case Action.WITHDRAW:
                return await self._handover.leave(held, snapshot)
            case Action.SHOW_HALT:
                return Ended(Result.FAILED, f"halted at {held.fence.stage}")
            case (
                Action.GIVE_UP_ON_ATTEMPTS
                | Action.GIVE_UP_ON_CI
                | Action.GIVE_UP_ON_ROUNDS
                | Action.ASK_ABOUT_HEAD
                | Action.ASK_ABOUT_EDIT
            ):
                raise self._reason(action, held, snapshot)
            case _:
                assert_never(action)
        return None

    async def _build(self, action: Action, held: Held, snapshot: Snapshot) -> None:
        """The steps that pay a coder."""
        if action is Action.WRITE_TESTS:
            await self._handover.assign(held)
            if await self._cycle.write_tests(held, snapshot.issue):
                problematic = self._policy.names.of(Flag.PROBLEMATIC_TEST)
                await self._forge.labels.add(held.fence.key.number, [problematic], held)
        elif action is Action.IMPLEMENT:
            await self._cycle.implement(held, snapshot.issue, snapshot.bounds.attempts)
            self._handover.note_built(held)
        elif action is Action.FIX_CI:
            await self._repairs.fix_ci(held, snapshot.issue, snapshot.ci_fixes)
        else:
            await self._repairs.address_review(held, snapshot.issue)

    def _reason(self, action: Action, held: Held, snapshot: Snapshot) -> Blocked:
        bounds = snapshot.bounds
        if action is Action.GIVE_UP_ON_ATTEMPTS:
            return self._cycle.attempts_used_up(held, bounds.attempts)
        if action is Action.GIVE_UP_ON_CI:
            return CiGivenUp(bounds.ci_fixes)
        if action is Action.GIVE_UP_ON_ROUNDS:
            return RoundsUsedUp(bounds.rounds)
        return BranchTaken() if action is Action.ASK_ABOUT_HEAD else self._edited(snapshot)

    def _edited(self, snapshot: Snapshot) -> Blocked:
        pull_request, names = snapshot.pull_request, self._policy.names
        if pull_request is None:
            return SpecificationEdited(names.of(Stage.READY))
        return SpecificationEdited(f"{names.of(Stage.CHANGES_REQUESTED)} on #{pull_request.number}")

    async def _open_pull_request(self, held: Held, snapshot: Snapshot) -> None:
        body = await dossier.pull_request_body(self._workshop, held, snapshot.issue)
        opened = await self._handover.open_pull_request(held, snapshot, body)
        self._observer.expect(held, snapshot.issue, opened)

    async def stop(self, held: Held, reason: str) -> None:
        """A person's order, noticed between or during steps."""
        self._observer.forget(held.fence.key.number)
        snapshot = await self._observer.look(held)
        if decide(snapshot, now=held.server_now()) is Action.FINISH:
            await self._handover.finish(held, snapshot)
        elif paused(self._policy.names, snapshot.issue, snapshot.pull_request):
            await self._handover.pause(held)
        else:
            await self._handover.withdraw(held, snapshot, reason)

    async def wait(self, held: Held, sentence: str) -> None:
        """Say in the thread until when it waits, and why."""
        await self._handover.wait_for(held, sentence)

    async def fail(self, held: Held, error: Blocked) -> None:
        """Hand the item to a person, with the flags and the stage that fit the error."""
        flags = error.flags if isinstance(error, Aborted | RunEnded) else (Flag.MANUAL_INTERVENTION,)
        event = Event.CI_GIVEN_UP if isinstance(error, CiGivenUp) else Event.GAVE_UP
        await self._workshop.keep_last(held, error)
        await self._handover.give_up(held, error, flags, event=event)
