"""One test-first cycle: red, then green, each judged by machine on committed trees only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shared.errors import Blocked
from shared.git.notes import Baseline, Note, NoteError, Phase
from shared.llm.port import Call
from shared.lock.fence import advance
from shared.lock.hold import Held
from shared.models import Issue
from shared.prompts import Untrusted
from shared.workflow import Event, Stage, Track, move
from worker_agent import comments, decide
from worker_agent.aborts import BranchExists, CycleAborted
from worker_agent.ports import StatusBoard
from worker_agent.tdd.evidence import Proof, proofs
from worker_agent.tdd.jury import Jury, Red
from worker_agent.tdd.report import TestId, TestRun
from worker_agent.tdd.verdict import ErrorType, GreenVerdict, RedVerdict
from worker_agent.workshop import Job, Turn, Workshop, criteria
from worker_agent.worksite import Phased


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is repeated when its result is refused for a reason that spends no attempt."""

    tests: int = 5
    """Tests that do not compile, do not collect or prove nothing."""
    regression: int = 5
    """Implementations that break tests which passed before."""


class Cycle:
    """Whole-specification cycles: all criteria's tests first, then the code."""

    def __init__(self, workshop: Workshop, status: StatusBoard, retries: Retries | None = None) -> None:
        self._workshop = workshop
        self._status = status
        self._jury = Jury(workshop)
        self._retries = retries or Retries()
        self._failures: dict[int, tuple[str, ...]] = {}

    async def write_tests(self, held: Held, issue: Issue) -> tuple[TestId, ...]:
        """The red phase: tests that fail on the base for an accepted reason, committed and noted.

        Returns the new tests that were set aside as problematic. Raises `CycleAborted` when the base
        cannot be tested or no acceptable tests were written.
        """
        job = await self._workshop.open(held, issue)
        if not await self._workshop.worksite.is_branch_free(held.fence, job.base):
            raise BranchExists
        baseline = await self._jury.baseline(job)
        verdict = RedVerdict(ErrorType.COMPILATION_ERROR, ("nothing was written",))
        refused: tuple[str, ...] = ()
        for retry in range(self._retries.tests + 1):
            prompt = self._tests_prompt(job, refused)
            tree = await self._workshop.edit(job, Call.WRITE_TESTS, job.base, Turn(retry=retry), prompt)
            held.check()
            red = await self._jury.red(job, baseline, tree)
            verdict, refused = red.verdict, red.verdict.details
            if verdict.worth_implementing:
                await self._record_red(held, job, baseline, red, tree)
                return verdict.skip
            if verdict.error in _SKIPPED and not verdict.hollow:
                break
        error = verdict.error or ErrorType.COMPILATION_ERROR
        sentence = _NO_TESTS if verdict.hollow else _ABORTED.get(error, _NO_TESTS)
        raise CycleAborted(error, sentence, verdict.details)

    async def implement(self, held: Held, issue: Issue, limit: int) -> None:
        """The green phase: one try. A failed try is counted in the fence and told to the next one.

        A change that breaks what worked is asked for again, without counting; raises `CycleAborted`
        when that has not helped.
        """
        job = await self._workshop.open(held, issue)
        baseline = await self._jury.baseline(job)
        start, attempt = held.fence.work_head, held.fence.attempt + 1
        red = await self._jury.red(job, baseline, start)
        for retry in range(self._retries.regression + 1):
            prompt = self._implementation_prompt(job, f"{attempt} of {limit}")
            tree = await self._workshop.edit(job, Call.IMPLEMENT, start, Turn(attempt, retry=retry), prompt)
            held.check()
            verdict = await self._jury.refusal(job, start, tree) or await self._jury.green(job, baseline, red, tree)
            if verdict.ok:
                runs = (baseline, red.run, await self._jury.tested(job, red, tree))
                return await self._record_green(held, job, tree, _green_note(job, runs, verdict, attempt))
            if verdict.error is not ErrorType.REGRESSION:
                return await self._count(held, issue.number, limit, verdict.details)
            self._failures[issue.number] = verdict.details
        sentence = f"{self._retries.regression + 1} implementations in a row broke what worked."
        raise CycleAborted(ErrorType.REGRESSION, sentence, self._failures[issue.number])

    def attempts_used_up(self, held: Held, limit: int) -> Blocked:
        """The error that ends a cycle whose tries are used up."""
        details = self._failures.get(held.fence.key.number, ())
        sentence = f"{limit} implementations did not pass the tests."
        return CycleAborted(ErrorType.IMPLEMENTATION_FAILED, sentence, details)

    def _tests_prompt(self, job: Job, refused: tuple[str, ...]) -> str:
        return self._workshop.prompt(
            "write_tests",
            job,
            criteria=criteria(job),
            conventions=job.conventions or "none",
            test_command=job.choice.test_command,
            refused=Untrusted("\n".join(refused) or "nothing so far"),
        )

    def _implementation_prompt(self, job: Job, attempt: str) -> str:
        return self._workshop.prompt(
            "implement",
            job,
            criteria=criteria(job),
            conventions=job.conventions or "none",
            test_command=job.choice.test_command,
            failures=Untrusted("\n".join(self._failures.get(job.issue.number, ())) or "none so far"),
            attempt=attempt,
        )

    async def _record_green(self, held: Held, job: Job, tree: str, note: Note) -> None:
        refused = self._failures.pop(job.issue.number, ())
        cost = self._workshop.take_spent(job.issue.number)
        error = _refused(refused, note.attempts)
        note = replace(note, cost_usd=cost.usd, cost_source=cost.source, error=error)
        phased = Phased(tree, held.fence.work_head, f"Implement {job.issue.title}", note)
        stage = move(Track.SPECIFICATION, Stage.IMPLEMENTING, Event.TESTS_PASSED).to
        to = {"stage": stage, "phase": decide.Phase.CI, "attempt": note.attempts}
        await self._workshop.worksite.record(held, job.space, phased, job.specification, **to)

    async def _record_red(self, held: Held, job: Job, baseline: TestRun, red: Red, tree: str) -> None:
        cost = self._workshop.take_spent(job.issue.number)
        note = Note(
            issue=job.issue.number,
            cycle=1,
            phase=Phase.RED,
            next_phase=decide.Phase.GREEN,
            base=job.base,
            new_tests=red.verdict.red,
            red={test: _outcome(red.run, test) for test in red.verdict.red},
            baseline=_counted(baseline),
            test_result=red.run.one_line(),
            exit_code=red.run.code,
            error=_left_out(red.verdict),
            cost_usd=cost.usd,
            cost_source=cost.source,
        )
        phased = Phased(tree, job.base, f"Add tests for {job.issue.title}", note)
        await self._workshop.worksite.record(held, job.space, phased, job.specification, phase=decide.Phase.GREEN)
        left_out = red.verdict.details if red.verdict.skip else ()
        told = comments.tests_written(held.fence, red.verdict.red, left_out)
        await self._status.show(job.issue.number, told, held)

    async def _count(self, held: Held, number: int, limit: int, details: tuple[str, ...]) -> None:
        self._failures[number] = details
        await advance(held, attempt=held.fence.attempt + 1)
        await self._status.show(number, comments.attempt_failed(held.fence, limit, details), held)


