"""The test runs of trees that this process remembers, so that no tree is tested twice while it is in work."""

from __future__ import annotations

from dataclasses import replace

from worker_agent.tdd.runners.test_run import TestId, TestResult, TestRun

MOST_RUNS = 64
"""Most runs that are remembered; the oldest goes first."""

MOST_RESULTS = 10_000
"""Most results of tests in all remembered runs: those of a large suite take a megabyte a run."""

FEWEST_RUNS = 8
"""Runs that are remembered however large they are: those of the items that are in work at a time."""


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
