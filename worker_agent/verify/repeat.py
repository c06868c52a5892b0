"""Runs the base, the head's tests on the base, and the head once more, and has each judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from shared.git.mirror import Mirror
from shared.git.output import fields, joined
from shared.git.workspace import Workspace
from shared.pending.marked import Marked
from shared.specification import Specification
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
from worker_agent.tdd.judging.verdict import GreenVerdict, RedVerdict, Verdict
from worker_agent.tdd.phases import activation
from worker_agent.tdd.runners.registry import choose
from worker_agent.tdd.runners.report import TestId, TestRun
from worker_agent.tdd.runners.run import TestBench
from worker_agent.tdd.trial import Extra, Trial
from worker_agent.workshop import RUNNER_FILES
from worker_agent.worksite import texts


@dataclass(frozen=True, slots=True)
class Ask:
    """Which commits, how their tests are run, and what the specification allows.

    `test_command` and `test_report` as in the configuration; None means detected.
    """

    base: str
    head: str
    test_command: str | None = None
    test_report: str | None = None
    specification: Specification = field(default_factory=lambda: Specification(""))
    pending: TestId = ""
    """The test that waited on the base, whose activation is no change of an old test; empty for none."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """What was seen. `baselines` are all runs of the base, of which there are two when something differed."""

    baselines: tuple[TestRun, ...]
    baseline: Verdict
    red: TestRun = field(default_factory=TestRun)
    red_verdict: RedVerdict = field(default_factory=RedVerdict)
    green: TestRun = field(default_factory=TestRun)
    green_verdict: GreenVerdict = field(default_factory=GreenVerdict)
    tampering: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Change:
    """What differs between the two commits: files of the base and of the head, as far as a judge asks for them."""

    paths: Collection[str]
    changed: frozenset[str]
    old: Mapping[str, bytes]
    new: Mapping[str, bytes]
    planned: Collection[str] = ()
    waiting: Marked | None = None

    @property
    def announced(self) -> tuple[str, ...]:
        """The files that are the repository's own although the base does not have them yet."""
        return (*self.planned, *self.new)

    @property
    def tests(self) -> dict[str, bytes]:
        """The test files that the head added or changed."""
        return {path: content for path, content in self.new.items() if is_test_file(path)}

    @property
    def old_tests(self) -> dict[str, bytes]:
        """All test files of the base."""
        return {path: content for path, content in self.old.items() if is_test_file(path)}


class Repeat:
    """One examination in a clone of its own; `mirror` and `space` hold nothing but what was fetched for it."""

    def __init__(self, mirror: Mirror, space: Workspace, bench: TestBench, ask: Ask) -> None:
        self._mirror = mirror
        self._space = space
        self._bench = bench
        self._ask = ask

    async def examined(self) -> Repeated:
        """Everything again, at most five runs of the tests; raises `Misconfigured` when none can be started."""
        ask = self._ask
        await self._space.bring(ask.base)
        await self._space.bring(ask.head)
        change = await self._change()
        choice = choose(ask.test_command, ask.test_report, change.paths, change.old.get)
        bench = self._bench.based(partial(self._space.export, ask.base))
        trial = Trial(bench, choice, self._space, first_party(change.announced))
        first = await trial.run(ask.base, "base")
        sound = judge_baseline(first)
        if not sound.ok:
            return Repeated((first,), sound)
        red, verdict = await self._red(trial, first, change)
        runs, green, judged = await self._green(trial, first, change, (red, verdict))
        may, planned = ask.specification.may_change, ask.specification.files
        before = {path: content for path, content in change.old.items() if path in change.changed}
        return Repeated(runs, sound, red, verdict, green, judged, tampering(before, change.new, may, planned))

    async def _change(self) -> _Change:
        ask = self._ask
        paths = await self._mirror.paths(ask.base)
        changed = frozenset(change.path for change in await self._space.changes(ask.base, ask.head))
        wanted = {path for path in paths if path in changed or path in RUNNER_FILES or is_test_file(path)}
        old, new = await texts(self._space, ask.base, wanted), await texts(self._space, ask.head, changed)
        waiting = activation.waiting(old, ask.pending)
        return _Change(paths, changed, activation.laid(old, new, waiting), new, ask.specification.files, waiting)

    async def _red(self, trial: Trial, first: TestRun, change: _Change) -> tuple[TestRun, RedVerdict]:
        tree, tests, before = await self._with_tests(), change.tests, change.old_tests
        red = await trial.run(tree, extra=Extra(near=neighbour(tests)))
        touched = {path: content for path, content in before.items() if path in change.changed}
        verdict = judge_red(
            activation.settled(first, red, change.waiting),
            red,
            changed_files=tests.keys(),
            may_change=self._ask.specification.may_change,
            old_test_files_changed=changes_by_file(touched, tests),
            duplicates=duplicate_tests(before, tests),
        )
        if not verdict.worth_implementing or (change.waiting is not None and not change.waiting.bare):
            return red, verdict
        laid = await self._stand_ins(change)
        stubbed = await trial.run(tree, extra=Extra(files=laid)) if laid else None
        return red, hollowed(verdict, without_assertion(before, tests), stubbed, red)

    async def _green(
        self, trial: Trial, first: TestRun, change: _Change, judged_red: tuple[TestRun, RedVerdict]
    ) -> tuple[tuple[TestRun, ...], TestRun, GreenVerdict]:
        (red, verdict), files = judged_red, change.tests.keys()
        green = await trial.run(self._ask.head, extra=Extra(near=neighbour(files)))

        known = activation.settled(first, red, change.waiting)

        def judged(unstable: Collection[str]) -> GreenVerdict:
            may = self._ask.specification.may_change
            return judge_green(known, red, green, new_files=files, may_change=may, unstable=unstable)

        found = judged(verdict.skip)
        if not found.regressions:
            return (first,), green, found
        again = await trial.run(self._ask.base, "base")
        flipping = unstable_tests(known, activation.settled(again, red, change.waiting))
        return (first, again), green, judged({*verdict.skip, *flipping})

    async def _stand_ins(self, change: _Change) -> dict[str, bytes]:
        """Files that let everything first-party exist which the tests ask for, and do nothing."""
        tests, paths = change.tests, change.paths
        modules = imported(tests)
        there = {path for module in modules if (path := locate(module, paths))}
        own = first_party((*paths, *change.announced))
        laid = stand_ins(modules, own, await texts(self._space, self._ask.base, there), paths)
        return laid | stubs_javascript.stand_ins(tests, paths)

    async def _with_tests(self) -> str:
        """The base's tree with every test file as the head has it, deleted ones gone."""
        git, ask = self._space.git, self._ask
        verb = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", ask.base, ask.head, "--")
        found = fields((await git.run(*verb)).stdout)
        rows = [(raw.split(" "), path) for raw, path in zip(found[0::2], found[1::2], strict=True)]
        entries = [f"{raw[1]} {raw[3]}\t{path}" for raw, path in rows if is_test_file(path)]
        index = self._space.root / "verify.index"
        await git.run("read-tree", ask.base, index=index)
        await git.run("update-index", "-z", "--index-info", stdin=joined(entries), index=index)
        return (await git.run("write-tree", index=index)).text
