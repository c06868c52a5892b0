"""The refactoring after green: taken if every test stays green and no test changes, else rolled back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.git import objects
from shared.git.notes import CommitKind, Note, NoteError
from shared.github.ports import StatusComments
from shared.llm.port import CoderCall
from shared.lock.fence import FenceChange
from shared.lock.hold import Held
from shared.models import Issue
from shared.text import change_summary, excerpt
from shared.text.prompts import Untrusted
from shared.workflow import Event, Stage, Track, move
from worker_agent import comments, decide
from worker_agent.errors import Aborted
from worker_agent.phase_commits import PhaseCommit
from worker_agent.phase_tools import Attempt, PhaseTools
from worker_agent.tdd.judging.judge import judge_kept
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.phases import next_phase
from worker_agent.tdd.phases.phase_notes import spent, subject, undone
from worker_agent.tdd.phases.quality import QualityFix
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.tdd.test_file_names import is_test_file
from worker_agent.work_context import WorkContext

DIFF_BYTES = 16_000
"""The most bytes of a change that a prompt and a question to people quote, its end."""

RETRIES = 5
"""Retries of a refactoring that breaks tests or quality commands; it is never a reason to fail."""

NOTHING = "refactor: no changes"
BROKE = "refactor: no changes (tests would break)"
DECLINED = "refactor: no changes (declined by {})"


class NothingToConfirm(Aborted):
    """The refactoring that waits for a person is not in the item's notes; start the item again."""


