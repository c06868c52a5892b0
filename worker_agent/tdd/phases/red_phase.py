"""The red phase: tests that fail on the base of their cycle for an accepted reason, committed and noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shared.errors import Blocked
from shared.git.notes import NoteError
from shared.github.ports import StatusComments
from shared.llm.port import CoderCall
from shared.lock.fence import FenceChange
from shared.lock.hold import Held
from shared.models import Issue
from shared.text.prompts import Untrusted
from worker_agent import comments, decide
from worker_agent.errors import CycleAborted
from worker_agent.phase_commits import PhaseCommit
from worker_agent.phase_tools import Attempt, PhaseTools
from worker_agent.tdd.evidence import covered
from worker_agent.tdd.judging.verdict import ErrorType, RedVerdict
from worker_agent.tdd.phases import next_phase, skipped_criteria
from worker_agent.tdd.phases.phase_notes import red_note, spent, subject, undone
from worker_agent.tdd.proof.examination import Red
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.tdd.tree_verification import TreeVerification
from worker_agent.work_context import WorkContext


@dataclass(frozen=True, slots=True)
class _Written:
    """Tests that are worth implementing; `refused` is the error of the attempt before them."""

    tree: str
    baseline: TestRun
    red: Red
    refused: NoteError | None
    closing_text: str
    """The coder's words about the criterion of each test."""


class RedPhase:
    """Has tests written until they prove something; they are requested again at most `retries` times."""

    def __init__(self, tools: PhaseTools, status: StatusComments, verification: TreeVerification, retries: int) -> None:
        self._tools = tools
        self._status = status
        self._verification = verification
        self._retries = retries

    async def write_tests(self, held: Held, issue: Issue) -> tuple[str, ...]:
        """Write tests that fail on the base for an accepted reason; commit and note them.

        Returns the parts that were set aside as problematic: new tests, and criteria of which no test could be taken.
        Raises `CycleAborted` if the base cannot be tested or no acceptable tests were written.
        """
        work = await next_phase.open_first(self._tools, held, issue)
        before = {id: _no_tests(error) for id, error in skipped_criteria.recorded(held.fence).items()}
        aside = {id: str(aborted) for id, aborted in before.items()}
        reason = next(reversed(before.values()), None)
        for cycle in await next_phase.upcoming(self._tools, work):
            try:
                written = await self._write_acceptable_tests(cycle)
            except CycleAborted as aborted:
                if cycle.criterion is None or aborted.error not in _SKIPPED:
                    raise
                aside[cycle.criterion.id], reason = str(aborted), aborted
                await skipped_criteria.record(held, cycle.criterion.id, aborted.error)
                continue
            await self._record_red(work.base, cycle, written, aside)
            return (*written.red.verdict.skip, *aside)
        return await self._go_on_without_tests(work, aside, reason)

    async def _write_acceptable_tests(self, work: WorkContext) -> _Written:
        """Return tests of one cycle that are worth implementing; raise `CycleAborted` if there are none."""
        baseline = await self._verification.baseline(work)
        verdict = RedVerdict(ErrorType.NO_TEST_WRITTEN, ("nothing was written",))
        refused: NoteError | None = None
        for retry in range(self._retries + 1):
            prompt = tests_prompt(self._tools, work, refused.details if refused else "nothing so far")
            tree = await self._tools.edit(work, CoderCall.WRITE_TESTS, work.base, Attempt(retry=retry), prompt)
            work.held.check()
            red = await self._verification.red(work, baseline, tree)
            verdict = red.verdict
            if verdict.worth_implementing:
                return _Written(tree, baseline, red, refused, self._tools.closing_text(work.held, tree))
            error, now = verdict.error or ErrorType.NO_TEST_WRITTEN, work.held.server_now()
            refused = undone(error, "tests before these were refused", verdict.details, retry + 1, now)
            if error in _SKIPPED and not verdict.vacuous:
                break
        error = verdict.error or ErrorType.NO_TEST_WRITTEN
        if verdict.vacuous:
            raise CycleAborted(error, _NO_TESTS, verdict.details)
        raise _no_tests(error, verdict.details)

    async def _record_red(self, base: str, work: WorkContext, written: _Written, aside: Mapping[str, str]) -> None:
        """Record the tests of a cycle; `base` is the commit on which the whole item is built."""
        held, red, cost = work.held, written.red, self._tools.take_spent(work.issue.number)
        note = red_note(work, written.baseline, red, written.refused, aside)
        note = replace(note, cost_usd=cost.usd, cost_source=cost.source)
        ids = [criterion.id for criterion in work.specification.criteria]
        note = replace(note, covers=covered(written.closing_text, note.new_tests, ids))
        phased = PhaseCommit(written.tree, work.base, subject(work, "Add tests for"), note)
        to = FenceChange(phase=decide.NextStep.GREEN, base=base, more=skipped_criteria.forgotten(held.fence))
        await self._tools.phase_commits.record(work, phased, to)
        comment = comments.tests_written(
            held.fence, red.verdict.red, _reasons_left_out(red.verdict, aside), note.current_test, work.pictures.unseen
        )
        await self._status.show(work.issue.number, comment, held)

    async def _go_on_without_tests(
        self, work: WorkContext, aside: Mapping[str, str], reason: Blocked | None
    ) -> tuple[str, ...]:
        """Go on with the green criteria if no other has acceptable tests; raise if none is green."""
        held = work.held
        noted = dict(await next_phase.phases(self._tools, work)).get(held.fence.work_head)
        if noted is None:
            await skipped_criteria.forget(held)
            raise reason or CycleAborted(ErrorType.TEST_UNEXPECTED_PASS, _NO_TESTS)
        to = await next_phase.afterwards(self._tools, work)
        to = replace(to, more=skipped_criteria.forgotten(held.fence))
        note = replace(noted, set_aside={**noted.set_aside, **aside}, next_phase=to.phase or "")
        note = spent(note, self._tools.take_spent(work.issue.number))
        await self._tools.phase_commits.amend(work, note, to)
        return tuple(aside)


def tests_prompt(tools: PhaseTools, work: WorkContext, refused: str) -> str:
    """Return the request for tests; `refused` are the faults of the tests before."""
    return tools.prompt(
        "write_tests",
        work,
        criteria=work.criteria,
        conventions=work.conventions or "none",
        test_command=work.test_commands,
        refused=Untrusted(refused),
    )


_SKIPPED = frozenset({ErrorType.TEST_UNEXPECTED_PASS, ErrorType.DUPLICATE_TEST})
"""Errors whose tests are set aside and not requested again; without other tests there is nothing to implement."""

_NO_TESTS = "No acceptable tests were written."
_ABORTED = {
    ErrorType.NO_TEST_WRITTEN: "The coder wrote no test.",
    ErrorType.TEST_UNEXPECTED_PASS: (
        "Every new test passes without an implementation. Does the behaviour exist already?"
    ),
    ErrorType.DUPLICATE_TEST: "Every new test repeats another. Does the behaviour exist already?",
}


def _no_tests(error: ErrorType, details: tuple[str, ...] = ()) -> CycleAborted:
    """Return the error of a cycle without acceptable tests; of one of an earlier lease the fence keeps no details."""
    return CycleAborted(error, _ABORTED.get(error, _NO_TESTS), details)


def _reasons_left_out(verdict: RedVerdict, criteria: Mapping[str, str]) -> Sequence[str]:
    """Return the tests and criteria that were not taken and the reasons, for people."""
    tests = verdict.details if verdict.skip else ()
    return (*(f"{criterion}: {reason}" for criterion, reason in criteria.items()), *tests)
