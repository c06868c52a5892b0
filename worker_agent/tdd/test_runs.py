"""The test runs of trees, in clean checkouts: no tree twice while its item is in work, a base once on a machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import structlog
from anyio import to_thread
from pydantic import TypeAdapter, ValidationError

from shared.newest import Newest
from worker_agent.phase_commits import PhaseCommits
from worker_agent.tdd.proof.change import load
from worker_agent.tdd.proof.execution import NOTHING_OVER, Execution, Overlay
from worker_agent.tdd.proof.layout import Layout
from worker_agent.tdd.proof.subject import Run, pinned_by
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_bench import TestBench
from worker_agent.tdd.runners.test_run import TestId, TestResult, TestRun
from worker_agent.work_context import WorkContext

log = structlog.get_logger()

MOST_RUNS = 64
"""Most runs that are remembered; the oldest goes first."""

MOST_RESULTS = 10_000
"""Most results of tests in all remembered runs: those of a large suite take a megabyte a run."""

FEWEST_RUNS = 8
"""Runs that are remembered however large they are: those of the items that are in work at a time."""

MOST_BASE_RUNS = 40
"""The most runs of one repository's bases that are kept on disk, the latest used ones."""

_VERSION = 1


class TestRuns:
    """Runs the tests of an item's trees on one bench, set up by the command of the item's rules."""

    __test__: ClassVar[bool] = False  # pytest takes every class named Test* for tests

    def __init__(self, phase_commits: PhaseCommits, bench: TestBench, base_runs: BaseRuns) -> None:
        self._phase_commits = phase_commits
        self._bench = bench
        self._base_runs = base_runs
        self._known = KnownRuns()
        self._whole: Newest[int, int] = Newest()

    def bench_of(self, work: WorkContext) -> TestBench:
        """Return the bench for an item; its set-up takes the files of the commit that the item began on."""
        export = partial(work.space.export, work.held.fence.base or work.base)
        return self._bench.based(export).setting_up(work.rules.setup_command)

    async def of(
        self, work: WorkContext, commit_or_tree: str, over: Overlay = NOTHING_OVER, *, since: str = ""
    ) -> TestRun:
        """Run all tests of exactly this commit or tree in a fresh checkout; once per tree.

        `since` is the commit or tree that others answer for; everything that differs from it was made by the engine.
        Files that control the run have the version that they had in `since`. Raises `PatchRefused` before set-up or
        tests run anything of a tree that the patch policy refuses.
        """
        tree = await work.space.tree_of(commit_or_tree)
        over = replace(over, files={**await self._pinned_files(work, since or work.base, tree), **over.files})
        return await self._run_tests(work, tree, over, None, None, since=since)

    async def of_base(self, work: WorkContext, commit: str = "") -> TestRun:
        """Return the test run of the item's base, or of another commit of its base branch: run once on this machine."""
        tree = await work.space.tree_of(commit or work.base)
        key = (tree, self._commands(work), "base")
        known = self._known.find(key)
        if known is None:
            execution = self._execution(work)
            about = (*self._commands(work), self.bench_of(work).circumstances)

            async def run() -> TestRun:
                self._count_whole(work)
                return await execution.run(tree)

            known = self._known.keep(key, await self._base_runs.of(tree, about, run))
        return known

    def for_proof(self, work: WorkContext) -> Run:
        """Return the function that runs the tests of trees for a proof; only runs of damaged code are not cached."""
        return partial(self._run_tests, work)

    async def _run_tests(
        self,
        work: WorkContext,
        commit_or_tree: str,
        over: Overlay,
        selection: Selection | None,
        deadline: float | None,
        since: str = "",
    ) -> TestRun:
        tree = await work.space.tree_of(commit_or_tree)
        key = (tree, self._commands(work), over.digest, selection)
        known = self._known.find(key)
        if known is None:
            since = since or await self._phase_commits.history.judged_from(work.held.fence, work.base)
            await self._phase_commits.judge(work, since, tree)
            if selection is None:
                self._count_whole(work)
            known = await self._execution(work).run(tree, over, selection, deadline)
            if deadline is None:  # damaged code is run once
                known = self._known.keep(key, known)
        return known

    async def _pinned_files(self, work: WorkContext, since: str, tree: str) -> dict[str, bytes | None]:
        """Return the pinned versions of files that control the run: a tree cannot choose them itself."""
        change = await load(work.space, since, tree, Layout(work.suites, work.rules.code.test_files), ())
        return pinned_by(change, work.specification)

    def _execution(self, work: WorkContext) -> Execution:
        return Execution(self.bench_of(work), work.suites, work.space, work.specification.files)

    def _commands(self, work: WorkContext) -> tuple[str, ...]:
        return tuple(f"{suite.directory}: {suite.test_command}" for suite in work.suites)

    def _count_whole(self, work: WorkContext) -> None:
        self._whole[work.issue.number] = self._whole.get(work.issue.number, 0) + 1

    def take_suite_runs(self, number: int) -> int:
        """Return how often a whole suite ran for an item in this process since the last call of this method."""
        return self._whole.pop(number, 0)


