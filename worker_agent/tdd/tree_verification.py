"""The examination of the work on one item: its base, the tests on it, the implementation; only committed trees run."""

from __future__ import annotations

from dataclasses import replace

from shared.errors import Misconfigured
from shared.pending import Marked
from worker_agent.errors import CycleAborted
from worker_agent.phase_tools import PhaseTools
from worker_agent.tdd.judging.judge import judge_baseline
from worker_agent.tdd.judging.verdict import ErrorType, GreenVerdict, RedVerdict, listed
from worker_agent.tdd.phases import activation
from worker_agent.tdd.proof import examination, unchanged_behaviour
from worker_agent.tdd.proof.change import Change, load, tree_with_tests
from worker_agent.tdd.proof.examination import Green, Red
from worker_agent.tdd.proof.layout import Layout
from worker_agent.tdd.proof.subject import ProofSubject, Rules
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.work_context import WorkContext

NO_TESTS = "No test file was changed: write the tests of the acceptance criteria first."
NO_FILE = "The coder changed no file: write the tests of the acceptance criteria first."


class TreeVerification:
    """Judges the base, the tests on it, and the implementation of one item."""

    def __init__(self, tools: PhaseTools) -> None:
        self._tools = tools

    async def baseline(self, work: WorkContext) -> TestRun:
        """Return the test run of the base, before anything is paid; raise `CycleAborted` if it cannot be run.

        A program that is not there says something of the machine, not of the issue: raises `Misconfigured`. Where the
        whole suite is left to CI nothing is run yet.
        """
        if self._tools.policy.code.local_suite == "changed":
            return TestRun()
        run = await self._tools.test_runs.of_base(work)
        if run.missing:
            raise Misconfigured(f"test_command: {run.missing}")
        verdict = judge_baseline(run)
        if not verdict.ok:
            sentence = f"The tests of the base commit {work.base[:12]} cannot be run, so nothing was started."
            raise CycleAborted(ErrorType.WORKFLOW_ABORTED, sentence, verdict.details)
        return run

    async def red(self, work: WorkContext, baseline: TestRun, commit_or_tree: str) -> Red:
        """Judge tests on the base: `commit_or_tree` is the base with only its tests' side changed."""
        subject = await self._subject(work, commit_or_tree)
        change = subject.change
        stray = sorted(path for path in change.changed if path not in change.tests and change.layout.is_code(path))
        stray += [path for path, content in change.inline.items() if content != change.new.get(path)]
        if stray:
            sentences = [f"{path}: only test files may change in this phase." for path in stray]
            return Red(TestRun(), RedVerdict(ErrorType.COMPILATION_ERROR, listed(sentences)))
        if not change.tests:
            sentence = NO_TESTS if change.changed else NO_FILE
            return Red(TestRun(), RedVerdict(ErrorType.NO_TEST_WRITTEN, (sentence,)))
        waiting = activation.waiting(change.old, activation.pending_test(work.issue, work.held.claimant))
        settled = replace(subject, change=_without_marker(change, waiting))
        found = await examination.red(settled, baseline, commit_or_tree)
        if found.run.missing:
            raise Misconfigured(f"test_command: {found.run.missing}")
        if waiting is None:
            return found
        known = activation.without_pending_test(baseline, found.run, waiting)
        again = await examination.red(settled, known, commit_or_tree)
        return replace(found, verdict=again.verdict, waiting=waiting)

    async def refusal(self, work: WorkContext, start: str, tree: str) -> GreenVerdict | None:
        """Return the faults of an implementation that are found before any test is run; None if there are none."""
        change = (await self._subject(work, tree, start)).change
        if not change.changed:
            return GreenVerdict(ErrorType.IMPLEMENTATION_FAILED, ("Nothing was changed.",))
        touched = [f"{path}: test files must stay as they are in this phase." for path in sorted(change.tests)]
        return GreenVerdict(ErrorType.IMPLEMENTATION_FAILED, listed(touched)) if touched else None

    async def non_test_files(self, work: WorkContext, start: str, tree: str) -> tuple[str, ...]:
        """Return the files outside of the tests' side that differ between two trees."""
        change = (await self._subject(work, tree, start)).change
        return tuple(sorted(path for path in change.changed if path not in change.tests))

    async def green(self, work: WorkContext, baseline: TestRun, red: Red, tree: str) -> Green:
        """Judge an implementation: the whole suite, then whether the tests notice damage."""
        subject = await self._subject(work, tree)
        known = activation.without_pending_test(baseline, red.run, red.waiting)
        subject = replace(subject, change=_without_marker(subject.change, red.waiting))
        return await examination.green(subject, known, red)

    async def unchanged(self, work: WorkContext, baseline: TestRun, tree: str) -> Green:
        """Judge a change that needs no new test."""
        return await unchanged_behaviour.examined(await self._subject(work, tree), baseline)

    async def tests_of(self, work: WorkContext, tree: str) -> str:
        """Return the base's tree with the tests' side of a head."""
        return await tree_with_tests(work.space, (await self._subject(work, tree)).change)

    async def _subject(self, work: WorkContext, tree: str, start: str = "") -> ProofSubject:
        """Return the subject of a proof: the change from the item's base, or from `start`, to a tree."""
        policy, specification = self._tools.policy, work.specification
        paths = await self._tools.phase_commits.mirror.paths(work.base)
        change = await load(
            work.space, start or work.base, tree, Layout(work.suites, work.rules.code.test_files), paths
        )
        rules = Rules(policy.code.damages, policy.code.old_tests, policy.code.local_suite)
        return ProofSubject.of(change, self._tools.test_runs.for_proof(work), rules, specification)


def _without_marker(change: Change, waiting: Marked | None) -> Change:
    """Return the change without the activated pending test's marker: its removal is no change of an old test."""
    return change.with_old_tests(activation.without_marker(change.old, change.new, waiting))
