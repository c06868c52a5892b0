"""The examination of one change from red to damage, in the same order for the worker and for `verify`.

Cheap refusals come first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from anyio import to_thread

from shared.git.notes import ProofNote
from shared.pending import Marked
from worker_agent.tdd.judging.duplicates import duplicate_tests
from worker_agent.tdd.judging.judge import Apart, judge_green, judge_red
from worker_agent.tdd.judging.verdict import ErrorType, GreenVerdict, RedVerdict, listed
from worker_agent.tdd.proof import damage_detection, damaged_expectations, endless_tests, old_tests, stability
from worker_agent.tdd.proof.affected import affected_files
from worker_agent.tdd.proof.behaviour_probes import Probe, told_apart, unguarded, untaken, untested
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.execution import NOTHING_OVER, Overlay
from worker_agent.tdd.proof.hooked_tests import hidden_failures, of_hooks
from worker_agent.tdd.proof.old_tests import OldTests
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.proof.unrun_tests import unrun
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestId, TestResult, TestRun

SILENT = (
    "{}: nothing in the change can be damaged, and the test expects nothing that could be: it proves nothing. "
    "Assert on what the changed code returns or does."
)

EXPECTS_NOTHING = (
    "{}: it stays green although what it expects was changed ({}): it checks nothing of the result. "
    "Assert on what the code returns or does."
)

PINNED = (
    "{0}: it controls how tests run (the test command names it, or it configures a runner), so every run takes it from "
    "the base. Put new tests into another file, or let the specification list `{0}` under Tests that may change."
)

UNTESTED = (
    "{0}: no test fails without the change there, nor when every function that changed in it raises. "
    "Test that behaviour, leave the file as it was, or list `{0}` under Files in the specification."
)


@dataclass(frozen=True, slots=True)
class Red:
    """The tests' side of a change on the base, with which the head is compared.

    `files` are the test files that the change concerns; `old` are its effects on old tests.
    """

    run: TestRun
    verdict: RedVerdict
    files: frozenset[str] = frozenset()
    old: OldTests = field(default_factory=OldTests)
    baseline: TestRun = field(default_factory=TestRun)
    """The results of the base's own tests: all of them, or those of `files` if CI runs the rest."""
    waiting: Marked | None = None
    """The pending test of the base that the change activates; None for none."""


@dataclass(frozen=True, slots=True)
class Green:
    """The head as it was judged: its whole run, the verdict, and the notes about it.

    `weak` are tests that prove nothing, and old ones that became weaker: better tests can fix that, no other code can.
    """

    run: TestRun
    verdict: GreenVerdict
    proof: ProofNote = field(default_factory=ProofNote)
    weak: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Alone:
    """The new tests with their cases, their run alone on the head, and those of them that expect something."""

    proven: Mapping[str, tuple[TestId, ...]]
    run: TestRun
    expecting: Collection[str]
    idle: frozenset[str]
    """Tests with checks of which none could be damaged: they may be caught, or never run."""


async def red(subject: ProofSubject, baseline: TestRun, tests_tree: str, *, has_code: bool = False) -> Red:
    """Judge the tests' side of a change on the base; `tests_tree` is the base with only that side changed.

    A test that never ends may be red if the change has its code already (`has_code`), on which it has to end. Before
    that it is refused: no code is paid for a test that may never end on any.
    """
    change = subject.change
    old = await to_thread.run_sync(old_tests.compared, subject)
    files = affected_files(change, old.comparison)
    if old.refusals:
        return Red(TestRun(), RedVerdict(ErrorType.REGRESSION, listed(old.refusals)), files, old)
    present = frozenset(path for path in files if path in change.new or path not in change.changed)
    if subject.rules.local_suite == "changed":
        baseline = await _run_concerned(subject, present)
    laid = Overlay(dict(subject.pinned), _controlled_files(subject, present))
    run = _with_new_modules(change, await subject.run(tests_tree, laid, Selection(present), None))
    if has_code and endless_tests.ended_from_outside(run):
        run = await endless_tests.apart(subject, tests_tree, laid, present, old.comparison, baseline) or run
    repeated = await to_thread.run_sync(duplicate_tests, change.support, change.side(change.tests, head=True))
    verdict = judge_red(baseline, run, files=present, duplicates=repeated, new_dependencies=change.brings_dependencies)
    return Red(run, _naming_pinned(subject, verdict), present, old, baseline)


def _naming_pinned(subject: ProofSubject, verdict: RedVerdict) -> RedVerdict:
    """Return a refusal that also names the changed test files whose changes no run has seen."""
    unseen = sorted(subject.pinned.keys() & subject.change.tests) if verdict.error is not None else ()
    return replace(verdict, details=(*verdict.details, *map(PINNED.format, unseen))) if unseen else verdict


def _controlled_files(subject: ProofSubject, files: Collection[str]) -> tuple[str, ...]:
    """Return the files among which control tests are put: those with tests, or all if no source shows any."""
    new = sorted(path for path in files if path in subject.change.new)
    return tuple(path for path in new if subject.index.holds_tests(path)) or tuple(new)


