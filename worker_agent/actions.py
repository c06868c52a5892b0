"""The table from each action to the code that carries it out; new actions are added here, and mypy misses none."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, assert_never

from shared.errors import Blocked
from shared.github.ports import StatusComments
from shared.lock.hold import Held
from shared.models import Issue
from shared.scheduling.agent_contract import Ended, Rest, Result, Step
from shared.workflow import Stage
from shared.workflow.labels import Flag
from worker_agent import change_facts, pull_request_body
from worker_agent.branch.previous_branch import PreviousBranch
from worker_agent.branch.update import BranchUpdate
from worker_agent.ci import ci_comments
from worker_agent.ci.reactions import CiReactions
from worker_agent.decide import Action, Snapshot
from worker_agent.effects import Effects
from worker_agent.errors import BranchExists, BranchTaken, CiGivenUp, RoundsUsedUp, SpecificationEdited
from worker_agent.feedback.rounds import Rounds
from worker_agent.observe import Observer
from worker_agent.open_pull_request import BodyUpdates, Opening
from worker_agent.phase_tools import PhaseTools
from worker_agent.policy import Policy
from worker_agent.ports import Forge
from worker_agent.repairs import Repairs
from worker_agent.tdd.phases.activation_phase import ActivationPhase
from worker_agent.tdd.phases.green_phase import GreenPhase
from worker_agent.tdd.phases.plain_phase import PlainPhase
from worker_agent.tdd.phases.quality import QualityFix
from worker_agent.tdd.phases.red_phase import RedPhase
from worker_agent.tdd.phases.refactoring import Refactoring
from worker_agent.tdd.tree_verification import TreeVerification

UPKEPT = frozenset({Action.IMPLEMENT, Action.REFACTOR, Action.FIX_CI, Action.ADDRESS_REVIEW})
"""Paid steps that work on the branch: other people's commits and the base are merged before them."""

RETRIES = 5
"""Retries of a call whose result is refused for a reason that uses no attempt."""

_Work = Literal[
    Action.WRITE_TESTS,
    Action.IMPLEMENT,
    Action.REFACTOR,
    Action.KEEP_REFACTORING,
    Action.DROP_REFACTORING,
    Action.FIX_CI,
    Action.ADDRESS_REVIEW,
    Action.ANSWER_REVIEW,
]
_Wait = Literal[Action.WAIT_FOR_CI, Action.RERUN_CI, Action.WAIT_FOR_BASE]
_Move = Literal[Action.READ_CI, Action.UPDATE, Action.REPAIR, Action.TAKE_UP_EDIT]
_End = Literal[Action.FINISH, Action.WITHDRAW, Action.AWAIT_APPROVAL, Action.SHOW_HALT]
_GiveUp = Literal[
    Action.GIVE_UP_ON_ATTEMPTS,
    Action.GIVE_UP_ON_CI,
    Action.GIVE_UP_ON_ROUNDS,
    Action.ASK_ABOUT_HEAD,
    Action.ASK_ABOUT_EDIT,
]
"""Actions that `Actions.act` hands to one method; each method has a case for every one of its own."""


