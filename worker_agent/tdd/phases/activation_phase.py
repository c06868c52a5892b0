"""The first step of an issue about a pending test: remove its marker, and run it to see whether code is needed."""

from __future__ import annotations

from dataclasses import replace

from shared.git import objects
from shared.git.names import activation_branch
from shared.git.notes import CommitKind, Note
from shared.github.ports import StatusComments
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import Issue
from shared.pending.source import activated, path_of
from worker_agent import comments, decide
from worker_agent.errors import CycleAborted, NotPending
from worker_agent.phase_commits import PhaseCommit
from worker_agent.phase_tools import PhaseTools
from worker_agent.tdd.judging.judge import unstable_tests
from worker_agent.tdd.judging.verdict import ErrorType, Verdict
from worker_agent.tdd.phases import activation, next_phase
from worker_agent.tdd.phases.phase_notes import counted, phase_note, red_note, subject
from worker_agent.tdd.proof.examination import Red
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.runners.test_run import PurposeKind, RunPurpose, TestId, TestRun
from worker_agent.tdd.tree_verification import TreeVerification
from worker_agent.work_context import WorkContext

FREE = "no run"
"""The source of the cost of a commit without a model."""


class ActivationPhase:
    """Activates the pending test of an issue and commits it, red or green."""

    def __init__(self, tools: PhaseTools, status: StatusComments, verification: TreeVerification) -> None:
        self._tools = tools
        self._status = status
        self._verification = verification

    async def begin(self, held: Held, issue: Issue) -> bool:
        """Do the first step of the issue; return False if its tests have to be written as for any other.

        Raises `NotPending` if the test is not pending on the base any more, and `CycleAborted` if the base or the
        activated test proves nothing.
        """
        test = activation.pending_test(issue, held.claimant)
        if not test:
            return False
        name = activation_branch(issue.number, test)
        if held.fence.branch != name:
            await advance(held, FenceChange(branch=name))
        work = await next_phase.open_first(self._tools, held, issue)
        files = await objects.existing(work.space.git, work.base, [path_of(test)])
        marked = activation.waiting(files, test)
        if marked is None:
            raise NotPending(test, work.base)
        if marked.bare:
            return False
        tree = await work.space.with_file(work.base, path_of(test), activated(files[path_of(test)], marked))
        await self._judge_activation(work, test, tree)
        return True

    async def _judge_activation(self, work: WorkContext, test: TestId, tree: str) -> None:
        baseline = await self._verification.baseline(work)
        red = await self._verification.red(work, baseline, tree)
        at_once = activation.judge(baseline, red.run, test)
        if at_once is not None and at_once.error is ErrorType.REGRESSION:
            second = Overlay(again=1, purpose=RunPurpose(PurposeKind.AGAIN))
            again = await self._tools.test_runs.of(work, tree, second)
            at_once = activation.judge(baseline, red.run, test, unstable_tests(red.run, again))
        if at_once is None:
            await self._record_red(work, test, baseline, red, tree)
        elif at_once.ok:
            await self._record_green(work, test, baseline, red.run, tree)
        else:
            raise _unusable(at_once)

    async def _record_red(self, work: WorkContext, test: TestId, baseline: TestRun, red: Red, tree: str) -> None:
        """Commit the activated test as the red test: the developer is asked next."""
        if red.verdict.error is not None or not red.verdict.red:
            raise _unusable(red.verdict)
        note = replace(red_note(work, baseline, red, None, {}), cost_usd=0.0, cost_source="")
        await self._record(work, tree, note, FenceChange(phase=decide.NextStep.GREEN, base=work.base))
        await self._show(work, test, passes=False)

    async def _record_green(self, work: WorkContext, test: TestId, baseline: TestRun, run: TestRun, tree: str) -> None:
        """Publish the activation alone, since the test passes at once."""
        cases = [name for name in sorted(run.passed) if activation.belongs(name, test)]
        before = {name: baseline.results.get(name) for name in cases}
        note = replace(
            phase_note(work, CommitKind.GREEN, decide.NextStep.CI, run),
            new_tests=tuple(cases),
            red={name: f"{old.outcome}: {old.first_line}" if old else "pending" for name, old in before.items()},
            green={name: str(run.results[name].outcome) for name in cases},
            baseline=counted(baseline),
            cost_usd=0.0,
            cost_source=FREE,
        )
        await self._record(work, tree, note, replace(next_phase.to_ci(), base=work.base))
        await self._show(work, test, passes=True)

    async def _record(self, work: WorkContext, tree: str, note: Note, to: FenceChange) -> None:
        phased = PhaseCommit(tree, work.base, subject(work, "Activate"), note)
        await self._tools.phase_commits.record(work, phased, to)

    async def _show(self, work: WorkContext, test: TestId, *, passes: bool) -> None:
        held = work.held
        await self._status.show(work.issue.number, comments.activated(held.fence, test, passes=passes), held)


def _unusable(verdict: Verdict) -> CycleAborted:
    error = verdict.error or ErrorType.TEST_UNEXPECTED_FAIL
    return CycleAborted(error, _SENTENCES.get(error, "The activated test proves nothing."), verdict.details)


_SENTENCES = {
    ErrorType.WORKFLOW_ABORTED: "The activated test still does not run.",
    ErrorType.REGRESSION: "Something that worked does not work any more with the activated test.",
    ErrorType.COMPILATION_ERROR: "The activated test does not collect.",
    ErrorType.TEST_UNEXPECTED_FAIL: "The activated test does not fail because behaviour is missing.",
}