_SKIPPED = frozenset({ErrorType.TEST_UNEXPECTED_PASS, ErrorType.DUPLICATE_TEST})
"""What is set aside and not asked for again; when nothing else is left, there is nothing to implement."""

_NO_TESTS = "No acceptable tests were written."
_ABORTED = {
    ErrorType.TEST_UNEXPECTED_PASS: (
        "Every new test passes without an implementation. Does the behaviour exist already?"
    ),
    ErrorType.DUPLICATE_TEST: "Every new test repeats another. Does the behaviour exist already?",
}


def _green_note(job: Job, runs: tuple[TestRun, TestRun, TestRun], verdict: GreenVerdict, attempts: int) -> Note:
    """The note of a green commit, from the runs of the base, the red commit and the implementation."""
    baseline, red, green = runs
    rows: tuple[Proof, ...] = proofs(red, green, verdict.proven)
    return Note(
        issue=job.issue.number,
        cycle=1,
        phase=Phase.GREEN,
        next_phase=decide.Phase.CI,
        base=job.base,
        new_tests=verdict.proven,
        red={row.test: ": ".join(filter(None, (row.red, row.red_message))) for row in rows},
        green={row.test: row.green for row in rows},
        baseline=_counted(baseline),
        test_result=green.one_line(),
        exit_code=green.code,
        attempts=attempts,
    )


def _counted(run: TestRun) -> Baseline:
    return Baseline(len(run.passed), len(run.failed), run.digest())


def _outcome(run: TestRun, test: str) -> str:
    result = run.results.get(test) or run.broken(test)
    return f"{result.outcome}: {result.first_line}" if result else "absent"


def _left_out(verdict: RedVerdict) -> NoteError | None:
    """The new tests that were set aside, for the note and, by it, for the pull request."""
    if verdict.error is None:
        return None
    count = len(verdict.skip)
    return NoteError(verdict.error, f"{count} new test{'s' * (count != 1)} set aside", "\n".join(verdict.details))


def _refused(details: tuple[str, ...], attempts: int) -> NoteError | None:
    """The last implementation that was refused before this one."""
    if not details:
        return None
    message = "an implementation before this one was refused"
    return NoteError(ErrorType.IMPLEMENTATION_FAILED, message, "\n".join(details), retry_count=attempts - 1)
