"""The green phase: an implementation that passes the cycle's tests and breaks nothing, cleaned up and committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from shared.errors import Blocked
from shared.git.notes import Note, NoteError
from shared.lock.fence import advance
from shared.lock.hold import Held
from shared.models import Issue
from shared.prompts import Untrusted
from worker_agent import comments
from worker_agent.aborts import CycleAborted
from worker_agent.briefing import criteria
from worker_agent.ports import StatusBoard
from worker_agent.tdd.judging.verdict import ErrorType, GreenVerdict
from worker_agent.tdd.jury import Jury, Red
from worker_agent.tdd.phases import agenda, strategy
from worker_agent.tdd.phases.cleaning import Clean, Cleaning
from worker_agent.tdd.phases.phase_notes import green_note, spent, subject, undone
from worker_agent.tdd.phases.strategy import During
from worker_agent.tdd.runners.report import TestRun
from worker_agent.workshop import Job, Turn, Workshop
from worker_agent.worksite import Phased


@dataclass(frozen=True, slots=True)
class _Failed:
    """The last implementation of an item that was refused: for its note, and for people."""

    error: NoteError
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Made:
    """An implementation whose tests pass."""

    tree: str
    verdict: GreenVerdict


class GreenPhase:
    """Lets code be written; what breaks old tests is asked for again at most `retries` times."""

    def __init__(self, workshop: Workshop, status: StatusBoard, jury: Jury, cleaning: Cleaning, retries: int) -> None:
        self._workshop = workshop
        self._status = status
        self._jury = jury
        self._cleaning = cleaning
        self._retries = retries
        self._failures: dict[int, _Failed] = {}

    async def implement(self, held: Held, issue: Issue, limit: int) -> None:
        """The green phase: one try. A failed try is counted in the fence and told to the next one.

        A change that breaks what worked is asked for again, without counting; raises `CycleAborted`
        when that has not helped.
        """
        job = await agenda.under_way(self._workshop, await self._workshop.open(held, issue))
        noted = dict(await agenda.phases(self._workshop, job)).get(held.fence.work_head)
        baseline = await self._jury.baseline(job)
        start, attempt = held.fence.work_head, held.fence.attempt + 1
        red = await self._jury.red(job, baseline, await agenda.tests(self._workshop, job))
        call = strategy.answer(frozenset({strategy.Red.TESTS}), During.CYCLE).call
        for retry in range(self._retries + 1):
            prompt = self._implementation_prompt(job, f"{attempt} of {limit}", self._failed_before(issue.number, noted))
            tree = await self._workshop.edit(job, call, start, Turn(attempt, retry=retry), prompt)
            held.check()
            verdict = await self._judged(job, baseline, red, tree)
            if verdict.ok:
                return await self._take(job, (baseline, red), _Made(tree, verdict), attempt)
            error, now = verdict.error or ErrorType.IMPLEMENTATION_FAILED, held.server_now()
            what = f"implementation {attempt} was refused and rolled back"
            failed = undone(error, what, verdict.details, retry + 1, now)
            self._failures[issue.number] = _Failed(failed, verdict.details)
            if error is not ErrorType.REGRESSION:
                return await self._count(held, job, noted, limit)
        await self._roll_back(held, job, noted)
        sentence = f"{self._retries + 1} implementations in a row broke what worked."
        raise CycleAborted(ErrorType.REGRESSION, sentence, self._failures[issue.number].details)

    def attempts_used_up(self, held: Held, limit: int) -> Blocked:
        """The error that ends a cycle whose tries are used up."""
        failed = self._failures.get(held.fence.key.number)
        sentence = f"{limit} implementations did not pass the tests."
        details = failed.details if failed else ()
        return CycleAborted(ErrorType.IMPLEMENTATION_FAILED, sentence, details)

    async def _judged(self, job: Job, baseline: TestRun, red: Red, tree: str) -> GreenVerdict:
        refused = await self._jury.refusal(job, job.held.fence.work_head, tree)
        return refused or await self._jury.green(job, baseline, red, tree)

    async def _take(self, job: Job, runs: tuple[TestRun, Red], made: _Made, attempt: int) -> None:
        """An implementation whose tests pass: clean it up, commit it, and go on to what is next."""
        baseline, red = runs
        held, verdict = job.held, made.verdict

        async def wrong(tree: str) -> Sequence[str]:
            nonlocal verdict
            verdict = await self._judged(job, baseline, red, tree)
            return verdict.details if not verdict.ok else ()

        clean = await self._cleaning.cleaned(job, held.fence.work_head, made.tree, wrong, During.CYCLE)
        if not verdict.ok:  # of a try to clean up that was not taken
            verdict = await self._judged(job, baseline, red, clean.tree)
        tested = await self._jury.tested(job, red, clean.tree)
        await self._record_green(held, job, clean, green_note(job, (baseline, red.run, tested), verdict, attempt))

    async def _record_green(self, held: Held, job: Job, clean: Clean, note: Note) -> None:
        number = job.issue.number
        failed = self._failures.pop(number, None)
        note = replace(note, error=failed.error if failed else None, quality=clean.results)
        to = await agenda.afterwards(self._workshop, job, note)
        cost = self._workshop.take_spent(number)
        note = replace(note, next_phase=str(to["phase"]), cost_usd=cost.usd, cost_source=cost.source)
        phased = Phased(clean.tree, held.fence.work_head, subject(job, "Implement"), note)
        to = {"base": held.fence.base, "attempt": note.attempts, **to}
        await self._workshop.worksite.record(held, job.space, phased, job.specification, **to)

    async def _count(self, held: Held, job: Job, noted: Note | None, limit: int) -> None:
        """One attempt more in the fence; the note of the tests says how it ended."""
        await self._roll_back(held, job, noted, attempt=held.fence.attempt + 1)
        details = self._failures[job.issue.number].details
        await self._status.show(job.issue.number, comments.attempt_failed(held.fence, limit, details), held)

    async def _roll_back(self, held: Held, job: Job, noted: Note | None, **to: Any) -> None:
        """The fence's commit stands; its note says what was tried on top of it."""
        if noted is None:
            await advance(held, **to)
            return
        note = spent(noted, self._workshop.take_spent(job.issue.number))
        note = replace(note, rolled_back=(*note.rolled_back, self._failures[job.issue.number].error))
        await self._workshop.worksite.amend(held, job.space, note, job.specification, **to)

    def _failed_before(self, number: int, noted: Note | None) -> str:
        """What was wrong with the last implementation, wherever it was made."""
        earlier = noted.rolled_back[-1] if noted is not None and noted.rolled_back else None
        failed = self._failures.get(number)
        if failed is not None:
            return failed.error.details
        return earlier.details if earlier else ""

    def _implementation_prompt(self, job: Job, attempt: str, failures: str) -> str:
        return self._workshop.prompt(
            "implement",
            job,
            criteria=criteria(job),
            conventions=job.conventions or "none",
            test_command=job.choice.test_command,
            failures=Untrusted(failures or "none so far"),
            attempt=attempt,
        )