def _with_new_modules(change: Change, run: TestRun) -> TestRun:
    """Return the run with a missing name for each new file of code and tests that no code of the base includes.

    That is Rust's `mod`. Tests of such a file cannot run before the change: the compiler does not even read them.
    """
    ran = {result.file for result in run.results.values()}
    new = [path for path in change.inline if path not in change.old and path not in ran]
    if not new or not run.finished:
        return run
    missing = {
        path: TestResult(
            path, path, CaseOutcome.ERROR, FailureKind.FIRST_PARTY_IMPORT, "No code of the base takes this file in."
        )
        for path in new
    }
    return replace(run, broken_files={**missing, **run.broken_files})


async def _run_concerned(subject: ProofSubject, files: Collection[str]) -> TestRun:
    """Run the base's own versions of the test files that a change concerns, if CI runs the whole suite."""
    known = frozenset(path for path in files if path in subject.change.old or path not in subject.change.changed)
    return await subject.run(subject.change.base, NOTHING_OVER, Selection(known), None) if known else TestRun()


async def green(subject: ProofSubject, baseline: TestRun, before: Red) -> Green:
    """Judge the head: its suite, then whether the tests notice when it is damaged."""
    if subject.rules.local_suite == "changed":
        baseline = before.baseline
    change = subject.change
    controlled = _controlled_files(subject, before.files)
    chosen = Selection(before.files) if subject.rules.local_suite == "changed" else None
    run = await subject.run(change.head, Overlay(dict(subject.pinned), controlled), chosen, None)
    old = await old_tests.on_head(subject, before.old, before.run)
    verdict, unstable = await _judge_head(subject, baseline, before, run, old)
    note = ProofNote(
        changed_tests=old.changed,
        removed_tests=listed(old.removed),
        unstable=listed(unstable),
        pinned=listed(sorted(subject.pinned)),
        local_suite=subject.rules.local_suite,
    )
    refused = (*old.refusals, *unrun(subject, old.comparison, baseline, run))
    of_tests = refused if verdict.error is None else ()
    if verdict.error is None and not refused:
        refused = tuple(await hidden_failures(subject, old.comparison, baseline, run))
    if verdict.error is None and refused:
        verdict = replace(verdict, error=ErrorType.REGRESSION, details=listed(refused))
    if verdict.error is not None:
        return Green(run, verdict, note, of_tests)
    return await _prove_head(subject, baseline, before, Green(run, verdict, note))


async def _judge_head(
    subject: ProofSubject, baseline: TestRun, before: Red, run: TestRun, old: OldTests
) -> tuple[GreenVerdict, tuple[TestId, ...]]:
    """Return the verdict on the head's run; failing tests are run again, alone, before they count."""

    known = old.known

    def judge(unstable: Collection[TestId]) -> GreenVerdict:
        return judge_green(
            baseline,
            before.run,
            run,
            files=before.files,
            unstable=unstable,
            apart=Apart(
                lambda result: subject.index.of(result) in old.gone,
                lambda result: subject.index.of(result) in known,
                subject.index.holds_tests,
            ),
        )

    judged = await to_thread.run_sync(judge, ())
    blamed = {*judged.failing, *judged.regressions}
    if not blamed or not run.finished:
        return judged, ()
    still = await stability.failing_again(subject, run, blamed)
    flipped = tuple(sorted(blamed - still))
    return (judge(flipped), flipped) if flipped else (judged, ())


async def _prove_head(subject: ProofSubject, baseline: TestRun, before: Red, so_far: Green) -> Green:
    """Run the head again and again: elsewhere, with other expectations, with damaged code."""

    verdict = so_far.verdict
    proven = subject.index.grouped(so_far.run, verdict.proven)
    hollow = await to_thread.run_sync(_without_running, subject)
    if hollow:
        return _refuse(so_far, ErrorType.IMPLEMENTATION_FAILED, hollow)
    whole = max(baseline.seconds, so_far.run.seconds)
    alone = await stability.elsewhere(subject, verdict.proven, whole)
    flipping = await stability.dependent(subject, verdict.proven, alone, whole)
    if flipping:
        sentences = [
            f"{test}: its result depends on {what}; a test must end the same in every run"
            for test, what in flipping.items()
        ]
        return _refuse(so_far, ErrorType.IMPLEMENTATION_FAILED, sentences)
    slow = endless_tests.undecided(baseline, before.run, alone)
    if slow:
        return _refuse_tests(so_far, slow)
    still_green, without = await damaged_expectations.unmoved(subject, proven, alone)
    if still_green:
        return _refuse_tests(so_far, [EXPECTS_NOTHING.format(test, kind) for test, kind in still_green.items()])
    suite_seconds = baseline.seconds + before.run.seconds + so_far.run.seconds
    idle = frozenset(unit for unit in without & proven.keys() if _has_checks(subject, unit))
    found = await damage_detection.noticing(subject, proven, alone, suite_seconds, idle)
    silent = sorted(without & proven.keys()) if not (found.noticed or found.unnoticed) else ()
    if silent:
        return _refuse_tests(so_far, [SILENT.format(test) for test in silent])
    new = _Alone(proven, alone, proven.keys() - without, idle)
    concluded = await _conclude(subject, before, so_far, new, found)
    if concluded.verdict.error is not None:
        return concluded
    return await _with_doubts(subject, before, concluded, new, found)