class Refactoring:
    """One refactoring of an item's green commit; `approve` asks a person before it is published."""

    def __init__(
        self,
        tools: PhaseTools,
        status: StatusComments,
        quality_fix: QualityFix,
        retries: int = RETRIES,
    ) -> None:
        self._tools = tools
        self._status = status
        self._quality_fix = quality_fix
        self._retries = retries

    async def refactor(self, held: Held, issue: Issue) -> None:
        """Have the change refactored; keep the commit before if no attempt is good."""
        work = await self._tools.open(held, issue)
        start = held.fence.work_head
        green = dict(await next_phase.phases(self._tools, work)).get(start)
        if green is None:
            raise NothingToConfirm
        before = await self._tools.test_runs.of(work, start)
        refused: tuple[str, ...] = ()
        for retry in range(self._retries + 1):
            turn = Attempt(round=held.fence.round, retry=retry)
            prompt = await self._prompt(work, start, refused)
            tree = await self._tools.edit(work, CoderCall.REFACTOR, start, turn, prompt)
            held.check()
            if not await work.space.changes(start, tree):
                await self._keep_green(work, green, NoteError("", NOTHING))
                return
            refused = await self._problems(work, start, tree, before)
            if not refused:
                await self._record(work, green, tree)
                return
        error = undone(ErrorType.REGRESSION, BROKE, refused, self._retries + 1, held.server_now())
        await self._keep_green(work, green, error)

    async def wait(self, held: Held, issue: Issue) -> None:
        """Show people the refactoring that they have to decide on."""
        work = await self._tools.open(held, issue)
        phases = await next_phase.phases(self._tools, work)
        before = phases[-2][0] if len(phases) > 1 else work.base
        diff = await work.space.diff(before, held.fence.work_head)
        await self._status.show(issue.number, comments.refactoring_waits(held.fence, excerpt(diff, DIFF_BYTES)), held)

    async def keep(self, held: Held, issue: Issue) -> None:
        """Publish the refactoring after a person has approved it."""
        work, _, (_, note) = await self._waiting_commits(held, issue)
        note = replace(note, next_phase=decide.NextStep.CI)
        await self._tools.phase_commits.amend(work, note, _after_approval())

    async def drop(self, held: Held, issue: Issue) -> None:
        """Publish the commit before the refactoring after a person has declined; its note records that."""
        work, (commit, green), _ = await self._waiting_commits(held, issue)
        error = NoteError(
            "", DECLINED.format(held.fence.approved_by or "a person"), "", 1, held.server_now().isoformat()
        )
        note = replace(green, next_phase=decide.NextStep.CI, rolled_back=(*green.rolled_back, error))
        to = replace(_after_approval(), work_head=commit)
        await self._tools.phase_commits.amend(work, note, to)

    async def _waiting_commits(
        self, held: Held, issue: Issue
    ) -> tuple[WorkContext, tuple[str, Note], tuple[str, Note]]:
        """Return the green commit and the refactoring on top of it, each with its note."""
        work = await self._tools.open(held, issue)
        phases = await next_phase.phases(self._tools, work)
        if len(phases) < 2 or phases[-1][1].phase is not CommitKind.REFACTOR:
            raise NothingToConfirm
        return work, phases[-2], phases[-1]

    async def _problems(self, work: WorkContext, start: str, tree: str, before: TestRun) -> tuple[str, ...]:
        """Return the faults of a refactoring: files outside of the change, tests, then quality commands."""
        changed = {change.path for change in await work.space.changes(start, tree)}
        part = {change.path for change in await work.space.changes(work.base, start)}
        was = await objects.existing(work.space.git, start, sorted(changed))
        touched = sorted(path for path in changed if is_test_file(path))
        strange = sorted(path for path in was if path not in part and path not in touched)
        wrong = [f"{path}: test files must stay as they are in this phase." for path in touched]
        wrong += [f"{path}: it is not part of this change; name the idea, do not carry it out." for path in strange]
        if wrong:
            return tuple(wrong)
        after = await self._tools.test_runs.of(work, tree)
        broken = judge_kept(before, after).details
        return broken or await self._quality_fix.problems(work, start, tree)

    async def _record(self, work: WorkContext, green: Note, tree: str) -> None:
        held = work.held
        run = await self._tools.test_runs.of(work, tree)
        asks = self._tools.policy.code.refactor == "approve"
        cost = self._tools.take_spent(work.issue.number)
        note = Note(
            issue=work.issue.number,
            cycle=green.cycle,
            phase=CommitKind.REFACTOR,
            next_phase=decide.NextStep.REFACTOR if asks else decide.NextStep.CI,
            base=green.base,
            test_result=run.one_line(),
            exit_code=run.code,
            attempts=green.attempts,
            cost_usd=cost.usd,
            cost_source=cost.source,
            quality=await self._quality_fix.results(work, tree),
            summary=change_summary.of_coder(self._tools.closing_text(held, tree)),
        )
        to = _to_approval() if asks else next_phase.to_ci()
        phased = PhaseCommit(tree, held.fence.work_head, subject(work, "Refactor"), note)
        to = replace(to, base=held.fence.base)
        await self._tools.phase_commits.record(work, phased, to)

    async def _keep_green(self, work: WorkContext, green: Note, error: NoteError) -> None:
        """Keep the green commit; its note records the attempt, and the branch moves to it."""
        note = replace(green, next_phase=decide.NextStep.CI, rolled_back=(*green.rolled_back, error))
        note = spent(note, self._tools.take_spent(work.issue.number))
        await self._tools.phase_commits.amend(work, note, next_phase.to_ci())

    async def _prompt(self, work: WorkContext, start: str, refused: Sequence[str]) -> str:
        return self._tools.prompt(
            "refactor",
            work,
            diff=Untrusted(excerpt(await work.space.diff(work.base, start), DIFF_BYTES)),
            conventions=work.conventions or "none",
            test_command=work.test_commands,
            failures=Untrusted("\n".join(refused) or "none so far"),
        )


def _to_approval() -> FenceChange:
    stage = move(Track.SPECIFICATION, Stage.IMPLEMENTING, Event.APPROVAL_NEEDED).to
    return FenceChange(stage=stage, phase=decide.NextStep.REFACTOR)


def _after_approval() -> FenceChange:
    stage = move(Track.SPECIFICATION, Stage.AWAITING_APPROVAL, Event.CONFIRMED).to
    return FenceChange(stage=stage, phase=decide.NextStep.CI)
