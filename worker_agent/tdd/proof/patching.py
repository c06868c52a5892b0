"""Old tests that pass on the head only because the change's own test side replaces or changes the code under test."""

from __future__ import annotations

from worker_agent.tdd.comparison.model import Comparison
from worker_agent.tdd.proof.affected import readers_of
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.purpose import PurposeKind, RunPurpose
from worker_agent.tdd.runners.test_run import TestRun

SHORT_SECONDS = 60.0
"""A suite that takes no longer is run as far as it names the changed code, however large that part is."""

SHARE = 0.5
"""The largest part of a longer suite's tests that may run once more for this."""

HIDDEN = (
    "{}: it passes on the head only together with {}, which acts on tests that do not mention it. "
    "Keep the behaviour, or let the specification list that file under Tests that may change."
)


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
    run = await subject.head(files, before, purpose=purpose)
    if not run.finished:
        return []
    lost = run.failed & baseline.passed & head.passed
    if lost:  # what fails by itself on the base as well depends on other old tests
        lost &= (await subject.variant(files, {}, purpose=RunPurpose(PurposeKind.OLD_TESTS), on_base=True)).passed
    if lost:  # what fails once may be chance
        lost &= (await subject.head(files, before, purpose=purpose)).failed
    return [HIDDEN.format(test, ", ".join(acting) or "the new tests") for test in sorted(lost)]


def _is_cheap(baseline: TestRun, files: frozenset[str]) -> bool:
    inside = sum(result.file in files for result in baseline.results.values())
    return baseline.seconds <= SHORT_SECONDS or inside <= SHARE * len(baseline.results)