def _has_checks(subject: ProofSubject, unit: str) -> bool:
    test = subject.index.unit(unit)
    return test is not None and test.checks > 0


async def _with_doubts(
    subject: ProofSubject, before: Red, so_far: Green, run: _Alone, found: damage_detection.Noticed
) -> Green:
    """Add remarks and doubts to the result; they refuse nothing."""
    from worker_agent.tdd.proof import doubts  # grammars are loaded when a head has passed

    probe = Probe(subject, before.files, so_far.run, found)
    beside = await untested(probe)
    simple = await told_apart(probe)
    branches = await untaken(probe, beside.silent)
    presence = await doubts.of_presence(subject, run.proven, run.run, found)
    readers = await doubts.of_readers(subject, run.proven, run.run, found)
    tolerance = await doubts.of_tolerance(subject, run.proven, run.run)
    unclear = (*beside.doubts, *simple, *(one.sentence for one in branches), *await unguarded(probe))
    hooked = await of_hooks(subject, before.old.comparison, run.proven, run.run)
    read = await to_thread.run_sync(doubts.read, subject, run.proven)
    asked = (*read, *unclear, *presence, *doubts.of_unchecked(run.idle, found), *readers, *tolerance, *hooked)
    return replace(
        so_far,
        proof=replace(
            so_far.proof,
            doubts=listed((*so_far.proof.doubts, *asked)),
            remarks=(*so_far.proof.remarks, *beside.sentences),
        ),
    )


def _without_running(subject: ProofSubject) -> list[str]:
    """Return the faults that no run shows: code without effect, that knows its tests, or answers only their inputs."""
    from worker_agent.tdd.damage import (  # grammars are loaded when a head has passed
        answers,
        code_stubs,
        test_awareness,
    )

    change = subject.change
    base, head = change.code_sides
    tests = change.side(change.tests, head=True)
    empty = (f"{name}: it does nothing that could be damaged. Implement it." for name in code_stubs.stubs(base, head))
    return [*empty, *test_awareness.aware(base, head, tests), *answers.answer_tables(base, head, tests)]


async def _conclude(
    subject: ProofSubject,
    before: Red,
    so_far: Green,
    new: _Alone,
    found: damage_detection.Noticed,
) -> Green:
    """Return the result with the findings of the damages for each test and each file."""
    from worker_agent.tdd.proof import doubts  # grammars are loaded when a head has passed

    proven = new.proven
    note = replace(
        so_far.proof,
        damages=found.seen + len(found.silent),
        noticed=found.seen,
        unnoticed=listed(dict.fromkeys(f"{damage.what} in `{damage.path}:{damage.line}`" for damage in found.silent)),
        remarks=("The time for damage was over before every test had noticed some.",) if found.cut_short else (),
    )
    told = replace(so_far, proof=note)
    blind = tuple(sorted(proven.keys() - found.by_unit.keys()))
    if blind and (found.cut_short or (found.untried and 2 * len(blind) <= len(proven))):
        note = replace(note, weak=listed(f"{test}: it noticed none of the damages that were tried" for test in blind))
        told = replace(so_far, proof=note)
        blind = tuple(unit for unit in blind if endless_tests.counts_so(before.run, unit))
        if blind:
            doubtful = listed(endless_tests.UNNOTICED.format(unit) for unit in blind)
            return replace(told, proof=replace(note, doubts=doubtful))
    asked: dict[str, str] = {}
    if blind:
        asked = await doubts.of_blind(subject, proven, new.expecting, new.run, found, before.old.comparison)
    blind = tuple(unit for unit in blind if unit not in asked)
    told = replace(told, proof=replace(told.proof, doubts=tuple(asked.values())))
    if blind and (found.noticed or found.unnoticed):
        return _refuse_tests(told, [_notices_nothing(test, found) for test in blind])
    files = () if found.cut_short else await damage_detection.unnoticed_files(subject, before.files, so_far.run, found)
    alien = [path for path in files if path not in subject.specification.files]
    if alien:
        return _refuse_tests(told, [UNTESTED.format(path) for path in alien])
    return told


def _notices_nothing(test: str, found: damage_detection.Noticed) -> str:
    silent = [damage for damage in found.unnoticed if damage.what not in found.crashes]
    tried = "; ".join(f"{damage.what} in {damage.path}:{damage.line}" for damage in silent[:3])
    if not tried:
        return f"{test}: it only fails when the damaged code crashes. Assert on what the changed code returns or does."
    return (
        f"{test}: it passes although the code was damaged ({tried}). Assert on what the changed code returns or does."
    )


def _refuse(so_far: Green, error: ErrorType, sentences: Collection[str]) -> Green:
    return replace(so_far, verdict=replace(so_far.verdict, error=error, details=listed(sentences)))


def _refuse_tests(so_far: Green, sentences: Collection[str]) -> Green:
    return replace(_refuse(so_far, ErrorType.TEST_UNEXPECTED_PASS, sentences), weak=tuple(sentences))
