"""Changes to a pull request that is open already: CI repairs and answers to a review."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shared.git.notes import Note, Phase
from shared.llm.port import Call
from shared.lock.hold import Held
from shared.models import CheckOutcome, Issue
from shared.prompts import Untrusted
from shared.text import excerpt
from shared.workflow import Event, Stage, Track, move
from worker_agent import decide
from worker_agent.aborts import CycleAborted
from worker_agent.ci_logs import told
from worker_agent.feedback import Feedback
from worker_agent.ports import Checks
from worker_agent.tdd.files import is_test_file
from worker_agent.tdd.guard import tampering
from worker_agent.tdd.kept import judge_kept
from worker_agent.tdd.old_tests import changes_by_file
from worker_agent.tdd.verdict import ErrorType
from worker_agent.workshop import Job, Turn, Workshop
from worker_agent.worksite import Phased, texts

_Prompt = Callable[[Sequence[str]], str]

LOG_BYTES = 12_000
"""How much of the failing jobs' logs a prompt quotes, tail first."""

TRIES = 3
"""How often one repair is asked for again when its result breaks tests."""


class Repairs:
    """One more change on top of a green commit; every test that passed there must still pass."""

    def __init__(self, workshop: Workshop, checks: Checks, feedback: Feedback) -> None:
        self._workshop = workshop
        self._checks = checks
        self._feedback = feedback

    async def fix_ci(self, held: Held, issue: Issue, fixes: int) -> None:
        """Repair what the failed checks of the current head say."""
        job = await self._workshop.open(held, issue)
        failed = [c for c in await self._checks.of(held.fence.work_head) if c.outcome is CheckOutcome.FAILED]
        said = await told(self._checks, failed, LOG_BYTES)
        diff = excerpt(await job.space.diff(job.base, held.fence.work_head), LOG_BYTES)

        def prompt(problems: Sequence[str]) -> str:
            return self._workshop.prompt(
                "fix_ci", job, log=Untrusted(said), failures=Untrusted(_listed(problems)), diff=Untrusted(diff)
            )

        first = Turn(attempt=fixes + 1, round=held.fence.round)
        await self._change(held, job, Call.FIX_CI, first, f"Fix CI for {issue.title}", prompt)

    async def address_review(self, held: Held, issue: Issue) -> None:
        """Answer every request for changes that stands."""
        job = await self._workshop.open(held, issue)
        findings = await self._feedback.findings(held.fence.pr, held.fence.work_head)

        def prompt(problems: Sequence[str]) -> str:
            told = findings if not problems else f"{findings}\n\nYour last change was refused:\n{_listed(problems)}"
            return self._workshop.prompt(
                "address_review", job, findings=Untrusted(told), conventions=job.conventions or "none"
            )

        first = Turn(round=held.fence.round)
        await self._change(held, job, Call.IMPLEMENT, first, f"Address review of {issue.title}", prompt)

    async def _change(self, held: Held, job: Job, call: Call, first: Turn, subject: str, prompt: _Prompt) -> None:
        """Ask, test, and ask again with what went wrong; then commit and let CI look."""
        start = held.fence.work_head
        before = await self._workshop.test(job, start)
        problems: tuple[str, ...] = ()
        for retry in range(TRIES):
            turn = Turn(first.attempt, first.round, retry)
            tree = await self._workshop.edit(job, call, start, turn, prompt(problems))
            held.check()
            problems = await self._weakened(job, start, tree)
            if not problems:
                after = await self._workshop.test(job, tree)
                problems = judge_kept(before, after, may_change=job.specification.may_change).details
            if not problems:
                cost = self._workshop.take_spent(job.issue.number)
                note = replace(_note(held, job, after.one_line()), cost_usd=cost.usd, cost_source=cost.source)
                stage = move(Track.PULL_REQUEST, Stage.IMPLEMENTING, Event.TESTS_PASSED).to
                to = {"stage": stage, "phase": decide.Phase.CI}
                phased = Phased(tree, start, subject, note)
                await self._workshop.worksite.record(held, job.space, phased, job.specification, **to)
                return
        raise CycleAborted(ErrorType.REGRESSION, f"{TRIES} changes in a row broke what worked.", problems)

    async def _weakened(self, job: Job, start: str, tree: str) -> tuple[str, ...]:
        """What is wrong with a change before any test is run: nothing changed, or old tests touched."""
        changed = {change.path for change in await job.space.changes(start, tree)}
        if not changed:
            return ("Nothing was changed.",)
        specification = job.specification
        before, after = await texts(job.space, start, changed), await texts(job.space, tree, changed)
        tests = {path for path in before if is_test_file(path)} - set(specification.may_change)
        found = changes_by_file({path: before[path] for path in tests}, after)
        tricks = tampering(before, after, specification.may_change, specification.files)
        return (*(sentence for sentences in found.values() for sentence in sentences), *tricks)


def _listed(problems: Sequence[str]) -> str:
    return "\n".join(f"- {problem}" for problem in problems) or "none so far"


def _note(held: Held, job: Job, result: str) -> Note:
    return Note(
        issue=job.issue.number,
        cycle=1,
        phase=Phase.FIX,
        next_phase=decide.Phase.CI,
        base=job.base,
        test_result=result,
        attempts=held.fence.attempt,
    )
