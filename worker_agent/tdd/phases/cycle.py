"""Test-first cycles: red, then green, each judged by machine on committed trees only.

Changes that ask for no new test: refactorings, documents, removals, dependencies, configuration. The first step of
an issue about a pending test: its marker goes, and a run says whether code is needed at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shared.errors import Blocked
from shared.git.names import activation_branch
from shared.git.notes import Note, Phase
from shared.github.ports import StatusComments
from shared.llm.port import CoderCall
from shared.lock.fence import advance
from shared.lock.hold import Held
from shared.lock.record import FenceChange
from shared.models import Issue
from shared.pending.source import activated, path_of
from shared.specification import SpecificationKind
from shared.specification.reading import read
from shared.text import change_summary
from shared.text.prompts import Untrusted
from worker_agent import comments, decide
from worker_agent.coding_session import Attempt, CodingSession
from worker_agent.errors import BranchExists, CycleAborted, NotPending
from worker_agent.phase_commits import PhaseCommit, texts
from worker_agent.tdd.judging.judge import unstable_tests
from worker_agent.tdd.judging.verdict import ErrorType, Verdict
from worker_agent.tdd.phases import activation, next_phase
from worker_agent.tdd.phases.green_phase import GreenPhase
from worker_agent.tdd.phases.phase_notes import counted, red_note, subject
from worker_agent.tdd.phases.quality_fix import QualityFix
from worker_agent.tdd.phases.red_phase import RedPhase
from worker_agent.tdd.phases.strategy import STRATEGIES
from worker_agent.tdd.proof.examination import Green
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.runners.purpose import PurposeKind, RunPurpose
from worker_agent.tdd.runners.report import TestId, TestRun
from worker_agent.tdd.tree_verification import Red, TreeVerification
from worker_agent.work_context import WorkContext


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is repeated when its result is refused for a reason that spends no attempt."""

    tests: int = STRATEGIES[ErrorType.COMPILATION_ERROR].retries or 0
    """Tests that do not compile, do not collect or prove nothing."""
    regression: int = STRATEGIES[ErrorType.REGRESSION].retries or 0
    """Implementations that break tests which passed before."""


class Cycle:
    """Tests first, then the code: for all criteria together, or for one criterion after the other."""

    def __init__(
        self,
        session: CodingSession,
        status: StatusComments,
        retries: Retries | None = None,
        cleaning: QualityFix | None = None,
    ) -> None:
        retries, verification = retries or Retries(), TreeVerification(session)
        self._activation = ActivationPhase(session, status, verification)
        self._plain = PlainPhase(session, status, verification)
        self._red = RedPhase(session, status, verification, retries.tests)
        self._green = GreenPhase(session, status, verification, cleaning or QualityFix(session), retries.regression)

    async def write_tests(self, held: Held, issue: Issue) -> tuple[str, ...]:
        """The red phase of the next cycle; see `RedPhase.write_tests`, and for a pending test `ActivationPhase`."""
        if await self._plain.begin(held, issue) or await self._activation.begin(held, issue):
            return ()
        return await self._red.write_tests(held, issue)

    async def implement(self, held: Held, issue: Issue, limit: int) -> None:
        """One try of the green phase; see `GreenPhase.implement`."""
        if not await self._plain.implement(held, issue, limit):
            await self._green.implement(held, issue, limit)

    def attempts_used_up(self, held: Held, limit: int) -> Blocked:
        """The error that ends a cycle whose tries are used up."""
        return self._plain.used_up(held, limit) or self._green.attempts_used_up(held, limit)


RULES = {
    SpecificationKind.REFACTORING: "Move and rename as the issue asks; behaviour and tests stay as they are.",
    SpecificationKind.DOCUMENTATION: "Change documents, comments and docstrings only; the code stays as it is.",
    SpecificationKind.REMOVAL: "Take out what the issue names, and the tests of it; everything else stays as it is.",
    SpecificationKind.DEPENDENCY: (
        "Change the manifest and what has to follow from it; behaviour and tests stay as they are."
    ),
    SpecificationKind.CONFIGURATION: "Change configuration only; the code stays as it is.",
}
"""What a coder is told beside the criteria."""


class _Refused(tuple[str, ...]):
    """What was wrong with the last try of an item."""

    __slots__ = ()


