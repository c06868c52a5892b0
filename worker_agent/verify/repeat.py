"""Runs the base, the head's tests on the base, the head and damaged heads once more, and has each judged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial

from shared.git.mirror import Mirror
from shared.git.notes import Baseline, ProofNote
from shared.git.workspace import Workspace
from shared.specification import Specification, SpecificationKind
from worker_agent.phase_commits import reader
from worker_agent.policy import SuitePolicy
from worker_agent.tdd.judging.judge import judge_baseline
from worker_agent.tdd.judging.verdict import GreenVerdict, RedVerdict, Verdict
from worker_agent.tdd.phases import activation
from worker_agent.tdd.proof import examination, unchanged_behaviour
from worker_agent.tdd.proof.change import Change, load, tree_with_tests
from worker_agent.tdd.proof.execution import NOTHING_OVER, Execution, Overlay
from worker_agent.tdd.proof.layout import Layout, chosen_suites
from worker_agent.tdd.proof.subject import ProofSubject, Rules, Run
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_bench import TestBench
from worker_agent.tdd.runners.test_run import TestId, TestRun


@dataclass(frozen=True, slots=True)
class Ask:
    """Input of an examination: the commits, the rules for running tests, and the specification's permissions."""

    base: str
    head: str
    suites: tuple[SuitePolicy, ...] = (SuitePolicy(),)
    specification: Specification = field(default_factory=lambda: Specification(""))
    pending: TestId = ""
    """The test that waited on the base, whose activation is no change of an old test; empty for none."""
    rules: Rules = field(default_factory=Rules)
    test_files: tuple[str, ...] = ()
    claimed: Baseline | None = None
    """The claimed test result of the base."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Results: the base, the tests' side on it, the head, and the runs of the damaged head.

    `baselines` are all runs of the base, of which there are two if the first one was not as claimed.
    """

    baselines: tuple[TestRun, ...]
    baseline: Verdict
    red: TestRun = field(default_factory=TestRun)
    red_verdict: RedVerdict = field(default_factory=RedVerdict)
    green: TestRun = field(default_factory=TestRun)
    green_verdict: GreenVerdict = field(default_factory=GreenVerdict)
    proof: ProofNote = field(default_factory=ProofNote)
    needs_tests: bool = True


def counts(run: TestRun) -> tuple[int, int, str]:
    """Return the numbers of passed and failed tests, and the digest of the passed ones, in a claim's form."""
    return len(run.passed), len(run.failed), run.digest()


class Repeat:
    """One examination in a clone of its own; `mirror` and `space` hold nothing but what was fetched for it."""

    def __init__(self, mirror: Mirror, space: Workspace, bench: TestBench, ask: Ask) -> None:
        self._mirror = mirror
        self._space = space
        self._bench = bench
        self._ask = ask
        self._whole = 0

    async def examined(self) -> Repeated:
        """Run everything again; raise `Misconfigured` if no test can be started."""
        ask = self._ask
        await self._space.bring(ask.base)
        await self._space.bring(ask.head)
        paths = await self._mirror.paths(ask.base)
        suites = chosen_suites(ask.suites, paths, await reader(self._space, ask.base, paths))
        layout = Layout(suites, ask.test_files)
        change = await self._change(layout, paths)
        announced = tuple(path for path in (*ask.specification.files, *change.new) if layout.is_code(path))
        bench = self._bench.based(partial(self._space.export, ask.base))
        execution = Execution(bench, suites, self._space, announced)
        subject = ProofSubject.of(change, self._count_runs(execution.run), ask.rules, ask.specification)
        seen = await self._judge(subject)
        return replace(seen, proof=replace(seen.proof, suite_runs=self._whole))

    def _count_runs(self, run: Run) -> Run:
        """Return `run`, with runs of a whole suite counted."""

        async def counted(tree: str, over: Overlay, chosen: Selection | None, deadline: float | None) -> TestRun:
            self._whole += chosen is None
            return await run(tree, over, chosen, deadline)

        return counted

    async def _judge(self, subject: ProofSubject) -> Repeated:
        bases = await self._bases(subject)
        first, sound = bases[0], judge_baseline(bases[0])
        if not sound.ok:
            return Repeated(bases, sound)
        change = subject.change
        if self._ask.specification.kind is not SpecificationKind.FEATURE:
            kept = await unchanged_behaviour.examined(subject, first)
            green, verdict, proof = kept.run, kept.verdict, kept.proof
            return Repeated(bases, sound, green=green, green_verdict=verdict, proof=proof, needs_tests=False)
        before = await examination.red(subject, first, await tree_with_tests(self._space, change), has_code=True)
        waiting = activation.waiting(change.old, self._ask.pending)
        first = activation.without_pending_test(first, before.run, waiting)
        if not before.verdict.worth_implementing:
            return Repeated(bases, sound, before.run, before.verdict)
        found = await examination.green(subject, first, before)
        return Repeated(bases, sound, before.run, before.verdict, found.run, found.verdict, found.proof)

    async def _bases(self, subject: ProofSubject) -> tuple[TestRun, ...]:
        """Return the run of the base, and a second one if it is not as claimed."""
        if self._ask.rules.local_suite == "changed":
            return (TestRun(),)
        first = await subject.run(self._ask.base, NOTHING_OVER, None, None)
        claimed = self._ask.claimed
        if claimed is None or counts(first) == (claimed.passed, claimed.failed, claimed.ids_sha):
            return (first,)
        return (first, await subject.run(self._ask.base, Overlay(again=1), None, None))

    async def _change(self, layout: Layout, paths: Collection[str]) -> Change:
        change = await load(self._space, self._ask.base, self._ask.head, layout, paths)
        waiting = activation.waiting(change.old, self._ask.pending)
        if waiting is None:
            return change
        return change.with_old_tests(activation.without_marker(change.old, change.new, waiting))