class KnownRuns:
    """Test runs by what was run of what. A result that is the same in the next run is kept once."""

    def __init__(self) -> None:
        self._runs: dict[tuple[object, ...], TestRun] = {}
        self._results = 0

    def __len__(self) -> int:
        return len(self._runs)

    def find(self, key: tuple[object, ...]) -> TestRun | None:
        """Return a remembered run."""
        return self._runs.get(key)

    def keep(self, key: tuple[object, ...], run: TestRun) -> TestRun:
        """Remember a run; return an equal one that shares what it can with the run before."""
        self._forget(key)
        kept = _sharing(run, next(reversed(self._runs.values()), None))
        self._runs[key] = kept
        self._results += len(kept.results)
        while len(self._runs) > MOST_RUNS or (self._results > MOST_RESULTS and len(self._runs) > FEWEST_RUNS):
            self._forget(next(iter(self._runs)))
        return kept

    def _forget(self, key: tuple[object, ...]) -> None:
        dropped = self._runs.pop(key, None)
        if dropped is not None:
            self._results -= len(dropped.results)


def _sharing(run: TestRun, before: TestRun | None) -> TestRun:
    known = before.results if before is not None else {}
    results: dict[TestId, TestResult] = {}
    for test, result in run.results.items():
        same = known.get(test)
        kept = same if same == result else result
        results[kept.id if kept.id == test else test] = kept
    return replace(run, results=results)


class BaseRuns:
    """The runs of one repository's base commits below `root`, which only the daemon writes; None: nothing is kept."""

    def __init__(self, root: Path | None) -> None:
        self._root = root

    async def of(self, tree: str, about: Sequence[str], run: Callable[[], Awaitable[TestRun]]) -> TestRun:
        """Return the run of a tree under circumstances `about` (commands, environment), made by `run` if not cached.

        Only a run that was finished is cached.
        """
        if self._root is None:
            return await run()
        digest = hashlib.sha256(json.dumps([_VERSION, tree, *about]).encode()).hexdigest()[:40]
        place = self._root / f"{digest}.json"
        known = await to_thread.run_sync(_read, place)
        if known is not None:
            log.info("base_run_remembered", tree=tree[:12], outcome="skipped")
            return known
        found = await run()
        if found.finished:
            await to_thread.run_sync(_write, place, found)
        return found


def _read(place: Path) -> TestRun | None:
    try:
        run = TypeAdapter(TestRun).validate_python(json.loads(place.read_bytes()))
        place.touch()
    except (OSError, ValidationError, ValueError, RecursionError):
        return None
    return run


def _write(place: Path, run: TestRun) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = place.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(run)), encoding="utf-8")
    fresh.replace(place)
    known = sorted(place.parent.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for stale in known[MOST_BASE_RUNS:]:
        stale.unlink(missing_ok=True)
