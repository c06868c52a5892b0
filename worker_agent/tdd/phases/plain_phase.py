"""Changes that need no new test: refactorings, documents, removals, dependencies, configuration."""

from __future__ import annotations

from dataclasses import replace

from shared.git.notes import CommitKind
from shared.github.ports import StatusComments
from shared.llm.port import CoderCall
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import Issue
from shared.specification import SpecificationKind
from shared.specification.reading import read
from shared.text import change_summary
from shared.text.prompts import Untrusted
from worker_agent import comments, decide
from worker_agent.errors import CycleAborted
from worker_agent.phase_commits import PhaseCommit
from worker_agent.phase_tools import Attempt, PhaseTools
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.phases import next_phase
from worker_agent.tdd.phases.phase_notes import counted, phase_note, subject
from worker_agent.tdd.proof.examination import Green
from worker_agent.tdd.tree_verification import TreeVerification
from worker_agent.work_context import WorkContext

RULES = {
    SpecificationKind.REFACTORING: "Move and rename as the issue asks; behaviour and tests stay as they are.",
    SpecificationKind.DOCUMENTATION: "Change documents, comments and docstrings only; the code stays as it is.",
    SpecificationKind.REMOVAL: "Take out what the issue names, and the tests of it; everything else stays as it is.",
    SpecificationKind.DEPENDENCY: (
        "Change the manifest and what has to follow from it; behaviour and tests stay as they are."
    ),
    SpecificationKind.CONFIGURATION: "Change configuration only; the code stays as it is.",
}
"""Rules that a coder is told besides the criteria."""


class _Refused(tuple[str, ...]):
    """The faults of the last attempt on an item."""

    __slots__ = ()


class PlainPhase:
    """Attempts at a change for which every old test must hold, and nothing new is proved."""

    def __init__(self, tools: PhaseTools, status: StatusComments, verification: TreeVerification) -> None:
        self._tools = tools
        self._status = status
        self._verification = verification

    async def begin(self, held: Held, issue: Issue) -> bool:
        """Do the first phase of an item of such a kind, which writes no test; return False for other items."""
        if read(issue.body).kind is SpecificationKind.FEATURE:
            return False
        work = await next_phase.open_first(self._tools, held, issue)
        await self._verification.baseline(work)
        await advance(held, FenceChange(phase=decide.NextStep.GREEN, base=work.base))
        return True

    async def implement(self, held: Held, issue: Issue, limit: int) -> bool:
        """Make one attempt; return whether the item is of such a kind. A refused one is counted, its faults kept."""
        if read(issue.body).kind is SpecificationKind.FEATURE:
            return False
        work = await self._tools.open(held, issue)
        baseline = await self._verification.baseline(work)
        start, attempt = held.fence.work_head or work.base, held.fence.attempt + 1
        prompt = self._prompt(work, f"{attempt} of {limit}")
        tree = await self._tools.edit(work, CoderCall.IMPLEMENT, start, Attempt(attempt), prompt)
        held.check()
        if tree == await work.space.tree_of(start):
            await self._count_attempt(work, limit, ("Nothing was changed.",))
            return True
        green = await self._verification.unchanged(work, baseline, tree)
        if not green.verdict.ok:
            await self._count_attempt(work, limit, green.verdict.details)
            return True
        await self._record(work, tree, green, attempt)
        return True

    def used_up(self, held: Held, limit: int) -> CycleAborted | None:
        """Return the error that ends an item of such a kind; None for one of another kind."""
        refused = held.memory.get(_Refused)
        if refused is None:
            return None
        sentence = f"{limit} changes did not keep what the tests hold."
        return CycleAborted(ErrorType.IMPLEMENTATION_FAILED, sentence, refused)

    async def _count_attempt(self, work: WorkContext, limit: int, details: tuple[str, ...]) -> None:
        held = work.held
        held.memory.keep(_Refused(details))
        await advance(held, FenceChange(attempt=held.fence.attempt + 1))
        await self._status.show(work.issue.number, comments.attempt_failed(held.fence, limit, details), held)

    async def _record(self, work: WorkContext, tree: str, green: Green, attempt: int) -> None:
        held, cost = work.held, self._tools.take_spent(work.issue.number)
        note = replace(
            phase_note(work, CommitKind.GREEN, decide.NextStep.CI, green.run),
            baseline=counted(await self._verification.baseline(work)),
            attempts=attempt,
            proof=replace(green.proof, suite_runs=self._tools.test_runs.take_suite_runs(work.issue.number)),
            summary=change_summary.of_coder(self._tools.closing_text(held, tree)),
            cost_usd=cost.usd,
            cost_source=cost.source,
        )
        held.memory.take(_Refused)
        phased = PhaseCommit(tree, held.fence.work_head or work.base, subject(work, "Implement"), note)
        to = replace(next_phase.to_ci(), base=held.fence.base or work.base, attempt=attempt)
        await self._tools.phase_commits.record(work, phased, to)

    def _prompt(self, work: WorkContext, attempt: str) -> str:
        refused = work.held.memory.get(_Refused) or ()
        return self._tools.prompt(
            "change",
            work,
            criteria=work.criteria,
            kind=str(work.specification.kind),
            rule=RULES[work.specification.kind],
            conventions=work.conventions or "none",
            test_command=work.test_commands,
            failures=Untrusted("\n".join(refused) or "none so far"),
            attempt=attempt,
        )