class PlainPhase:
    """One try after the other of a change for which every old test must hold, and nothing new is proved."""

    def __init__(self, session: CodingSession, status: StatusComments, verification: TreeVerification) -> None:
        self._session = session
        self._status = status
        self._verification = verification

    async def begin(self, held: Held, issue: Issue) -> bool:
        """Whether the item is of such a kind; then its first phase is done, because no test is to be written."""
        if read(issue.body).kind is SpecificationKind.FEATURE:
            return False
        job = await self._session.open(held, issue)
        if not held.fence.work_head and not await self._session.phase_commits.is_branch_free(held.fence, job.base):
            raise BranchExists
        await self._verification.baseline(job)
        await advance(held, FenceChange(phase=decide.Phase.GREEN, base=job.base))
        return True

    async def implement(self, held: Held, issue: Issue, limit: int) -> bool:
        """One try; whether the item is of such a kind. A refused try is counted in the fence and told to the next."""
        if read(issue.body).kind is SpecificationKind.FEATURE:
            return False
        job = await self._session.open(held, issue)
        baseline = await self._verification.baseline(job)
        start, attempt = held.fence.work_head or job.base, held.fence.attempt + 1
        prompt = self._prompt(job, f"{attempt} of {limit}")
        tree = await self._session.edit(job, CoderCall.IMPLEMENT, start, Attempt(attempt), prompt)
        held.check()
        if tree == await job.space.tree_of(start):
            await self._count(held, job, limit, ("Nothing was changed.",))
            return True
        green = await self._verification.unchanged(job, baseline, tree)
        if not green.verdict.ok:
            await self._count(held, job, limit, green.verdict.details)
            return True
        await self._record(job, tree, green, attempt)
        return True

    def used_up(self, held: Held, limit: int) -> CycleAborted | None:
        """The error that ends an item of such a kind; None for one of another kind."""
        refused = held.memory.get(_Refused)
        if refused is None:
            return None
        sentence = f"{limit} changes did not keep what the tests hold."
        return CycleAborted(ErrorType.IMPLEMENTATION_FAILED, sentence, refused)

    async def _count(self, held: Held, job: WorkContext, limit: int, details: tuple[str, ...]) -> None:
        held.memory.keep(_Refused(details))
        await advance(held, FenceChange(attempt=held.fence.attempt + 1))
        await self._status.show(job.issue.number, comments.attempt_failed(held.fence, limit, details), held)

    async def _record(self, job: WorkContext, tree: str, green: Green, attempt: int) -> None:
        held, cost = job.held, self._session.take_spent(job.issue.number)
        note = Note(
            issue=job.issue.number,
            cycle=job.cycle,
            phase=Phase.GREEN,
            next_phase=decide.Phase.CI,
            base=job.base,
            baseline=counted(await self._verification.baseline(job)),
            test_result=green.run.one_line(),
            exit_code=green.run.code,
            attempts=attempt,
            proof=replace(green.proof, suite_runs=self._session.take_suite_runs(job.issue.number)),
            summary=change_summary.of_coder(self._session.said(held, tree)),
        )
        held.memory.take(_Refused)
        note = replace(note, cost_usd=cost.usd, cost_source=cost.source)
        phased = PhaseCommit(tree, held.fence.work_head or job.base, subject(job, "Implement"), note)
        to = replace(next_phase.to_ci(), base=held.fence.base or job.base, attempt=attempt)
        await self._session.phase_commits.record(held, job.space, phased, job.specification, to)

    def _prompt(self, job: WorkContext, attempt: str) -> str:
        refused = job.held.memory.get(_Refused) or ()
        return self._session.prompt(
            "change",
            job,
            criteria=job.criteria,
            kind=str(job.specification.kind),
            rule=RULES[job.specification.kind],
            conventions=job.conventions or "none",
            test_command=job.test_commands,
            failures=Untrusted("\n".join(refused) or "none so far"),
            attempt=attempt,
        )


FREE = "no run"
"""Who says what a commit cost that no model had a part in."""


