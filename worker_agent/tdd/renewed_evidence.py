"""Evidence of a commit that came after the proof: a repair of CI, an answer to a review.

It is renewed, unless only layout, comments and documentation differ: then every run would show the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.git import objects
from shared.git.notes import CommitKind, Note, ProofNote
from shared.specification import SpecificationKind
from worker_agent.errors import CycleAborted
from worker_agent.phase_tools import PhaseTools
from worker_agent.tdd.comparison.same_code import is_same_code
from worker_agent.tdd.judging.verdict import listed
from worker_agent.tdd.phases import next_phase
from worker_agent.tdd.phases.phase_notes import counted, green_note
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.tdd.tree_verification import TreeVerification
from worker_agent.work_context import WorkContext

LOST = "On this later commit the change is not proven any more: {}"


class RenewedEvidence:
    """Judges the whole change once more, from the base that its branch has."""

    def __init__(self, tools: PhaseTools) -> None:
        self._tools = tools
        self._verification = TreeVerification(tools)

    async def added(self, work: WorkContext, tree: str, note: Note) -> Note:
        """Return the note of a commit with its evidence: tests, their results on the base, and the damage tried.

        A lost proof becomes a doubt and refuses nothing: the commit keeps every test. Without tests that can be run on
        the base the note stays as it is.
        """
        base = await _base(self._tools, work)
        if (proven := await self._still_proven(work, base, tree)) is not None:
            return self._with_evidence(note, base, proven, (await self._tools.test_runs.of(work, tree)).code)
        work = replace(work, base=base, criterion=None, topic="")
        await work.space.bring(base)
        try:
            baseline = await self._verification.baseline(work)
        except CycleAborted:
            return note
        found = replace(await self._judge(work, baseline, tree, note), baseline=counted(baseline))
        return self._with_evidence(note, base, found, found.exit_code)

    def _with_evidence(self, note: Note, base: str, found: Note, exit_code: int | None) -> Note:
        runs = self._tools.test_runs.take_suite_runs(note.issue)
        return replace(
            note,
            base=base,
            new_tests=found.new_tests,
            red=found.red,
            green=found.green,
            baseline=found.baseline,
            exit_code=exit_code,
            proof=replace(found.proof or ProofNote(), suite_runs=runs),
        )

    async def _still_proven(self, work: WorkContext, base: str, tree: str) -> Note | None:
        """Return the note of the last proof, if it leaves nothing open and `tree` is the same code on the same base."""
        done = await next_phase.phases(self._tools, work)
        oid, last = next(((oid, note) for oid, note in reversed(done) if note.proof is not None), ("", None))
        if last is None or last.proof is None or last.base != base or last.proof.unnoticed or last.proof.doubts:
            return None
        if not (is_renewed(last) or (last.phase is CommitKind.GREEN and _is_only_cycle(last, done))):
            return None
        changes = await work.space.changes(oid, tree)
        if any((one.status, one.new_mode) != ("M", one.old_mode) for one in changes):
            return None
        paths = [one.path for one in changes]
        before, after = [await objects.existing(work.space.git, one, paths) for one in (oid, tree)]
        same = all(is_same_code(path, before[path], after[path]) for path in paths)
        passed = (await self._tools.test_runs.of(work, tree)).passed
        return last if same and passed >= set(last.new_tests) else None

    async def _judge(self, work: WorkContext, baseline: TestRun, tree: str, note: Note) -> Note:
        if work.specification.kind is not SpecificationKind.FEATURE:
            kept = await self._verification.unchanged(work, baseline, tree)
            proof = kept.proof if kept.verdict.ok else _lost(kept.proof, kept.verdict.details)
            return replace(note, exit_code=kept.run.code, proof=proof)
        red = await self._verification.red(work, baseline, await self._verification.tests_of(work, tree))
        if not red.verdict.worth_implementing:
            return replace(note, proof=_lost(ProofNote(), red.verdict.details))
        green = await self._verification.green(work, baseline, red, tree)
        made = green_note(work, (baseline, red.run, green.run), green.verdict, note.attempts)
        return replace(made, proof=green.proof if green.verdict.ok else _lost(green.proof, green.verdict.details))


def renewed(phases: Sequence[tuple[str, Note]]) -> tuple[str, Note] | None:
    """Return the newest of these commits (oldest first) whose evidence was renewed, with its note."""
    return next(((oid, note) for oid, note in reversed(phases) if is_renewed(note)), None)


def is_renewed(note: Note) -> bool:
    """Return whether a note has evidence of its own on a commit that came after the proof."""
    return note.phase is CommitKind.FIX and note.proof is not None


def _is_only_cycle(last: Note, done: Sequence[tuple[str, Note]]) -> bool:
    """Return whether a cycle was about the whole specification, so that its proof is about the whole change."""
    return not last.current_test and sum(note.phase is CommitKind.GREEN for _, note in done) == 1


async def _base(tools: PhaseTools, work: WorkContext) -> str:
    """Return the commit of the base that the branch is built on: the last one it merged, else its first base."""
    phases = await next_phase.phases(tools, work)
    return next((note.base for _, note in reversed(phases) if note.phase is CommitKind.SYNC), work.base)


def _lost(proof: ProofNote, details: Sequence[str]) -> ProofNote:
    return replace(proof, doubts=listed((*proof.doubts, *(LOST.format(line) for line in details))))
