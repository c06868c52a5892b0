"""One test-first cycle: red, then green, each judged by machine on committed trees only."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from shared.errors import Blocked
from shared.git.notes import Baseline, Note, Phase
from shared.llm.port import Call
from shared.lock.fence import advance
from shared.lock.hold import Held
from shared.models import Issue
from shared.prompts import Untrusted
from shared.workflow import Event, Stage, Track, move
from worker_agent import comments, decide
from worker_agent.aborts import BranchExists, CycleAborted
from worker_agent.ports import StatusBoard
from worker_agent.tdd.duplicates import duplicate_tests
from worker_agent.tdd.evidence import Proof, proofs
from worker_agent.tdd.files import is_test_file
from worker_agent.tdd.judge import judge_baseline, judge_green, judge_red, unstable_tests
from worker_agent.tdd.old_tests import changes_by_file
from worker_agent.tdd.report import TestRun
from worker_agent.tdd.verdict import ErrorType, GreenVerdict, RedVerdict
from worker_agent.workshop import Job, Turn, Workshop, criteria
from worker_agent.worksite import Phased, texts

RED_RETRIES = 5
"""How often tests that do not compile or collect are asked for again."""


@dataclass(frozen=True, slots=True)
class Red:
    """The red commit as it was judged: what the green one is compared with."""

    run: TestRun
    verdict: RedVerdict
    files: Mapping[str, bytes]


class Cycle:
    """Whole-specification cycles: all criteria's tests first, then the code."""

    def __init__(self, workshop: Workshop, status: StatusBoard) -> None:
        self._workshop = workshop
        self._status = status
        self._failures: dict[int, tuple[str, ...]] = {}

    async def write_tests(self, held: Held, issue: Issue) -> None:
        """The red phase: tests that fail on the base for an accepted reason, committed and noted.

        Raises `CycleAborted` when the base cannot be tested or no acceptable tests were written.
        """
        job = await self._workshop.open(held, issue)
        if not await self._workshop.worksite.is_branch_free(held.fence, job.base):
            raise BranchExists
        baseline = await self._baseline(job)
        refused: tuple[str, ...] = ()
        verdict = RedVerdict(ErrorType.COMPILATION_ERROR, ("nothing was written",))
        for retry in range(RED_RETRIES + 1):
            prompt = self._workshop.prompt(
                "write_tests",
                job,
                criteria=criteria(job),
                conventions=job.conventions or "none",
                test_command=job.choice.test_command,
                refused=Untrusted("\n".join(refused) or "nothing so far"),
            )
            tree = await self._workshop.edit(job, Call.WRITE_TESTS, job.base, Turn(retry=retry), prompt)
            held.check()
            red = await self._judge_red(job, baseline, tree)
            verdict = red.verdict
            if verdict.worth_implementing:
                return await self._record_red(held, job, baseline, red, tree)
            if verdict.error is ErrorType.TEST_UNEXPECTED_PASS:
                break
            refused = verdict.details
        error = verdict.error or ErrorType.COMPILATION_ERROR
        raise CycleAborted(error, _ABORTED.get(error, "No acceptable tests were written."), verdict.details)

    async def implement(self, held: Held, issue: Issue, limit: int) -> None:
        """The green phase: one try. A failed try is counted in the fence and told to the next one."""
        job = await self._workshop.open(held, issue)
        baseline = await self._baseline(job)
        start, attempt = held.fence.work_head, held.fence.attempt + 1
        red = await self._judge_red(job, baseline, start)
        prompt = self._implementation_prompt(job, f"{attempt} of {limit}")
        tree = await self._workshop.edit(job, Call.IMPLEMENT, start, Turn(attempt=attempt), prompt)
        held.check()
        refusal = await self._refusal(job, start, tree)
        verdict = refusal or await self._judge_green(job, baseline, red, tree)
        if not verdict.ok:
            return await self._count(held, issue.number, limit, verdict.details)
        self._failures.pop(issue.number, None)
        runs = (baseline, red.run, await self._workshop.test(job, tree))
        cost = self._workshop.take_spent(issue.number)
        note = replace(_green_note(job, runs, verdict, attempt), cost_usd=cost.usd, cost_source=cost.source)
        phased = Phased(tree, start, f"Implement {issue.title}", note)
        stage = move(Track.SPECIFICATION, Stage.IMPLEMENTING, Event.TESTS_PASSED).to
        to = {"stage": stage, "phase": decide.Phase.CI, "attempt": attempt}
        await self._workshop.worksite.record(held, job.space, phased, job.specification, **to)
        return None

    def attempts_used_up(self, held: Held, limit: int) -> Blocked:
        """The error that ends a cycle whose tries are used up."""
        details = self._failures.get(held.fence.key.number, ())
        sentence = f"{limit} implementations did not pass the tests."
        return CycleAborted(ErrorType.IMPLEMENTATION_FAILED, sentence, details)

    async def _baseline(self, job: Job) -> TestRun:
        """The tests of the base, before anything is paid for."""
        run = await self._workshop.test(job, job.base, "base")
        verdict = judge_baseline(run)
        if not verdict.ok:
            sentence = f"The tests of the base commit {job.base[:12]} cannot be run, so nothing was started."
            raise CycleAborted(ErrorType.WORKFLOW_ABORTED, sentence, verdict.details)
        return run

    async def _judge_red(self, job: Job, baseline: TestRun, commit_or_tree: str) -> Red:
        """Judge tests on the base: `commit_or_tree` is the base with nothing but test files changed."""
        changed = [change.path for change in await job.space.changes(job.base, commit_or_tree)]
        files = await texts(job.space, commit_or_tree, changed)
        stray = [path for path in changed if not is_test_file(path)]
        if stray or not changed:
            why = [f"{path}: only test files may change in this phase." for path in stray] or ["No file was changed."]
            return Red(TestRun(), RedVerdict(ErrorType.COMPILATION_ERROR, tuple(why)), files)
        before = await texts(job.space, job.base, {p for p in await self._base_paths(job) if is_test_file(p)})
        run = await self._workshop.test(job, commit_or_tree)
        verdict = judge_red(
            baseline,
            run,
            changed_files=files.keys(),
            may_change=job.specification.may_change,
            old_test_files_changed=changes_by_file({p: c for p, c in before.items() if p in set(changed)}, files),
            duplicates=duplicate_tests(before, files),
        )
        return Red(run, verdict, files)

    async def _base_paths(self, job: Job) -> tuple[str, ...]:
        return await self._workshop.worksite.mirror.paths(job.base)

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

    async def _refusal(self, job: Job, start: str, tree: str) -> GreenVerdict | None:
        """What is wrong with an implementation before any test is run."""
        changed = [change.path for change in await job.space.changes(start, tree)]
        touched = [f"{path}: test files must stay as they are in this phase." for path in changed if is_test_file(path)]
        if changed and not touched:
            return None
        return GreenVerdict(ErrorType.IMPLEMENTATION_FAILED, tuple(touched) or ("Nothing was changed.",))

    async def _judge_green(self, job: Job, baseline: TestRun, red: Red, tree: str) -> GreenVerdict:
        """Judge an implementation; before an old test counts as broken, the base is asked once more (D13)."""
        green = await self._workshop.test(job, tree)

        def judged(unstable: Collection[str]) -> GreenVerdict:
            files, may = red.files.keys(), job.specification.may_change
            return judge_green(baseline, red.run, green, new_files=files, may_change=may, unstable=unstable)

        verdict = judged(red.verdict.skip)
        if not verdict.regressions:
            return verdict
        again = await self._workshop.test(job, job.base, "base", again=True)
        return judged({*red.verdict.skip, *unstable_tests(baseline, again)})

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
            cost_usd=cost.usd,
            cost_source=cost.source,
        )
        phased = Phased(tree, job.base, f"Add tests for {job.issue.title}", note)
        await self._workshop.worksite.record(held, job.space, phased, job.specification, phase=decide.Phase.GREEN)
        await self._status.show(job.issue.number, comments.tests_written(held.fence, red.verdict.red), held)

    async def _count(self, held: Held, number: int, limit: int, details: tuple[str, ...]) -> None:
        self._failures[number] = details
        await advance(held, attempt=held.fence.attempt + 1)
        await self._status.show(number, comments.attempt_failed(held.fence, limit, details), held)


_ABORTED = {
    ErrorType.TEST_UNEXPECTED_PASS: "Every new test passes without an implementation. Does the behaviour exist already?"
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
        attempts=attempts,
    )


def _counted(run: TestRun) -> Baseline:
    return Baseline(len(run.passed), len(run.failed), run.digest())


def _outcome(run: TestRun, test: str) -> str:
    result = run.results.get(test) or run.broken(test)
    return f"{result.outcome}: {result.first_line}" if result else "absent"