class ActivationPhase:
    """Activates the pending test of an issue and commits it, red or green."""

    def __init__(self, session: CodingSession, status: StatusComments, verification: TreeVerification) -> None:
        self._session = session
        self._status = status
        self._verification = verification

    async def begin(self, held: Held, issue: Issue) -> bool:
        """Whether the first step of this issue is done; False when its tests have to be written as for any other.

        Raises `NotPending` when the test does not wait on the base any more, and `CycleAborted` when the base or
        the activated test proves nothing.
        """
        test = activation.wanted(issue, held.claimant)
        if not test:
            return False
        name = activation_branch(issue.number, test)
        if held.fence.branch != name:
            await advance(held, FenceChange(branch=name))
        job = await self._session.open(held, issue)
        if not held.fence.work_head and not await self._session.phase_commits.is_branch_free(held.fence, job.base):
            raise BranchExists
        files = await texts(job.space, job.base, {path_of(test)})
        marked = activation.waiting(files, test)
        if marked is None:
            raise NotPending(test, job.base)
        if marked.bare:
            return False
        tree = await job.space.with_file(job.base, path_of(test), activated(files[path_of(test)], marked))
        await self._take(job, test, tree)
        return True

    async def _take(self, job: WorkContext, test: TestId, tree: str) -> None:
        baseline = await self._verification.baseline(job)
        red = await self._verification.red(job, baseline, tree)
        at_once = activation.judge(baseline, red.run, test)
        if at_once is not None and at_once.error is ErrorType.REGRESSION:
            again = await self._session.test(job, tree, Overlay(again=1, purpose=RunPurpose(PurposeKind.AGAIN)))
            at_once = activation.judge(baseline, red.run, test, unstable_tests(red.run, again))
        if at_once is None:
            await self._record_red(job, test, baseline, red, tree)
        elif at_once.ok:
            await self._record_green(job, test, baseline, red.run, tree)
        else:
            raise _unusable(at_once)

    async def _record_red(self, job: WorkContext, test: TestId, baseline: TestRun, red: Red, tree: str) -> None:
        """The activated test is the red test: the developer is asked next."""
        if red.verdict.error is not None or not red.verdict.red:
            raise _unusable(red.verdict)
        held, note = job.held, replace(red_note(job, baseline, red, None, {}), cost_usd=0.0, cost_source="")
        phased = PhaseCommit(tree, job.base, subject(job, "Activate"), note)
        to = FenceChange(phase=decide.Phase.GREEN, base=job.base)
        await self._session.phase_commits.record(held, job.space, phased, job.specification, to)
        sentence = "The pending test was activated and fails as it should. Implementing now."
        await self._status.show(job.issue.number, comments.progress(held.fence, sentence, test=test), held)

    async def _record_green(self, job: WorkContext, test: TestId, baseline: TestRun, run: TestRun, tree: str) -> None:
        """It passes at once: the activation alone is published."""
        cases = [name for name in sorted(run.passed) if activation.belongs(name, test)]
        before = {name: baseline.results.get(name) for name in cases}
        note = Note(
            issue=job.issue.number,
            cycle=job.cycle,
            phase=Phase.GREEN,
            next_phase=decide.Phase.CI,
            base=job.base,
            new_tests=tuple(cases),
            red={name: f"{one.outcome}: {one.first_line}" if one else "pending" for name, one in before.items()},
            green={name: str(run.results[name].outcome) for name in cases},
            baseline=counted(baseline),
            test_result=run.one_line(),
            exit_code=run.code,
            cost_usd=0.0,
            cost_source=FREE,
        )
        held, phased = job.held, PhaseCommit(tree, job.base, subject(job, "Activate"), note)
        to = replace(next_phase.to_ci(), base=job.base)
        await self._session.phase_commits.record(held, job.space, phased, job.specification, to)
        sentence = "The pending test was activated and passes at once: its activation alone is published."
        await self._status.show(job.issue.number, comments.progress(held.fence, sentence, test=test), held)


def _unusable(verdict: Verdict) -> CycleAborted:
    error = verdict.error or ErrorType.TEST_UNEXPECTED_FAIL
    return CycleAborted(error, _WHY.get(error, "The activated test proves nothing."), verdict.details)


_WHY = {
    ErrorType.WORKFLOW_ABORTED: "The activated test still does not run.",
    ErrorType.REGRESSION: "Something that worked does not work any more with the activated test.",
    ErrorType.COMPILATION_ERROR: "The activated test does not collect.",
    ErrorType.TEST_UNEXPECTED_FAIL: "The activated test does not fail because behaviour is missing.",
}
