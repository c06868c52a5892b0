"""The proof of changes that need no new test: refactorings, documents, removals and the like keep old behaviour."""

from __future__ import annotations

from dataclasses import replace

from shared.git.notes import ProofNote
from shared.specification import SpecificationKind
from worker_agent.tdd.judging.judge import judge_baseline, judge_kept
from worker_agent.tdd.judging.verdict import ErrorType, GreenVerdict, Verdict, listed
from worker_agent.tdd.proof import old_tests, stability
from worker_agent.tdd.proof.affected import readers_of
from worker_agent.tdd.proof.examination import Green
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.old_tests import OldTests
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import PurposeKind, RunPurpose, TestRun


async def examined(subject: ProofSubject, baseline: TestRun) -> Green:
    """Judge whether every test that passed on the base still does, and the other rules of the specification's kind."""
    old = old_tests.compared(subject)
    if wrong := (*old.refusals, *_out_of_kind(subject)):
        return Green(TestRun(), GreenVerdict(ErrorType.REGRESSION, listed(wrong)))
    run = await subject.run(subject.change.head, Overlay(dict(subject.pinned)), None, None)
    old = await old_tests.on_head(subject, old, TestRun())
    verdict, flipped = await _judge_old_tests(subject, baseline, run, old)
    proof = ProofNote(
        changed_tests=old.changed,
        removed_tests=listed(old.removed),
        unstable=listed(flipped),
        pinned=listed(sorted(subject.pinned)),
        remarks=(f"The specification is of the kind {subject.specification.kind}: no new test is asked for.",),
    )
    if verdict.ok and old.refusals:
        verdict = Verdict(ErrorType.REGRESSION, listed(old.refusals))
    green = Green(run, GreenVerdict(verdict.error, verdict.details), proof)
    return await _check_refactoring(subject, baseline, green) if verdict.ok else green


async def _judge_old_tests(
    subject: ProofSubject, baseline: TestRun, run: TestRun, old: OldTests
) -> tuple[Verdict, tuple[str, ...]]:
    """Return the verdict on old tests, and those that flipped; failing ones are run again, alone, before they count."""
    sound = judge_baseline(run)
    if not sound.ok:
        return Verdict(ErrorType.IMPLEMENTATION_FAILED, sound.details), ()
    gone = {test for test in baseline.passed if subject.index.of(baseline.results[test]) in old.gone}
    before = replace(baseline, results={t: r for t, r in baseline.results.items() if t not in gone})
    verdict = judge_kept(before, run)
    lost = before.passed - run.passed
    if verdict.ok or not lost:
        return verdict, ()
    still = await stability.failing_again(subject, run, lost)
    flipped = tuple(sorted(lost - still))
    stable = replace(before, results={t: r for t, r in before.results.items() if t not in flipped})
    return judge_kept(stable, run), flipped


async def _check_refactoring(subject: ProofSubject, baseline: TestRun, green: Green) -> Green:
    """Check a refactoring: tests that failed without the base's code must also fail without the head's."""
    if subject.specification.kind is not SpecificationKind.REFACTORING:
        return green
    from worker_agent.tdd.damage.code import of_file

    change = subject.change
    code = change.side(change.code, head=True)
    tests = frozenset(result.file for result in baseline.results.values())
    readers = readers_of(change, code) & tests or tests
    proven = subject.index.grouped(
        green.run, [test for test in green.run.passed if green.run.results[test].file in readers]
    )
    asked = {path: loud for path in sorted(code) if (loud := of_file({}, code, path))}
    blind = []
    for number, (path, loud) in enumerate(asked.items(), 1):
        purpose = RunPurpose(PurposeKind.DAMAGE, number, len(asked))
        run = await subject.variant(readers, {path: loud.content}, purpose=purpose)
        if run.finished and not run.broken_files and not (run.failed & {t for ts in proven.values() for t in ts}):
            blind.append(path)
    remarks = tuple(f"No test fails when the moved code of `{path}` raises." for path in blind)
    return replace(green, proof=replace(green.proof, remarks=(*green.proof.remarks, *remarks)))


def _out_of_kind(subject: ProofSubject) -> tuple[str, ...]:
    """Return the code files in a change that must not have any."""
    kind, change = subject.specification.kind, subject.change
    if kind not in {SpecificationKind.DOCUMENTATION, SpecificationKind.CONFIGURATION}:
        return ()
    from worker_agent.tdd.damage.code_changes import changes

    altered = changes(*change.code_sides)
    names = [f"{file.path}:{function.name}" for file in altered for function in file.functions]
    return tuple(
        f"{name}: a change of the kind {kind} leaves code as it is. Take this out, or let the specification say "
        "another kind (feature, refactoring, removal)."
        for name in names
    )
