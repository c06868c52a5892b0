"""What the worker does for each action: one line per action; new actions are added here.

Keeps the proof in a pull request's body that of its head: written again after every push of ours. What the worker
does about a red CI that is nobody's fault here: run the jobs again, or wait for the base.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import assert_never

import structlog

from shared.ci.round import Rerun
from shared.errors import Blocked, Transient, UnknownOutcome
from shared.github.ports import StatusComments
from shared.lock.fence import advance
from shared.lock.hold import Held
from shared.lock.record import FenceChange, Wait
from shared.models import Check, Issue
from shared.scheduling.items import Ended, Rest, Result, Step
from shared.workflow import Stage
from shared.workflow.labels import Flag
from worker_agent import change_facts, pull_request_body
from worker_agent.branch.previous_branch import Earlier
from worker_agent.branch.update import BranchUpdate
from worker_agent.ci import ci_comments, reruns
from worker_agent.ci.watch import HOLD_SECONDS
from worker_agent.coding_session import CodingSession
from worker_agent.decide import HANDS_OVER, RED_BASE, Action, Phase, Snapshot
from worker_agent.errors import BranchExists, BranchTaken, CiGivenUp, RoundsUsedUp, SpecificationEdited
from worker_agent.feedback.rounds import Rounds
from worker_agent.handover import Handover
from worker_agent.observe import Observer
from worker_agent.open_pull_request import Opening
from worker_agent.policy import Policy
from worker_agent.ports import Checks, Forge, Pulls
from worker_agent.repairs import Repairs
from worker_agent.tdd.phases.cycle import Cycle
from worker_agent.tdd.phases.quality_fix import QualityFix
from worker_agent.tdd.phases.refactoring import Refactoring
from worker_agent.titles import Try


class CiReactions:
    """Reruns and waits; none of them spends an attempt."""

    def __init__(self, checks: Checks, status: StatusComments) -> None:
        self._checks = checks
        self._status = status

    async def rerun(self, held: Held, seen: Snapshot) -> Rest:
        """Have the failed jobs of this commit be run once more. Recorded first, so that no crash makes it twice.

        A refusal (the token lacks `actions: write`, the run is too old) is recorded and told; the next look goes on
        without those jobs.
        """
        jobs = [finding.failure.check for finding in (seen.ci.diagnosis.findings if seen.ci.diagnosis else ())]
        mark = Rerun.of(jobs)
        await advance(held, FenceChange(phase=str(mark), more=reruns.noted(held.fence)))
        refusals = await self._asked(held, jobs)
        partly = any(job.run_id not in refusals for job in jobs if job.run_id is not None)
        if refusals:
            only = frozenset(refusals) if partly else frozenset[int]()
            await advance(held, FenceChange(phase=str(replace(mark, refused=True, only=only))))
        log.info("ci_rerun", outcome="retrying" if partly else "skipped", checks=[job.name for job in jobs])
        told = ci_comments.rerun(held.fence, seen.ci, next(iter(refusals.values()), ""), partly=partly)
        await self._status.show(held.fence.key.number, told, held)
        return Rest("ci")

    async def _asked(self, held: Held, jobs: Sequence[Check]) -> dict[int, str]:
        """Ask for every workflow run that has failed jobs; returns for each that was refused why."""
        runs = sorted({job.run_id for job in jobs if job.run_id is not None})
        refusals: dict[int, str] = {}
        for run in runs:
            try:
                await self._checks.rerun(run, held)
            except Blocked as error:
                refusals[run] = str(error)
            except UnknownOutcome:
                raise
            except Transient:  # nothing was sent: the next look asks again
                await advance(held, FenceChange(phase=Phase.CI, more=reruns.forgotten(held.fence)))
                raise
        return refusals

    async def hold(self, held: Held, seen: Snapshot) -> Ended:
        """The base fails the same checks: wait for it without the lease, and say so once."""
        first = held.fence.phase != RED_BASE
        until = held.server_now() + timedelta(seconds=HOLD_SECONDS)
        await advance(held, FenceChange(phase=RED_BASE, wait=Wait(RED_BASE, until)))
        if first:
            await self._status.show(held.fence.key.number, ci_comments.base_red(held.fence, seen.ci), held)
        return Ended(Result.PARKED, "the checks of the base branch are red as well")


UPKEPT = frozenset({Action.IMPLEMENT, Action.REFACTOR, Action.FIX_CI, Action.ADDRESS_REVIEW})
"""Steps that are paid for what stands on the branch: other people's commits and the base come first."""


