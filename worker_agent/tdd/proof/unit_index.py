"""An index from results to tests in the source: cases, sub-tests and data sets are results of one test."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from worker_agent.tdd.runners.test_run import TestId, TestResult, TestRun

if TYPE_CHECKING:
    from worker_agent.tdd.syntax.units import TestUnit

_CASE = re.compile(r"\[.*\]$| with data set .*$|/[^/ ]*$|\([^)]*\)(?:\[\d+\])?$", re.DOTALL)


class UnitIndex:
    """Finds the tests in `files`; if several hold a path, in the first that has the test."""

    def __init__(self, *files: Mapping[str, bytes]) -> None:
        self._files = files
        self._units: dict[str, tuple[TestUnit, ...]] = {}
        self._known: dict[TestId, str] = {}

    def of(self, result: TestResult) -> str:
        """Return `path::name` of the test, its name as in the source; for an unknown one, its id without its case."""
        if result.id not in self._known:
            self._known[result.id] = self._find_unit(result)
        return self._known[result.id]

    def grouped(self, run: TestRun, tests: Collection[TestId]) -> dict[str, tuple[TestId, ...]]:
        """Map each test to its cases among `tests`, which `run` has."""
        found: dict[str, tuple[TestId, ...]] = {}
        for test in sorted(tests):
            unit = self.of(run.results[test])
            found[unit] = (*found.get(unit, ()), test)
        return found

    def cases(self, run: TestRun, unit: str) -> list[TestId]:
        """Return the results of a run that belong to a test."""
        path = unit.partition("::")[0]
        return [test for test, result in run.results.items() if result.file == path and self.of(result) == unit]

    def holds_tests(self, path: str) -> bool:
        """Return whether a file's source has tests; one that only serves others (macros, helpers) has none."""
        return bool(self._of_file(path))

    def has(self, unit: str) -> bool:
        """Return whether a test (`path::name`) is in its file."""
        return self.unit(unit) is not None

    def unit(self, unit: str) -> TestUnit | None:
        """Return a test (`path::name`) of its file, if it is there."""
        path, _, name = unit.partition("::")
        return next((found for found in self._of_file(path) if found.name == name), None)

    def names(self, path: str) -> list[str]:
        """Return the tests of a file, each as `path::name`."""
        return [f"{path}::{found.name}" for found in self._of_file(path)]

    def _find_unit(self, result: TestResult) -> str:
        from worker_agent.tdd.syntax.units import unit_of  # grammars are loaded when there is a result

        name = result.id.removeprefix(f"{result.file}::")
        unit = unit_of(name, self._of_file(result.file))
        return f"{result.file}::{unit.name if unit else _CASE.sub('', name)}"

    def _of_file(self, path: str) -> tuple[TestUnit, ...]:
        if path not in self._units:
            contents = (files[path] for files in self._files if path in files)
            by_name = {unit.name: unit for content in contents for unit in _tests(path, content)}
            self._units[path] = tuple(by_name.values())
        return self._units[path]


def _tests(path: str, content: bytes) -> Iterable[TestUnit]:
    from worker_agent.tdd.syntax.source import parse
    from worker_agent.tdd.syntax.units import units_in

    source = parse(path, content)
    return units_in(source) if source is not None else ()
