"""The interface of a test runner. A new one is one file that satisfies it and one line in `registry`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from worker_agent.tdd.runners.cases import Case, Report
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import FailureKind, TestId

Read = Callable[[str], bytes | None]
"""A function that returns the content of a path of the repository, or None if there is none."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tests that a run is about: those of `files`; only `tests` of these, unless that is empty.

    A runner that cannot leave the others out may run more, never less.
    """

    files: frozenset[str]
    tests: frozenset[TestId] = frozenset()


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a test command: its report, its checkout, and its tests (None: all).

    `report` is a named pipe that is read while the tests run, so that written data is never changed afterwards;
    `caches` is a directory that outlives the run, for the results of builds.
    """

    report: Path
    project: Project
    selection: Selection | None = None
    caches: Path | None = None


class Runner(Protocol):
    """One way to run tests and to understand their report.

    The id of a test is `file::name`: the file relative to the repository, then the name as `syntax.units.TestUnit.name`
    has it, with the part that distinguishes its cases (`[parameter]`, `/subtest`).
    """

    @property
    def name(self) -> str:
        """The name for people, for example `pytest`."""
        ...

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the default test command if a repository with these paths uses this runner, else None."""
        ...

    def runs(self, argv: Sequence[str]) -> bool:
        """Return whether this argv calls the runner, so that `command` can add its options."""
        ...

    def is_test_file(self, path: str) -> bool:
        """Return whether the runner finds tests in a file of this name, or takes it for a file that serves tests."""
        ...

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return the argv that runs `test_command` and makes it report to `call.report`.

        Raises `Misconfigured` if the command cannot be run this way.
        """
        ...

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return the variables that the command needs besides the usual ones."""
        ...

    def reports(self, where: Path) -> Sequence[Path]:
        """Return report files in `where` besides `Invocation.report`; old ones are removed before a run."""
        ...

    def read(self, data: bytes, project: Project) -> Report:
        """Return the cases of one report; its faults are in `Report.problem`.

        A unit that was not built (package, module, target) is one case for each of its test files, whose name is the
        file and whose text has the compiler's lines.
        """
        ...

    def identify(self, case: Case) -> tuple[TestId, str]:
        """Return the stable id of a case and its file; a case that stands for a whole file has the file as its id."""
        ...

    def explain(self, case: Case) -> str:
        """Return the description of a failure, the error itself in the first line; raw text made by tests."""
        ...

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind of a failed case."""
        ...

    def asserted(self, case: Case) -> bool:
        """Return whether a failed case failed by an assertion of the test, not by a crash of the code under test."""
        ...

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether a run with a report went to its end, and its exit code agrees with the report."""
        ...

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the test file with control tests in it; `names` are at least four fresh words made of the file's own.

        None if no control tests can be put into such a file.
        """
        ...


@runtime_checkable
class ToldByOutput(Protocol):
    """A runner that reports only in its output which files it could not load, or that there was no test."""

    def unreported(self, reported: Sequence[Case], code: int, output_tail: str, call: Invocation) -> Report | None:
        """Return the cases that a run did not report besides those `reported`: one for each file that it lost.

        An empty report if there is nothing to test; None if that is unknown.
        """
        ...
