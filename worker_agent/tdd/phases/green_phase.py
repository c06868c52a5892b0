"""The green phase: an implementation that passes the cycle's tests and breaks nothing, cleaned up and committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shared.errors import Blocked
from shared.git.notes import Note, NoteError
from shared.github.ports import StatusComments
from shared.llm.port import CoderCall
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import Issue
from shared.text import change_summary
from shared.text.prompts import Untrusted
from worker_agent import comments
from worker_agent.errors import CycleAborted
from worker_agent.phase_commits import PhaseCommit
from worker_agent.phase_tools import Attempt, PhaseTools
from worker_agent.tdd.judging.verdict import ErrorType, listed
from worker_agent.tdd.phases import next_phase
from worker_agent.tdd.phases.phase_notes import green_note, spent, subject, undone
from worker_agent.tdd.phases.quality import ANY_TIME, Clean, QualityFix
from worker_agent.tdd.phases.red_phase import tests_prompt
from worker_agent.tdd.proof.examination import Green, Red
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.tdd.tree_verification import TreeVerification
from worker_agent.work_context import WorkContext

STRENGTHENING = 2
"""The most requests for better tests if the code passes and its tests prove nothing."""

_UNPROVEN = "The new tests do not prove the change."
_UNMENDED = {ErrorType.REGRESSION: "The change takes from old tests."}
"""Sentences about tests that are still not good enough after better ones were requested."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """The last implementation of an item that was refused: for its note, and for people."""

    error: NoteError
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Implementation:
    """An implementation as it was judged, with the tests that it was judged by."""

    tree: str
    red: Red
    green: Green
    closing_text: str
    """The coder's words about the change and its reasons."""