class Actions:
    """Carries out what was decided on a snapshot."""

    def __init__(
        self,
        forge: Forge,
        tools: PhaseTools,
        effects: Effects,
        observer: Observer,
        rounds: Rounds,
        policy: Policy,
    ) -> None:
        self._forge = forge
        self._tools = tools
        self._effects = effects
        self._observer = observer
        self._rounds = rounds
        self._policy = policy
        self._opening = Opening(forge, effects, tools.phase_commits.mirror, policy)
        self._previous_branch = PreviousBranch(tools.phase_commits, forge, policy.base)
        self._body_updates = BodyUpdates(forge.pulls, tools)
        self._branch_update = BranchUpdate(tools, forge, policy)
        quality_fix = QualityFix(tools)
        self._cycle = Cycle(tools, forge.status, quality_fix=quality_fix)
        self._refactoring = Refactoring(tools, forge.status, quality_fix)
        self._reactions = CiReactions(forge.checks, forge.status)
        self._repairs = Repairs(
            tools, forge.checks, rounds, quality_fix, may_edit_workflows=policy.code.may_edit_workflows
        )

    async def act(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        """Carry out one action. Raises `Blocked` with the reason for those that give an item to a person."""
        snapshot = await self._show_state(action, held, snapshot)
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
            case Action.READ_CI | Action.UPDATE | Action.REPAIR | Action.TAKE_UP_EDIT:
                await self._move_on(action, held, snapshot)
            case Action.ADOPT | Action.SYNC:
                return await self._branch_update.update_branch(held, snapshot)
            case Action.HAND_OVER | Action.HAND_OVER_UNCHECKED:
                return await self._effects.hand_over(held, snapshot, checked=action is Action.HAND_OVER)
            case Action.FINISH | Action.WITHDRAW | Action.SHOW_HALT | Action.AWAIT_APPROVAL:
                return await self._end(action, held, snapshot)
            case (
                Action.GIVE_UP_ON_ATTEMPTS
                | Action.GIVE_UP_ON_CI
                | Action.GIVE_UP_ON_ROUNDS
                | Action.ASK_ABOUT_HEAD
                | Action.ASK_ABOUT_EDIT
            ):
                raise self._error_of(action, held, snapshot)
            case _:
                assert_never(action)
        return None

    async def _show_state(self, action: Action, held: Held, seen: Snapshot) -> Snapshot:
        """Show the work's state in titles and the pull request's body; return the snapshot with the plain title."""
        issue = await self._effects.titles.show(held, seen.issue, _attempt(action, seen))
        seen = replace(seen, issue=issue)
        if await self._body_updates.follow(action, held, seen):
            self._observer.forget(held)
        return seen

    async def _build(self, action: _Work, held: Held, snapshot: Snapshot) -> None:
        """Update the branch, then carry out an action that works on it; the update may be all there is to do."""
        if action in UPKEPT and await self._branch_update.before(held, snapshot):
            return
        match action:
            case Action.WRITE_TESTS:
                await self._write_tests(held, snapshot.issue)
            case Action.IMPLEMENT:
                await self._cycle.implement(held, snapshot.issue, snapshot.bounds.attempts)
                self._opening.note_built(held)
            case Action.REFACTOR:
                await self._refactoring.refactor(held, snapshot.issue)
                self._opening.note_built(held)
            case Action.KEEP_REFACTORING | Action.DROP_REFACTORING:
                await self._confirm(action, held, snapshot.issue)
            case Action.FIX_CI:
                await self._repairs.fix_ci(held, snapshot.issue, snapshot.ci_fixes)
            case Action.ADDRESS_REVIEW:
                await self._repairs.address_review(held, snapshot.issue)
            case Action.ANSWER_REVIEW:  # what follows such a step: nothing is paid for it
                held.memory.keep(await self._rounds.answer(held))
            case _:
                assert_never(action)

    async def _write_tests(self, held: Held, issue: Issue) -> None:
        await self._effects.assign(held)
        try:
            problematic = await self._cycle.write_tests(held, issue)
        except BranchExists:
            if not await self._previous_branch.set_aside(held):
                raise
            return  # nothing was paid for yet: the next step begins
        if problematic:
            await self._flag(held)

    async def _flag(self, held: Held) -> None:
        """Show on the issue that a criterion, or a test, was set aside."""
        label = self._policy.names.of(Flag.PROBLEMATIC_TEST)
        await self._forge.labels.add(held.fence.key.number, [label], held)

    async def _confirm(self, action: Action, held: Held, issue: Issue) -> None:
        """Carry out a person's answer on a refactoring: keep it or drop it."""
        await (self._refactoring.keep if action is Action.KEEP_REFACTORING else self._refactoring.drop)(held, issue)
        self._opening.note_built(held)

    async def _open_pull_request(self, held: Held, snapshot: Snapshot) -> Step:
        change = await change_facts.described(self._tools, held, snapshot.issue)
        text = pull_request_body.body(change or change_facts.unproven(held, snapshot.issue))
        flags = self._policy.names.read(snapshot.issue.labels).flags
        if change is not None and change.set_aside and Flag.PROBLEMATIC_TEST not in flags:
            await self._flag(held)  # whoever set it aside may have ended before this
        labels = await self._tools.labels(held.fence.base)
        opened = await self._opening.pull_request(held, snapshot, text, labels)
        if isinstance(opened, Ended):
            return opened
        self._observer.expect(held, *opened)
        return Rest("ci")  # its checks have only just been asked for

    async def _watch_ci(self, action: _Wait, held: Held, snapshot: Snapshot) -> Step:
        """Carry out one of the actions that wait for CI or for the base."""
        match action:
            case Action.WAIT_FOR_CI:
                return Rest("ci")
            case Action.RERUN_CI:
                return await self._reactions.rerun(held, snapshot)
            case Action.WAIT_FOR_BASE:
                return await self._reactions.park_for_base(held, snapshot)
            case _:
                assert_never(action)

    async def _move_on(self, action: _Move, held: Held, snapshot: Snapshot) -> None:
        """Carry out one of the actions that move the fence, so that CI, a repair or the edited text is next."""
        match action:
            case Action.READ_CI:
                await self._repairs.read_ci(held)
            case Action.UPDATE:
                if not await self._branch_update.update(held, snapshot):
                    await self._repairs.read_ci(held)
            case Action.REPAIR:
                await self._effects.repair(held, snapshot)
            case Action.TAKE_UP_EDIT:
                await self._effects.take_up_edit(held, snapshot.issue)
            case _:
                assert_never(action)

    async def _end(self, action: _End, held: Held, snapshot: Snapshot) -> Ended:
        """Carry out one of the actions that end the work on the item for now."""
        match action:
            case Action.FINISH:
                return await self._effects.finish(held, snapshot)
            case Action.WITHDRAW:
                return await self._effects.leave(held, snapshot)
            case Action.AWAIT_APPROVAL:
                await self._refactoring.wait(held, snapshot.issue)
                return Ended(Result.PARKED, f"the refactoring of #{snapshot.issue.number} waits for a person")
            case Action.SHOW_HALT:
                return Ended(Result.FAILED, f"halted at {held.fence.stage}")
            case _:
                assert_never(action)

    def _error_of(self, action: _GiveUp, held: Held, snapshot: Snapshot) -> Blocked:
        """Return the error that hands the item to a person."""
        bounds, pull_request = snapshot.bounds, snapshot.pull_request
        match action:
            case Action.GIVE_UP_ON_ATTEMPTS:
                return self._cycle.attempts_used_up(held, bounds.attempts)
            case Action.GIVE_UP_ON_CI:
                return CiGivenUp(bounds.ci_fixes, ci_comments.unrepaired(snapshot.ci))
            case Action.GIVE_UP_ON_ROUNDS:
                return RoundsUsedUp(bounds.rounds)
            case Action.ASK_ABOUT_HEAD if pull_request is not None:
                return BranchTaken(pull_request.head_branch, held.fence.work_head, pull_request.head_sha)
            case Action.ASK_ABOUT_HEAD | Action.ASK_ABOUT_EDIT:
                return self._edit_error(snapshot)
            case _:
                assert_never(action)

    def _edit_error(self, snapshot: Snapshot) -> Blocked:
        pull_request, names = snapshot.pull_request, self._policy.names
        if pull_request is None:
            return SpecificationEdited(names.of(Stage.READY))
        return SpecificationEdited(f"{names.of(Stage.CHANGES_REQUESTED)} on #{pull_request.number}")


class Cycle:
    """Tests first, then the code: for all criteria together, or for one criterion after the other.

    `test_retries`: for tests that do not compile, do not collect or prove nothing; `regression_retries`: for
    implementations that break tests which passed before.
    """

    def __init__(
        self,
        tools: PhaseTools,
        status: StatusComments,
        quality_fix: QualityFix | None = None,
        *,
        test_retries: int = RETRIES,
        regression_retries: int = RETRIES,
    ) -> None:
        verification = TreeVerification(tools)
        self._activation = ActivationPhase(tools, status, verification)
        self._plain = PlainPhase(tools, status, verification)
        self._red = RedPhase(tools, status, verification, test_retries)
        self._green = GreenPhase(tools, status, verification, quality_fix or QualityFix(tools), regression_retries)

    async def write_tests(self, held: Held, issue: Issue) -> tuple[str, ...]:
        """Do the red phase of the next cycle; see `RedPhase.write_tests`, and for a pending test `ActivationPhase`."""
        if await self._plain.begin(held, issue) or await self._activation.begin(held, issue):
            return ()
        return await self._red.write_tests(held, issue)

    async def implement(self, held: Held, issue: Issue, limit: int) -> None:
        """Make one attempt of the green phase; see `GreenPhase.implement`."""
        if not await self._plain.implement(held, issue, limit):
            await self._green.implement(held, issue, limit)

    def attempts_used_up(self, held: Held, limit: int) -> Blocked:
        """Return the error that ends a cycle whose attempts are used up."""
        return self._plain.used_up(held, limit) or self._green.attempts_used_up(held, limit)


def _attempt(action: Action, s: Snapshot) -> str:
    """Return the attempt that this step writes, for the counter in the issue's title; empty for other steps."""
    return f"{s.fence.attempt + 1}/{s.bounds.attempts}" if action is Action.IMPLEMENT else ""
