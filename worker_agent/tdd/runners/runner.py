"""What is asked of a test runner. A new one is one file that satisfies this and one line in `registry`."""

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
"""Gives the content of a path of the repository, or None when there is none."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tests a run is about: those of `files`; of these only `tests`, where that is not empty.

    A runner that cannot leave the others out may run more, never less.
    """

    files: frozenset[str]
    tests: frozenset[TestId] = frozenset()


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a test command: where its report goes, in which checkout, for which tests (None: all).

    `report` is a named pipe that is read while the tests run, so that what was written is never changed
    afterwards; `caches` is a directory that outlives the run, for what building leaves.
    """

    report: Path
    project: Project
    selection: Selection | None = None
    caches: Path | None = None


class Runner(Protocol):
    """One way to run tests and to understand what they report.

    The id of a test is `file::name`: the file relative to the repository, then the name as
    `syntax.units.TestUnit.name` has it, with what tells its cases apart (`[parameter]`, `/subtest`).
    """

    @property
    def name(self) -> str:
        """The word for people, for example `pytest`."""
        ...

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """The default test command when a repository with these paths uses this runner, else None."""
        ...

    def runs(self, argv: Sequence[str]) -> bool:
        """Whether this argv calls the runner, so that `command` can add its options."""
        ...

    def is_test_file(self, path: str) -> bool:
        """Whether the runner finds tests in a file of this name, or takes it for what serves them."""
        ...

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """The argv that runs `test_command` and makes it report to `call.report`.

        Raises `Misconfigured` when the command cannot be run this way.
        """
        ...

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Variables that the command needs besides the usual ones."""
        ...

    def reports(self, where: Path) -> Sequence[Path]:
        """The report files in the checkout `where` besides `Invocation.report`; old ones are removed before a run."""
        ...

    def read(self, data: bytes, project: Project) -> Report:
        """The cases of one report; what is wrong with it is told by `Report.problem`.

        A unit that was not built (package, module, target) is one case for each test file of it, whose name is
        the file and whose text has the compiler's lines.
        """
        ...

    def identify(self, case: Case) -> tuple[TestId, str]:
        """The stable id of a case and its file; a case that stands for a whole file has the file as its id."""
        ...

    def explain(self, case: Case) -> str:
        """What went wrong, the error itself in the first line; raw text made by tests."""
        ...

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Why a case that failed did so."""
        ...

    def asserted(self, case: Case) -> bool:
        """Whether a case that failed did so by an assertion of the test, not by a crash of what it tests."""
        ...

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Whether a run that wrote a report went to its end, and its exit code says what the report says."""
        ...

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """The test file with control tests in it; `names` are at least four fresh words made of the file's own.

        None where none can be laid into such a file.
        """
        ...


@runtime_checkable
class ToldByOutput(Protocol):
    """A runner that says only in its output which files it could not load, or that there was no test."""

    def unreported(self, reported: Sequence[Case], code: int, output_tail: str, call: Invocation) -> Report | None:
        """The cases that a run did not report beside those `reported`: one for each file that it lost.

        An empty report where there is nothing to test; None when nobody knows.
        """
        ...