class Actions:
    """Carries out what was decided on a snapshot."""

    def __init__(
        self,
        forge: Forge,
        session: CodingSession,
        handover: Handover,
        observer: Observer,
        rounds: Rounds,
        policy: Policy,
    ) -> None:
        self._forge = forge
        self._session = session
        self._handover = handover
        self._observer = observer
        self._policy = policy
        self._opening = Opening(forge, session.phase_commits.mirror, policy)
        self._earlier = Earlier(session.phase_commits, forge, policy.base)
        self._renewal = BodyUpdates(forge.pulls, session)
        self._upkeep = BranchUpdate(session, forge, policy)
        cleaning = QualityFix(session)
        self._cycle = Cycle(session, forge.status, cleaning=cleaning)
        self._refactoring = Refactoring(session, forge.status, cleaning)
        self._reactions = CiReactions(forge.checks, forge.status)
        self._repairs = Repairs(
            session, forge.checks, rounds, cleaning, may_edit_workflows=policy.code.may_edit_workflows
        )

    async def act(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        """Carry out one action. Raises `Blocked` with the reason for those that give an item to a person."""
        snapshot = await self._retitled(action, held, snapshot)
        match action:
            case (
                Action.WRITE_TESTS
                | Action.IMPLEMENT
                | Action.REFACTOR
                | Action.KEEP_REFACTORING
                | Action.DROP_REFACTORING
                | Action.FIX_CI
                | Action.ADDRESS_REVIEW
                | Action.ANSWER_REVIEW
            ):
                await self._build(action, held, snapshot)
            case Action.OPEN_PULL_REQUEST:
                return await self._open_pull_request(held, snapshot)
            case Action.WAIT_FOR_CI | Action.RERUN_CI | Action.WAIT_FOR_BASE:
                return await self._watch_ci(action, held, snapshot)
            case Action.READ_CI | Action.UPDATE:
                await self._to_ci(action, held, snapshot)
            case Action.REPAIR | Action.TAKE_UP_EDIT:
                await self._move_on(action, held, snapshot)
            case Action.ADOPT | Action.SYNC:
                return await self._upkeep.tend(held, snapshot)
            case Action.HAND_OVER | Action.HAND_OVER_UNCHECKED:
                return await self._handover.hand_over(held, snapshot, checked=action is Action.HAND_OVER)
            case Action.FINISH | Action.WITHDRAW | Action.SHOW_HALT | Action.AWAIT_APPROVAL:
                return await self._end(action, held, snapshot)
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

    async def _retitled(self, action: Action, held: Held, seen: Snapshot) -> Snapshot:
        """The same with the issue's own title; what is shown of the work in titles and bodies follows."""
        issue = await self._handover.titles.show(held, seen.issue, _try(action, seen))
        seen = replace(seen, issue=issue)
        if await self._renewal.follow(action, held, seen):
            self._observer.forget(held)
        return seen

    async def _end(self, action: Action, held: Held, snapshot: Snapshot) -> Ended:
        """The steps after which nothing is left to do."""
        if action is Action.FINISH:
            return await self._handover.finish(held, snapshot)
        if action is Action.WITHDRAW:
            return await self._handover.leave(held, snapshot)
        if action is Action.AWAIT_APPROVAL:
            await self._refactoring.wait(held, snapshot.issue)
            return Ended(Result.PARKED, f"the refactoring of #{snapshot.issue.number} waits for a person")
        return Ended(Result.FAILED, f"halted at {held.fence.stage}")

    async def _move_on(self, action: Action, held: Held, snapshot: Snapshot) -> None:
        """The steps that move the fence and say why, and do nothing else."""
        if action is Action.REPAIR:
            await self._handover.repair(held, snapshot)
        else:
            await self._handover.take_up_edit(held, snapshot.issue)

    async def _watch_ci(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        """The steps after which CI or the base is waited for."""
        if action is Action.RERUN_CI:
            return await self._reactions.rerun(held, snapshot)
        return await self._reactions.hold(held, snapshot) if action is Action.WAIT_FOR_BASE else Rest("ci")

    async def _to_ci(self, action: Action, held: Held, snapshot: Snapshot) -> None:
        """Have CI look at what stands on the branch, with its base merged in where that is asked for."""
        if action is Action.READ_CI or not await self._upkeep.update(held, snapshot):
            await self._repairs.read_ci(held)

    async def _build(self, action: Action, held: Held, snapshot: Snapshot) -> None:
        """The steps that pay a coder; ahead of them the branch is looked after, which may be all there is to do."""
        if action is Action.ANSWER_REVIEW:  # what follows such a step: nothing is paid for it
            held.memory.keep(await self._repairs.answer(held))
            return
        if action in {Action.KEEP_REFACTORING, Action.DROP_REFACTORING}:
            await self._confirm(action, held, snapshot.issue)
            return
        if action in UPKEPT and await self._upkeep.before(held, snapshot):
            return
        if action is Action.WRITE_TESTS:
            await self._write_tests(held, snapshot.issue)
        elif action is Action.IMPLEMENT:
            await self._cycle.implement(held, snapshot.issue, snapshot.bounds.attempts)
            self._opening.note_built(held)
        elif action is Action.REFACTOR:
            await self._refactoring.refactor(held, snapshot.issue)
            self._opening.note_built(held)
        elif action is Action.FIX_CI:
            await self._repairs.fix_ci(held, snapshot.issue, snapshot.ci_fixes)
        elif action is Action.ADDRESS_REVIEW:
            await self._repairs.address_review(held, snapshot.issue)

    async def _write_tests(self, held: Held, issue: Issue) -> None:
        await self._handover.assign(held)
        try:
            problematic = await self._cycle.write_tests(held, issue)
        except BranchExists:
            if not await self._earlier.set_aside(held):
                raise
            return  # nothing was paid for yet: the next step begins
        if problematic:
            await self._flag(held)

    async def _flag(self, held: Held) -> None:
        """Show on the issue that a criterion, or a test, was set aside."""
        label = self._policy.names.of(Flag.PROBLEMATIC_TEST)
        await self._forge.labels.add(held.fence.key.number, [label], held)

    async def _confirm(self, action: Action, held: Held, issue: Issue) -> None:
        """What a person has said of a refactoring."""
        await (self._refactoring.keep if action is Action.KEEP_REFACTORING else self._refactoring.drop)(held, issue)
        self._opening.note_built(held)

    def _flags(self, issue: Issue) -> frozenset[Flag]:
        return frozenset(self._policy.names.read(issue.labels).flags)

    def _reason(self, action: Action, held: Held, snapshot: Snapshot) -> Blocked:
        bounds = snapshot.bounds
        if action is Action.GIVE_UP_ON_ATTEMPTS:
            return self._cycle.attempts_used_up(held, bounds.attempts)
        if action is Action.GIVE_UP_ON_CI:
            return CiGivenUp(bounds.ci_fixes, ci_comments.unrepaired(snapshot.ci))
        if action is Action.GIVE_UP_ON_ROUNDS:
            return RoundsUsedUp(bounds.rounds)
        if action is Action.ASK_ABOUT_HEAD and snapshot.pull_request is not None:
            return BranchTaken(snapshot.pull_request.head_branch, held.fence.work_head, snapshot.pull_request.head_sha)
        return self._edited(snapshot)

    def _edited(self, snapshot: Snapshot) -> Blocked:
        pull_request, names = snapshot.pull_request, self._policy.names
        if pull_request is None:
            return SpecificationEdited(names.of(Stage.READY))
        return SpecificationEdited(f"{names.of(Stage.CHANGES_REQUESTED)} on #{pull_request.number}")

    async def _open_pull_request(self, held: Held, snapshot: Snapshot) -> Step:
        change = await change_facts.described(self._session, held, snapshot.issue)
        text = pull_request_body.body(change or change_facts.unproven(held, snapshot.issue))
        if change is not None and change.set_aside and Flag.PROBLEMATIC_TEST not in self._flags(snapshot.issue):
            await self._flag(held)  # whoever set it aside may have ended before this
        labels = await self._session.labels(held.fence.base)
        opened = await self._opening.pull_request(held, snapshot, text, labels)
        if isinstance(opened, Ended):
            return opened
        self._observer.expect(held, snapshot.issue, opened)
        return Rest("ci")  # its checks have only just been asked for


def _try(action: Action, s: Snapshot) -> Try | None:
    """The implementation that this step writes, for the issue's title."""
    return Try(s.fence.attempt + 1, s.bounds.attempts) if action is Action.IMPLEMENT else None


log = structlog.get_logger()

FOLLOWED_BY = HANDS_OVER | {Action.ANSWER_REVIEW, Action.WAIT_FOR_CI, Action.RERUN_CI, Action.WAIT_FOR_BASE}
"""Steps that come after a push: by the body itself they tell whether it is up to date, so a crash loses nothing."""

MOST = 500
"""Pull requests whose last renewal is remembered."""


class BodyUpdates:
    """The bodies of one repository's pull requests."""

    def __init__(self, pulls: Pulls, session: CodingSession) -> None:
        self._pulls = pulls
        self._session = session
        self._written: OrderedDict[int, str] = OrderedDict()

    async def follow(self, action: Action, held: Held, seen: Snapshot) -> bool:
        """Write the proof of the head where the body shows another one; whether it was written.

        What people have written around it stays, and a body without it is left alone. Raises `Transient`.
        """
        pull_request, head = seen.pull_request, held.fence.work_head
        if action not in FOLLOWED_BY or pull_request is None or pull_request.head_sha != head:
            return False
        number = pull_request.number
        if pull_request_body.shown_head(pull_request.body) in {"", head} or self._written.get(number) == head:
            return False
        change = await change_facts.described(self._session, held, seen.issue)
        text = pull_request_body.renewed(pull_request.body, change) if change is not None else None
        if text is None:
            return False
        held.check()
        try:
            await self._pulls.edit(number, body=text, permit=held)
        except Blocked as error:
            log.warning("description_not_renewed", outcome="skipped", number=number, error=str(error))
        self._remember(number, head)
        return True

    def _remember(self, number: int, head: str) -> None:
        """A stale reading does not have it written twice."""
        self._written[number] = head
        self._written.move_to_end(number)
        while len(self._written) > MOST:
            self._written.popitem(last=False)