class GreenPhase:
    """Has code written; a change that breaks old tests is requested again, at most `retries` times."""

    def __init__(
        self,
        tools: PhaseTools,
        status: StatusComments,
        verification: TreeVerification,
        quality_fix: QualityFix,
        retries: int,
    ) -> None:
        self._tools = tools
        self._status = status
        self._verification = verification
        self._quality_fix = quality_fix
        self._retries = retries

    async def implement(self, held: Held, issue: Issue, limit: int) -> None:
        """Make one attempt. A failed attempt is counted in the fence and told to the next one.

        A change that breaks tests which passed is requested again, without counting; raises `CycleAborted` if that has
        not helped.
        """
        work = await next_phase.under_way(self._tools, await self._tools.open(held, issue))
        tests_note = dict(await next_phase.phases(self._tools, work)).get(held.fence.work_head)
        baseline = await self._verification.baseline(work)
        start, attempt = held.fence.work_head, held.fence.attempt + 1
        red = await self._verification.red(work, baseline, await next_phase.tests(self._tools, work))
        for retry in range(self._retries + 1):
            prompt = self._implementation_prompt(work, f"{attempt} of {limit}", _last_fault(held, tests_note))
            tree = await self._tools.edit(work, CoderCall.IMPLEMENT, start, Attempt(attempt, retry=retry), prompt)
            held.check()
            closing_text = self._tools.closing_text(held, tree)
            implementation = _Implementation(tree, red, await self._judge_tree(work, baseline, red, tree), closing_text)
            implementation = await self._strengthen_tests(work, baseline, implementation)
            verdict = implementation.green.verdict
            if verdict.ok:
                return await self._clean_up_and_commit(work, baseline, implementation, attempt)
            error, now = verdict.error or ErrorType.IMPLEMENTATION_FAILED, held.server_now()
            outcome = f"implementation {attempt} was refused and rolled back"
            refusal = undone(error, outcome, verdict.details, retry + 1, now)
            refused = held.memory.keep(_Refused(refusal, verdict.details))
            if error is not ErrorType.REGRESSION:
                return await self._count_attempt(work, tests_note, refused, limit)
        await self._roll_back(work, tests_note, refused, FenceChange())
        sentence = f"{self._retries + 1} implementations in a row broke what worked."
        raise CycleAborted(ErrorType.REGRESSION, sentence, refused.details)

    def attempts_used_up(self, held: Held, limit: int) -> Blocked:
        """Return the error that ends a cycle whose attempts are used up."""
        refused = held.memory.get(_Refused)
        sentence = f"{limit} implementations did not pass the tests."
        details = refused.details if refused else ()
        return CycleAborted(ErrorType.IMPLEMENTATION_FAILED, sentence, details)

    async def _judge_tree(self, work: WorkContext, baseline: TestRun, red: Red, tree: str) -> Green:
        refused = await self._verification.refusal(work, work.held.fence.work_head, tree)
        return Green(TestRun(), refused) if refused else await self._verification.green(work, baseline, red, tree)

    async def _strengthen_tests(self, work: WorkContext, baseline: TestRun, weak: _Implementation) -> _Implementation:
        """Request better tests for the same code if the tests prove nothing although the code passes them.

        Raises `CycleAborted` if they still prove nothing.
        """
        for retry in range(STRENGTHENING):
            if not weak.green.weak:
                return weak
            head = await work.space.commit(
                weak.tree, (work.held.fence.work_head,), "Tests to be strengthened", ANY_TIME
            )
            topic = " ".join(filter(None, (work.topic, "stronger tests")))
            prompt = tests_prompt(self._tools, work, "\n".join(weak.green.weak))
            tree = await self._tools.edit(
                replace(work, topic=topic), CoderCall.WRITE_TESTS, head, Attempt(retry=retry), prompt
            )
            work.held.check()
            weak = await self._judge_again(work, baseline, weak, tree)
        if not weak.green.weak:
            return weak
        error = weak.green.verdict.error or ErrorType.TEST_UNEXPECTED_PASS
        raise CycleAborted(error, _UNMENDED.get(error, _UNPROVEN), weak.green.weak)

    async def _judge_again(
        self, work: WorkContext, baseline: TestRun, weak: _Implementation, tree: str
    ) -> _Implementation:
        """Judge the same code with other tests, from the base on; keep the old tests if the new ones are no better."""
        stray = await self._verification.non_test_files(work, weak.tree, tree)
        red = await self._verification.red(work, baseline, await self._verification.tests_of(work, tree))
        if stray or not red.verdict.worth_implementing:
            more = listed(f"{path}: only test files may change in this phase." for path in stray) or red.verdict.details
            return replace(weak, green=replace(weak.green, weak=(*weak.green.weak, *more)))
        return _Implementation(tree, red, await self._verification.green(work, baseline, red, tree), weak.closing_text)

    async def _clean_up_and_commit(
        self, work: WorkContext, baseline: TestRun, implementation: _Implementation, attempt: int
    ) -> None:
        """Clean up and commit an implementation whose tests pass, and go on to the next step."""
        held, red, green = work.held, implementation.red, implementation.green

        async def wrong(tree: str) -> Sequence[str]:
            nonlocal green
            green = await self._verification.green(work, baseline, red, tree)
            return green.verdict.details if not green.verdict.ok else ()

        clean = await self._quality_fix.cleaned(work, held.fence.work_head, implementation.tree, wrong)
        if not green.verdict.ok:  # of a try to clean up that was not taken
            green = await self._verification.green(work, baseline, red, clean.tree)
        note = green_note(work, (baseline, red.run, green.run), green.verdict, attempt)
        # the whole suite's runs of refused attempts count as well
        proof = replace(green.proof, suite_runs=self._tools.test_runs.take_suite_runs(work.issue.number))
        note = replace(note, proof=proof, summary=change_summary.of_coder(implementation.closing_text))
        await self._record_green(work, clean, note)

    async def _record_green(self, work: WorkContext, clean: Clean, note: Note) -> None:
        held, number = work.held, work.issue.number
        refused = held.memory.take(_Refused)
        note = replace(note, error=refused.error if refused else None, quality=clean.results)
        to = await next_phase.afterwards(self._tools, work, note)
        cost = self._tools.take_spent(number)
        note = replace(note, next_phase=to.phase or "", cost_usd=cost.usd, cost_source=cost.source)
        phased = PhaseCommit(clean.tree, held.fence.work_head, subject(work, "Implement"), note)
        attempt = note.attempts if to.attempt is None else to.attempt
        to = replace(to, base=held.fence.base, attempt=attempt)
        await self._tools.phase_commits.record(work, phased, to)

    async def _count_attempt(self, work: WorkContext, tests_note: Note | None, refused: _Refused, limit: int) -> None:
        """Count one attempt more in the fence; the note of the tests says how it ended."""
        held = work.held
        await self._roll_back(work, tests_note, refused, FenceChange(attempt=held.fence.attempt + 1))
        comment = comments.attempt_failed(held.fence, limit, refused.details)
        await self._status.show(work.issue.number, comment, held)

    async def _roll_back(self, work: WorkContext, tests_note: Note | None, refused: _Refused, to: FenceChange) -> None:
        """Keep the fence's commit; its note records the attempt made on top of it."""
        if tests_note is None:
            await advance(work.held, to)
            return
        note = spent(tests_note, self._tools.take_spent(work.issue.number))
        note = replace(note, rolled_back=(*note.rolled_back, refused.error))
        await self._tools.phase_commits.amend(work, note, to)

    def _implementation_prompt(self, work: WorkContext, attempt: str, failures: str) -> str:
        return self._tools.prompt(
            "implement",
            work,
            criteria=work.criteria,
            conventions=work.conventions or "none",
            test_command=work.test_commands,
            failures=Untrusted(failures or "none so far"),
            attempt=attempt,
        )


def _last_fault(held: Held, tests_note: Note | None) -> str:
    """Return the fault of the last implementation, on whichever machine it was made."""
    refused = held.memory.get(_Refused)
    if refused is not None:
        return refused.error.details
    return tests_note.rolled_back[-1].details if tests_note is not None and tests_note.rolled_back else ""
