"""The worker's tick: discover, claim, and one step at a time (observe, decide, act)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import structlog
from anyio import to_thread

from shared.errors import Blocked, Misconfigured
from shared.git.failures import PushRefused
from shared.github.errors import NotShown
from shared.github.replica_lag import PATIENCE_SECONDS, PAUSES_SECONDS
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.loop.claims import Claims
from shared.loop.read_cache import ReadCache
from shared.models import Issue
from shared.reconcile.lost import Item, LostLabels
from shared.retry.run_errors import RunEnded
from shared.scheduling.agent_contract import Candidate, Claim, Ended, Result, Skip, Step
from shared.scheduling.order import exclusion_reason
from shared.workflow import Event, Role, Stage
from shared.workflow.labels import Flag
from worker_agent.attempt_history import AttemptHistory
from worker_agent.ci.ci_reader import CiReader
from worker_agent.decide import (
    LEAVES_LABELS,
    SHOWS_LABELS_ITSELF,
    Action,
    NextStep,
    Snapshot,
    decide,
)
from worker_agent.effects import Effects
from worker_agent.errors import Aborted, CiGivenUp
from worker_agent.expected_labels import before, expected_labels, of_pull_request, paused, stop_request
from worker_agent.feedback.reading import Feedback, TrustFilter
from worker_agent.feedback.rounds import Rounds
from worker_agent.intake.candidates import Candidates
from worker_agent.intake.eligibility import Eligibility
from worker_agent.intake.requests import Requests
from worker_agent.intake.trusted_accounts import OtherAccounts, TrustedWriters
from worker_agent.intake.unusable_configuration import is_unbegun
from worker_agent.observe import Observer
from worker_agent.phase_tools import PhaseTools
from worker_agent.policy import Policy
from worker_agent.ports import Forge

if TYPE_CHECKING:
    from worker_agent.actions import Actions


log = structlog.get_logger()

AT_WORK = ("worker_agent.actions", "worker_agent.tdd.runners.registry", "worker_agent.tdd.proof.doubts")
"""Modules loaded only when there is work, beside the event loop: more than a hundred, which takes half a second."""

STAGES = (
    Stage.READY,
    Stage.IMPLEMENTING,
    Stage.TESTING,
    Stage.CHANGES_REQUESTED,
    Stage.REVIEWING,
    Stage.IN_REVIEW,
    Stage.APPROVED,
    Stage.CI_FAILED,
    Stage.FAILED,
)
"""Labels under which the worker finds work, and sees whose pull request is still open."""


def stages(policy: Policy) -> tuple[Stage, ...]:
    """Return `STAGES` for one repository; with `refactor: approve`, refactorings wait under a label of their own."""
    return (*STAGES, Stage.AWAITING_APPROVAL) if policy.code.refactor == "approve" else STAGES


class Worker:
    """Specification issue -> tests -> code -> pull request -> green CI; review feedback -> fixes."""

    role = Role.WORKER

    def __init__(self, forge: Forge, claims: Claims, tools: PhaseTools, policy: Policy) -> None:
        self._forge = forge
        self.repository, self.holding = policy.repository, claims.holding
        self._claims = claims
        port, claimant = claims.port, claims.claimant
        self._tools = tools
        self._policy = policy
        self._lost_labels = LostLabels(forge.issues, forge.labels, policy.names, claimant.accounts, before)
        mirror, history = tools.phase_commits.mirror, tools.phase_commits.history
        self._effects = Effects(forge, policy, AttemptHistory(mirror, tools.phase_commits.keys), history)
        self._ci_reader = CiReader(forge.checks, mirror, policy, port.boot)
        writers = TrustedWriters(forge.people, claimant.accounts, claimant.other_accounts)
        self._observer = Observer(forge, history, self._ci_reader, writers, policy)
        siblings = OtherAccounts(port.request, claimant.other_accounts, claimant.keys)
        self._read_cache: ReadCache[Issue] = ReadCache(port.boot)
        trust_filter = TrustFilter(writers, policy.intake.bots)
        feedback = Feedback(forge.reviews, forge.comments, trust_filter, claimant.accounts, claimant.keys)
        requests = Requests(forge.issues, history, siblings, writers, feedback, policy.names)
        self._eligibility = Eligibility(forge, writers, siblings, requests, self._ci_reader, policy)
        self._candidates = Candidates(policy, self._eligibility.times_freed)
        self._rounds = Rounds(feedback, forge, tools.phase_commits, policy.bounds.rounds)

    async def discover(self) -> Sequence[Candidate]:
        """Return issues with a worker's stage, pull requests that ask for changes, issues without a pull request."""
        known = await self._forge.inbox.look()
        await self._ci_reader.begin()
        await self._eligibility.look(known)
        await self._tools.tidy(self._claims.numbers)
        return self._candidates.of(known, self._forge.inbox.orphans.values())

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        """Read lock, issue and pull request; return the item's claim if there is work to do and it is free."""
        view = await self._claims.look(candidate.number)
        if isinstance(view, Skip):
            self._eligibility.taken(candidate.number)
            return view
        issue = await self._forge.issues.issue(candidate.number)
        self._read_cache.keep(candidate.number, issue)
        return await self._claims.prepare(view, await self._eligibility.intent(candidate, issue, view.fence))

    @asynccontextmanager
    async def hold(self, lease: Lease) -> AsyncIterator[Held]:
        """Hold the lease during the block; at its end, forget the sessions that the item does not need any more."""
        held: Held | None = None
        try:
            async with self._claims.hold(lease) as held:
                yield held
        finally:
            if held is not None:
                self._tools.ended(held)

    async def step(self, held: Held) -> Step:
        """Observe, make the labels follow the fence, decide, act."""
        seen = await self._observer.look(held, self._just_read(held))
        self._forge.status.seen(seen.issue)
        order = await self._stop_order(held, seen)
        if order and seen.issue.open:
            return await self._obey(held, order)
        await self._check_end(held, seen)
        action = decide(seen, now=held.server_now())
        await self._effects.post_missing_status(held, action, seen.pull_request)
        if action not in LEAVES_LABELS:
            if action not in SHOWS_LABELS_ITSELF:
                seen = replace(seen, issue=await self._effects.show_labels(held, seen.issue, seen.pull_request))
                order = self._order(seen.issue, held)  # the reply to a label is newer than any reading
                if order and seen.issue.open:
                    return await self._obey(held, order)
            if barred := exclusion_reason(seen.issue.labels, self._policy.intake.exclude):
                return Ended(Result.PARKED, barred)
        log.info("step", action=str(action), stage=str(held.fence.stage), phase=held.fence.phase)
        role = self._policy.runs.passed_on(action)
        if role:
            return await self._effects.pass_on(held, role)
        return await self._act(action, held, seen)

    def _just_read(self, held: Held) -> Issue | None:
        """Return the issue as the claim read it, for a fresh start only; None if it must be read again."""
        issue = self._read_cache.take(held.fence.key.number)
        return issue if held.fence.phase == NextStep.RED else None

    async def _stop_order(self, held: Held, seen: Snapshot) -> str | None:
        """Return the person's order to stop that the labels show; None if there is none."""
        order = self._order(await self._restore_label(seen.issue, held), held)
        if order or seen.pull_request is None or not held.fence.round:
            return order
        return await self._order_on_pull_request(held, seen.pull_request)

    async def _check_end(self, held: Held, seen: Snapshot) -> None:
        """Raise `NotShown` if a merge may have closed the issue: the pull request may be shown as it was before.

        Its thread and the list of open items show the merge, unless they are as old.
        """
        pull_request, closed_at = seen.pull_request, seen.issue.closed_at
        if seen.issue.open or closed_at is None or pull_request is None or not pull_request.open:
            return
        if (held.server_now() - closed_at).total_seconds() >= PATIENCE_SECONDS:
            return
        number = pull_request.number
        if self._forge.inbox.version(number) is None or not (await self._forge.issues.issue(number)).open:
            raise NotShown(f"the end of #{number}", PAUSES_SECONDS[0])

    async def _obey(self, held: Held, order: str) -> Ended:
        await self.stop(held, order)
        return Ended(Result.WITHDRAWN, order)

    async def _act(self, action: Action, held: Held, seen: Snapshot) -> Step:
        """Carry out one step; if the configuration lets nothing begin, let the issue wait and begin no other one."""
        begins = action is Action.WRITE_TESTS and is_unbegun(held)
        try:
            if "_actions" not in vars(self):
                await to_thread.run_sync(lambda: [import_module(name) for name in AT_WORK])
            step = await self._actions.act(action, held, seen)
        except PushRefused as refused:
            self._forge.refused_branches.note(held.fence.key.number, refused)
            raise
        except Misconfigured as error:
            if not begins or not is_unbegun(held):
                raise
            self._forge.unusable.begin(held.fence.key.number, str(error))
            return await self._effects.hold_off(held, error)
        if begins:
            self._forge.unusable.end()
        if held.fence.stage is Stage.TESTING:  # which a fence reaches together with its branch
            self._forge.refused_branches.end()
        return step

    @cached_property
    def _actions(self) -> Actions:
        from worker_agent.actions import Actions  # an idle worker does without

        return Actions(self._forge, self._tools, self._effects, self._observer, self._rounds, self._policy)

    async def revoked(self, number: int) -> str | None:
        """Return the reason why a held item must stop: closed, locked, paused, or its stage label moved or removed.

        In a round of changes, the labels of the pull request count as well.
        """
        known, held = self._forge.inbox.known, self._claims.held(number)
        reason = await self._claims.revoked(number, known.get(number), self._read, self._order)
        if reason or held is None or not held.fence.round or held.fence.pr not in known:
            return reason
        return await self._order_on_pull_request(held, await self._forge.issues.issue(held.fence.pr))

    async def _read(self, held: Held) -> Issue:
        """Return the issue, with its stage label put back if the label vanished without a person's order."""
        return await self._restore_label(await self._forge.issues.issue(held.fence.key.number), held)

    async def _restore_label(self, issue: Issue, held: Held) -> Issue:
        return await self._lost_labels.restored(issue, expected_labels(held.fence).issue, held.server_now())

    async def _order_on_pull_request(self, held: Held, item: Item) -> str | None:
        """Return the order to stop that the pull request's labels show, which count as well in a round of changes."""
        recorded = of_pull_request(held.fence, self._policy.names.read(item.labels).stages)
        item = await self._lost_labels.restored(item, recorded, held.server_now())
        return stop_request(item, recorded, self._policy.names) if item.open else None

    def _order(self, issue: Issue, held: Held) -> str | None:
        return stop_request(issue, expected_labels(held.fence).issue, self._policy.names)

    async def stop(self, held: Held, reason: str) -> None:
        """Stop the work by a person's order, noticed between or during steps.

        Raises `NotShown` if it may be a merge instead.
        """
        self._observer.forget(held)
        snapshot = await self._observer.look(held)
        await self._check_end(held, snapshot)
        if decide(snapshot, now=held.server_now()) is Action.FINISH:
            await self._effects.finish(held, snapshot)
        elif paused(self._policy.names, snapshot.issue, snapshot.pull_request):
            await self._effects.pause(held)
        else:
            await self._effects.withdraw(held, snapshot, reason)

    async def wait(self, held: Held, sentence: str) -> None:
        """Post until when the item waits, and why."""
        await self._effects.wait_for(held, sentence)

    async def fail(self, held: Held, error: Blocked) -> None:
        """Hand the item to a person, with the flags and the stage that fit the error."""
        flags = error.flags if isinstance(error, Aborted | RunEnded) else (Flag.MANUAL_INTERVENTION,)
        event = Event.CI_GIVEN_UP if isinstance(error, CiGivenUp) else Event.GAVE_UP
        await self._tools.keep_last(held, error)
        await self._effects.give_up(held, error, flags, event=event)
