"""The base of all test runners. A new one is one file with a class built on it and one line in `registry`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.junit import REPORT_LIMIT, stable
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind, Report, TestId

Read = Callable[[str], bytes | None]
"""A function that returns the content of a path of the repository, or None if there is none."""

RUNNER_FILES = frozenset(
    {
        *("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", "package.json", "go.mod", "Cargo.toml", "pom.xml"),
        *("build.gradle", "build.gradle.kts", "composer.json", "phpunit.xml", "phpunit.xml.dist"),
        *("Gemfile", "Rakefile", ".rspec"),
    }
)
"""The files, in any directory, by which a test runner is detected, besides paths."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tests that a run is about: those of `files`; only `tests` of these, unless that is empty.

    A runner that cannot leave the others out may run more, never less.
    """

    files: frozenset[str]
    tests: frozenset[TestId] = frozenset()

    def others(self, paths: Collection[str], counts: Callable[[PurePosixPath], bool]) -> frozenset[str]:
        """Return all counted paths except the selected files; directories as a whole if no selected file is below."""
        needed = {str(parent) for file in self.files for parent in PurePosixPath(file).parents} | {"."}
        found: set[str] = set()
        for path in paths:
            file = PurePosixPath(path)
            if path not in self.files and counts(file):
                found.add(next((str(p) for p in reversed(file.parents) if str(p) not in needed), path))
        return frozenset(found)


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


class Runner(ABC):
    """One way to run tests and to understand their report.

    The id of a test is `file::name`: the file relative to the repository, then the name as `syntax.units.TestUnit.name`
    has it, with the part that distinguishes its cases (`[parameter]`, `/subtest`).
    """

    name: str
    """The name for people, for example `pytest`."""

    action: str = ""
    """The words for what a test command has to do; empty for `call <name>`."""

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the default test command if a repository with these paths uses this runner, else None."""
        return None

    @abstractmethod
    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of the word in argv by which the runner is called; None if it is not called."""

    def runs(self, argv: Sequence[str]) -> bool:
        """Return whether this argv calls the runner, so that `command` can add its options."""
        return self.position(argv) is not None

    @abstractmethod
    def is_test_file(self, path: str) -> bool:
        """Return whether the runner finds tests in a file of this name, or takes it for a file that serves tests."""

    @abstractmethod
    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return the argv that runs `test_command` and makes it report to `call.report`.

        Raises `Misconfigured` if the command cannot be run this way.
        """

    def split(self, test_command: str) -> tuple[tuple[str, ...], int]:
        """Return the argv of a command, and the runner's `position` in it; raise `Misconfigured` if it has none."""
        argv = command_line.split(test_command)
        at = self.position(argv)
        if at is None:
            raise Misconfigured(f"test_command '{test_command}' does not {self.action or f'call {self.name}'}.")
        return argv, at

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return the variables that the command needs besides the usual ones."""
        return {}

    def reports(self, place: Path) -> Sequence[Path]:
        """Return report files in `place` besides `Invocation.report`; old ones are removed before a run."""
        return ()

    def read(self, data: bytes, project: Project) -> Report:
        """Return the cases of one report; never raise for its content, its faults are in `Report.problem`.

        A unit that was not built (package, module, target) is one case for each of its test files, whose name is the
        file and whose text has the compiler's lines.
        """
        if len(data) > REPORT_LIMIT:
            return Report(problem=f"the test report is larger than {REPORT_LIMIT // 2**20} MB")
        return self.parse(data, project)

    @abstractmethod
    def parse(self, data: bytes, project: Project) -> Report:
        """Return what `read` does, for a report that is not too large."""

    def unreported(self, reported: Sequence[Case], code: int, output_tail: str, call: Invocation) -> Report | None:
        """Return the cases that a run did not report besides those `reported`: one for each file that it lost.

        For runners that tell only in their output which files they could not load, or that there was no test. An empty
        report if there is nothing to test; None if that is unknown.
        """
        return None

    def lose_files(self, call: Invocation, error: Case, is_run: Callable[[str], bool] = lambda path: True) -> Report:
        """Return a report in which all test files of a run that pass `is_run` have the same `error`."""
        files = call.selection.files if call.selection else filter(self.is_test_file, call.project.paths)
        return Report(tuple(replace(error, name=path, file=path) for path in sorted(files) if is_run(path)))

    def identify(self, case: Case) -> tuple[TestId, str]:
        """Return the stable id of a case and its file; a case that stands for a whole file has the file as its id."""
        if case.name == case.file:
            return case.file, case.file
        return "::".join(part for part in (case.file, case.classname, stable(case.name)) if part), case.file

    def explain(self, case: Case) -> str:
        """Return the description of a failure, the error itself in the first line; raw text made by tests."""
        return "\n".join(part for part in (self.error_line(case), case.text) if part)

    def error_line(self, case: Case) -> str:
        """Return the line that names the error."""
        return case.message

    @abstractmethod
    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind of a failed case."""

    def asserted(self, case: Case) -> bool:
        """Return whether a failed case failed by an assertion of the test, not by a crash of the code under test."""
        return case.outcome is CaseOutcome.FAILED

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether a run with a report went to its end, and its exit code agrees with the report."""
        return bool(cases) and code == int(any(case.failed for case in cases))

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the test file with control tests in it; `names` are at least four fresh words made of the file's own.

        None if no control tests can be put into such a file.
        """
        return None


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests of one directory of the repository, empty for its root: their command, and the runner of that."""

    runner: Runner
    test_command: str
    directory: str = ""

    @property
    def lead(self) -> str:
        """The beginning of the repository's paths of its files; empty for the root."""
        return f"{self.directory}/" if self.directory else ""
