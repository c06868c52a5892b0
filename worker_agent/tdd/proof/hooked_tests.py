"""Tests that pass only because other test code acts on them from outside: hooks, autouse fixtures, patches."""

from __future__ import annotations

from worker_agent.tdd.comparison.model import Comparison
from worker_agent.tdd.damage.code_edits import shown
from worker_agent.tdd.proof.affected import readers_of
from worker_agent.tdd.proof.damage_detection import SHORT_SECONDS, Units, noticing_of
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import PurposeKind, RunPurpose, TestId, TestRun

SHARE = 0.5
"""The largest part of a long suite's tests that may run once more to see whether the new tests act on old ones."""

HIDDEN = (
    "{}: it passes on the head only together with {}, which acts on tests that do not mention it. "
    "Keep the behaviour, or let the specification list that file under Tests that may change."
)
HOOKED = "{}: it only passes together with `{}` in {}, which acts on tests that do not mention it"


async def of_hooks(subject: ProofSubject, comparison: Comparison, proven: Units, alone: TestRun) -> tuple[str, ...]:
    """Return a sentence for each new test whose expectations fail if such new code is removed from its file.

    One run for each file; code that cannot be removed by itself stays.
    """
    pieces: dict[str, list[str]] = {}
    for hook in comparison.hooks:
        if hook.after and hook.path not in subject.specification.may_change:
            pieces.setdefault(hook.path, []).append(hook.after)
    asked: list[str] = []
    for path, texts in sorted(pieces.items()):
        without = _remove_pieces(subject.change.new.get(path, b""), texts)
        if without is None:
            continue
        files = {test.partition("::")[0] for cases in proven.values() for test in cases}
        run = await subject.variant(files, {path: without}, (), alone.seconds, RunPurpose(PurposeKind.TAKEN_BACK))
        if not run.finished or run.broken_files:
            continue
        failing = {unit for unit in noticing_of(run, proven) if _disagrees(run, proven[unit])}
        asked += [HOOKED.format(unit, shown(_first(texts), 50), path) for unit in sorted(failing)]
    return tuple(asked)


def _remove_pieces(content: bytes, texts: list[str]) -> bytes | None:
    """Return a file without these pieces; None if it is the same, or nothing readable is left."""
    without = content
    for text in texts:
        without = without.replace(text.encode(), b"")
    return None if without == content else without


def _disagrees(run: TestRun, cases: tuple[TestId, ...]) -> bool:
    """Return whether a result differs; a mere crash means that the code is needed for other reasons."""
    return any(test in run.failed and run.results[test].asserted for test in cases)


def _first(texts: list[str]) -> str:
    """Return the line that names such code: of a decorated function its name."""
    lines = [line.strip() for line in texts[0].splitlines()]
    return next((line for line in lines if not line.startswith("@")), lines[0])


async def hidden_failures(subject: ProofSubject, comparison: Comparison, baseline: TestRun, head: TestRun) -> list[str]:
    """Return one sentence for each old test that passes on the head, but not without the change's own tests.

    The old test files that name a changed module run on the head by themselves, with the base's version of files
    that act on tests which do not mention them (a runner's hooks, autouse fixtures, patches at import).
    """
    change, free = subject.change, subject.specification.may_change
    acting = sorted({hook.path for hook in comparison.hooks} - set(free))
    old = {result.file for result in baseline.results.values()} - change.changed
    files = readers_of(change, change.code) & old
    if not files or not (acting or _is_cheap(baseline, files)):
        return []
    before = {path: change.old.get(path) for path in acting}
    purpose = RunPurpose(PurposeKind.TAKEN_BACK)
    run = await subject.variant(files, before, purpose=purpose)
    if not run.finished:
        return []
    lost = run.failed & baseline.passed & head.passed
    if lost:  # what fails by itself on the base as well depends on other old tests
        lost &= (await subject.variant(files, purpose=RunPurpose(PurposeKind.OLD_TESTS), on_base=True)).passed
    if lost:  # what fails once may be chance
        lost &= (await subject.variant(files, before, purpose=purpose)).failed
    return [HIDDEN.format(test, ", ".join(acting) or "the new tests") for test in sorted(lost)]


def _is_cheap(baseline: TestRun, files: frozenset[str]) -> bool:
    inside = sum(result.file in files for result in baseline.results.values())
    return baseline.seconds <= SHORT_SECONDS or inside <= SHARE * len(baseline.results)
