"""Runs the tests of a job's trees and has them judged: the only place where evidence becomes a verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from shared.pending.marked import Marked
from worker_agent.aborts import CycleAborted
from worker_agent.tdd.judging import stubs_javascript
from worker_agent.tdd.judging.control import neighbour
from worker_agent.tdd.judging.duplicates import duplicate_tests
from worker_agent.tdd.judging.files import is_test_file
from worker_agent.tdd.judging.first_party import first_party
from worker_agent.tdd.judging.guard import tampering
from worker_agent.tdd.judging.hollow import hollowed, without_assertion
from worker_agent.tdd.judging.judge import judge_baseline, judge_green, judge_red, unstable_tests
from worker_agent.tdd.judging.old_tests import changes_by_file
from worker_agent.tdd.judging.stubs import imported, locate, stand_ins
from worker_agent.tdd.judging.verdict import ErrorType, GreenVerdict, RedVerdict, listed
from worker_agent.tdd.phases import activation
from worker_agent.tdd.runners.report import TestRun
from worker_agent.tdd.trial import Extra
from worker_agent.workshop import Job, Workshop
from worker_agent.worksite import texts


@dataclass(frozen=True, slots=True)
class Red:
    """The red commit as it was judged: what the green one is compared with."""

    run: TestRun
    verdict: RedVerdict
    files: Mapping[str, bytes]
    waiting: Marked | None = None
    """The pending test of the base that the issue is about."""


class Jury:
    """Judges the base, the tests on it, and the implementation; every run is of a committed tree."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def baseline(self, job: Job) -> TestRun:
        """The tests of the base, before anything is paid for; raises `CycleAborted` when they cannot be run."""
        run = await self._workshop.test(job, job.base, "base")
        verdict = judge_baseline(run)
        if not verdict.ok:
            sentence = f"The tests of the base commit {job.base[:12]} cannot be run, so nothing was started."
            raise CycleAborted(ErrorType.WORKFLOW_ABORTED, sentence, verdict.details)
        return run

    async def red(self, job: Job, baseline: TestRun, commit_or_tree: str) -> Red:
        """Judge tests on the base: `commit_or_tree` is the base with nothing but test files changed."""
        changed = [change.path for change in await job.space.changes(job.base, commit_or_tree)]
        files = await texts(job.space, commit_or_tree, changed)
        stray = [path for path in changed if not is_test_file(path)]
        if stray or not changed:
            why = [f"{path}: only test files may change in this phase." for path in stray] or ["No file was changed."]
            return Red(TestRun(), RedVerdict(ErrorType.COMPILATION_ERROR, tuple(why)), files)
        paths = await self._workshop.worksite.mirror.paths(job.base)
        before = await texts(job.space, job.base, {path for path in paths if is_test_file(path)})
        waiting = activation.waiting(before, activation.wanted(job.issue, job.held.claimant))
        before = activation.laid(before, files, waiting)
        old = {path: content for path, content in before.items() if path in set(changed)}
        tricks = tampering(old, files, job.specification.may_change)
        if tricks:
            why = ["Tests must leave the test runner alone.", *listed(tricks)]
            return Red(TestRun(), RedVerdict(ErrorType.COMPILATION_ERROR, tuple(why)), files)
        run = await self._workshop.test(job, commit_or_tree, extra=Extra(near=neighbour(files)))
        verdict = judge_red(
            activation.settled(baseline, run, waiting),
            run,
            changed_files=files.keys(),
            may_change=job.specification.may_change,
            old_test_files_changed=changes_by_file(old, files),
            duplicates=duplicate_tests(before, files),
        )
        if verdict.worth_implementing and (waiting is None or waiting.bare):  # a person's own test is taken as it is
            stubbed = await self._with_stand_ins(job, commit_or_tree, files, paths)
            verdict = hollowed(verdict, without_assertion(before, files), stubbed, run)
        return Red(run, verdict, files, waiting)

    async def _with_stand_ins(
        self, job: Job, commit_or_tree: str, files: Mapping[str, bytes], paths: Collection[str]
    ) -> TestRun | None:
        """The new tests where everything of the repository that they miss is there and does nothing; None: all is."""
        modules = imported(files)
        own = first_party((*paths, *job.specification.files))
        there = {path for module in modules if (path := locate(module, paths))}
        laid = stand_ins(modules, own, await texts(job.space, job.base, there), paths)
        laid |= stubs_javascript.stand_ins(files, paths)
        if not laid:
            return None
        return await self._workshop.test(job, commit_or_tree, extra=Extra(files=laid))

    async def refusal(self, job: Job, start: str, tree: str) -> GreenVerdict | None:
        """What is wrong with an implementation before any test is run."""
        changed = [change.path for change in await job.space.changes(start, tree)]
        touched = [f"{path}: test files must stay as they are in this phase." for path in changed if is_test_file(path)]
        if not changed:
            return GreenVerdict(ErrorType.IMPLEMENTATION_FAILED, ("Nothing was changed.",))
        before, after = await texts(job.space, start, changed), await texts(job.space, tree, changed)
        specification = job.specification
        tricks = () if touched else tampering(before, after, specification.may_change, specification.files)
        wrong = (*touched, *tricks)
        return GreenVerdict(ErrorType.IMPLEMENTATION_FAILED, listed(wrong)) if wrong else None

    async def green(self, job: Job, baseline: TestRun, red: Red, tree: str) -> GreenVerdict:
        """Judge an implementation; before an old test counts as broken, the base is asked once more."""
        green = await self.tested(job, red, tree)
        baseline = activation.settled(baseline, red.run, red.waiting)

        def judged(unstable: Collection[str]) -> GreenVerdict:
            files, may = red.files.keys(), job.specification.may_change
            return judge_green(baseline, red.run, green, new_files=files, may_change=may, unstable=unstable)

        verdict = judged(red.verdict.skip)
        if not verdict.regressions:
            return verdict
        again = await self._workshop.test(job, job.base, "base", again=True)
        again = activation.settled(again, red.run, red.waiting)
        return judged({*red.verdict.skip, *unstable_tests(baseline, again)})

    async def tested(self, job: Job, red: Red, tree: str) -> TestRun:
        """The tests of a tree that has the cycle's tests, a control among them."""
        return await self._workshop.test(job, tree, extra=Extra(near=neighbour(red.files)))
