"""The notes of phases, from the runs that prove them (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from shared.git.notes import Baseline, CommitKind, Note, NoteError
from shared.pending.mark import TITLE
from worker_agent.decide import NextStep
from worker_agent.phase_tools import Cost
from worker_agent.tdd.evidence import proofs
from worker_agent.tdd.judging.verdict import ErrorType, GreenVerdict, RedVerdict
from worker_agent.tdd.proof.examination import Red
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.work_context import WorkContext


def phase_note(work: WorkContext, phase: CommitKind, next_phase: NextStep, run: TestRun) -> Note:
    """Return what the notes of all phases of a cycle have: its criterion and base, and the run that ended the phase."""
    return Note(
        issue=work.issue.number,
        cycle=work.cycle,
        phase=phase,
        next_phase=next_phase,
        base=work.base,
        current_test=work.criterion.id if work.criterion else "",
        test_result=run.one_line(),
        exit_code=run.code,
    )


def red_note(
    work: WorkContext, baseline: TestRun, red: Red, refused: NoteError | None, aside: Mapping[str, str]
) -> Note:
    """Return the note of red tests; `refused` is the last attempt before them, `aside` criteria left out."""
    return replace(
        phase_note(work, CommitKind.RED, NextStep.GREEN, red.run),
        new_tests=red.verdict.red,
        red={test: _outcome(red.run, test) for test in red.verdict.red},
        baseline=counted(baseline),
        error=_set_aside_error(red.verdict, refused),
        set_aside=aside,
    )


def green_note(work: WorkContext, runs: tuple[TestRun, TestRun, TestRun], verdict: GreenVerdict, attempts: int) -> Note:
    """Return the note of a green commit, from the runs of the base, the red commit and the implementation."""
    baseline, red, green = runs
    rows = proofs(red, green, verdict.proven)
    return replace(
        phase_note(work, CommitKind.GREEN, NextStep.CI, green),
        new_tests=verdict.proven,
        red={row.test: ": ".join(filter(None, (row.red, row.red_message))) for row in rows},
        green={row.test: row.green for row in rows},
        baseline=counted(baseline),
        attempts=attempts,
    )


def undone(error: ErrorType, message: str, details: Sequence[str], count: int, at: datetime) -> NoteError:
    """Return the error of an attempt that was rolled back to the commit before it; `count` is its number."""
    return NoteError(error, message, "\n".join(details), count, at.isoformat())


def spent(note: Note, cost: Cost) -> Note:
    """Return the note with the cost since then added; unknown as soon as one of both is."""
    if not cost.source:
        return note
    if note.cost_usd is None or cost.usd is None:
        return replace(note, cost_usd=None, cost_source="unknown")
    sources = ", ".join(sorted({*note.cost_source.split(", "), *cost.source.split(", ")}))
    return replace(note, cost_usd=note.cost_usd + cost.usd, cost_source=sources)


def subject(work: WorkContext, verb: str) -> str:
    """Return the first line of a phase's commit: `Implement <title>`, with the cycle's criterion."""
    about = f" ({work.criterion.id})" if work.criterion else ""
    return f"{verb} {work.issue.title.removeprefix(TITLE)}{about}"


def counted(run: TestRun) -> Baseline:
    """Return the counts of passed and failed tests before the change."""
    return Baseline(len(run.passed), len(run.failed), run.digest())


def _outcome(run: TestRun, test: str) -> str:
    result = run.results.get(test) or run.broken(test)
    return f"{result.outcome}: {result.first_line}" if result else "absent"


def _set_aside_error(verdict: RedVerdict, refused: NoteError | None) -> NoteError | None:
    """Return the new tests that were set aside, for note and pull request; else the attempts before."""
    if verdict.error is None:
        return refused
    count, retries = len(verdict.skip), refused.retry_count if refused else 0
    message = f"{count} new test{'s' * (count != 1)} set aside"
    return NoteError(verdict.error, message, "\n".join(verdict.details), retries, refused.timestamp if refused else "")
