"""pytest: how it is called, and what its JUnit report and its error texts mean (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from shared.errors import Misconfigured
from worker_agent.tdd.runners import (
    command_line,
    control_python,
    junit,
    pytest_selection,
    pytest_settings,
    python_errors,
)
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.junit import Case, Report
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import Kind, Outcome, TestId
from worker_agent.tdd.runners.runner import Invocation, Read
from worker_agent.tdd.runners.stable_names import stable

DEFAULT_COMMAND = "python -m pytest -q"
"""`python -m` puts the repository's root on the import path, as most projects expect."""

_OPTIONS = (
    "-o",
    "junit_family=xunit1",  # the family that names each test's file
    "--continue-on-collection-errors",
    "--maxfail=0",  # a command with -x would hide every result after the first failure
    "--color=no",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",  # the same order in every run
    "--rootdir=.",  # paths in the report are then relative to the checkout, wherever the ini file is
)

_TASK_RUNNERS = frozenset({"make", "just", "task", "tox", "nox", "npm", "pnpm", "yarn", "bazel", "docker", "podman"})
"""Programs that take `pytest` as the name of something of theirs and would not pass our options on."""

_TAKES_A_NAME = frozenset({"--with", "--group", "--only-group", "--extra", "--package", "--from", "-p", "-e"})
"""Options before `pytest` whose value may be the word itself, as in `uv run --with pytest make`."""

NO_TESTS = 5
"""The exit code of a run that found no test."""

_STOPPED = re.compile(r"^!+ .*(?:Exit: |KeyboardInterrupt|Interrupted: ).* ?!+$", re.MULTILINE)
_ERROR_LINE = re.compile(r"^E {3}(?! )(\S.*)$", re.MULTILINE)
_NO_FIXTURE = re.compile(r"fixture '[^']*' not found|recursive dependency involving fixture|FixtureLookupError")
_TIMEOUT = re.compile(r"Failed: Timeout ")
_NOT_THE_TEST = re.compile(r"\[XPASS\(strict\)\]|worker '[^']*' crashed")
_COVERAGE = re.compile(r"^(?:FAIL )?(?:Coverage failure:|Required test coverage of)", re.MULTILINE)
"""What pytest-cov prints when too little is covered, which alone makes the exit code 1."""
_TEST_FILE = re.compile(r"test_.*\.py|.*_tests?\.py|tests\.py|conftest\.py")
_MENTIONS = (("pyproject.toml", b"pytest"), ("setup.cfg", b"tool:pytest"), ("tox.ini", b"[pytest]"))


@dataclass(frozen=True, slots=True)
class PytestRunner:
    """Any command in which pytest is called by its name; `patterns` are names of test files besides the usual ones."""

    patterns: tuple[str, ...] = ()
    name: str = "pytest"

    def of(self, argv: Sequence[str], read: Read) -> PytestRunner:
        """The same for one command in one repository, whose configuration may name its test files otherwise."""
        return PytestRunner(pytest_settings.patterns(argv, read))

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """pytest is used where its configuration, a conftest or a file named like its tests is found."""
        names = {PurePosixPath(path).name for path in paths}
        found = (
            not names.isdisjoint({"pytest.ini", ".pytest.ini", "conftest.py"})
            or any(re.fullmatch(r"test_.*\.py|.*_test\.py", name) for name in names)
            or any(path in paths and word in (read(path) or b"") for path, word in _MENTIONS)
        )
        return DEFAULT_COMMAND if found else None

    def runs(self, argv: Sequence[str]) -> bool:
        """pytest is called by its own name: `pytest`, `python -m pytest`, `uv run pytest`."""
        return _position(argv) is not None

    def is_test_file(self, path: str) -> bool:
        """`test_*.py`, `*_test.py`, `tests.py`, `conftest.py`, and what the configuration names."""
        file = PurePosixPath(path)
        return bool(_TEST_FILE.fullmatch(file.name)) or any(_matches(file, pattern) for pattern in self.patterns)

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """`test_command` with the options that make the run comparable and reported to `call.report`."""
        argv = command_line.split(test_command)
        called = _position(argv)
        if called is None:
            raise Misconfigured(f"test_command '{test_command}' does not call pytest.")
        end = argv.index("--", called) if "--" in argv[called:] else len(argv)
        chosen = pytest_selection.options(argv, call.selection, call.project.paths)
        return (*argv[:end], f"--junitxml={call.report}", *_OPTIONS, *chosen, *argv[end:])

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """None."""
        return {}

    def reports(self, where: Path) -> Sequence[Path]:
        """None: `command` names the one report."""
        return ()

    def read(self, data: bytes, project: Project) -> Report:
        """JUnit XML."""
        return junit.read(data, project)

    def identify(self, case: Case) -> tuple[TestId, str]:
        """`tests/test_a.py::TestClass::test_name[parameter]`; a file that was not collected is its path.

        Addresses and temporary paths in a parameter differ from run to run: they are left out.
        """
        if not case.file:
            return "::".join(part for part in (case.classname, case.name) if part), ""
        module = case.file.removesuffix(".py").replace("/", ".")
        if not case.classname and case.name == module:
            return case.file, case.file
        _, found, classes = f".{case.classname}.".partition(f".{module}.")
        scopes = classes.strip(".").split(".") if found else [case.classname]
        return "::".join([case.file, *(scope for scope in scopes if scope), stable(case.name)]), case.file

    def explain(self, case: Case) -> str:
        """The line that names the error, then the end of the traceback."""
        return "\n".join(part for part in (_error(case), case.text) if part)

    def classify(self, case: Case, project: Project) -> Kind:
        """Read from the last error line alone: tests print anything, also the texts of other errors."""
        error = _error(case)
        if case.message.startswith("failed on teardown") or _NOT_THE_TEST.match(error):
            return Kind.OTHER
        if _NO_FIXTURE.search(error):
            return Kind.MISSING_FIXTURE
        if _TIMEOUT.match(error):
            return Kind.TIMEOUT
        missing = python_errors.missing_import(error, project.modules)
        if missing or case.message != "collection failure":
            return missing or Kind.ASSERTION_OR_EXCEPTION
        return python_errors.while_collecting(error, project.modules)

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Exit codes are not enough: `pytest.exit(returncode=0)` ends a run early and leaves a nameless case."""
        failed = any(case.outcome in {Outcome.FAILED, Outcome.ERROR} for case in cases)
        agree = code == 0 if cases and not failed else code == 1 if failed else code in {0, NO_TESTS}
        covered_too_little = code == 1 and bool(_COVERAGE.search(output_tail))
        whole = all(case.name for case in cases) and not _STOPPED.search(output_tail)
        return (agree or covered_too_little) and whole

    def asserted(self, case: Case) -> bool:
        """An AssertionError of whatever kind, or `pytest.fail` and what is built on it."""
        return python_errors.asserted(_error(case))

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Functions among those of the file."""
        return control_python.control(path, content, names)


def _matches(file: PurePosixPath, pattern: str) -> bool:
    """As pytest compares: a pattern without a slash with the name alone."""
    return fnmatchcase(str(file) if "/" in pattern else file.name, f"*{pattern}" if "/" in pattern else pattern)


def _position(argv: Sequence[str]) -> int | None:
    if PurePosixPath(argv[0]).name in _TASK_RUNNERS:
        return None
    for index, word in enumerate(argv):
        if PurePosixPath(word).name in {"pytest", "py.test"} and (not index or argv[index - 1] not in _TAKES_A_NAME):
            return index
    return None


def _error(case: Case) -> str:
    """The error as one line: of a failure the message says it, of an error only the text does."""
    if case.outcome is Outcome.FAILED:
        return (case.message or case.text).strip().split("\n")[0]
    fixture = re.search(rf"^E +(.*(?:{_NO_FIXTURE.pattern}).*)$", case.text, re.MULTILINE)
    if fixture and case.message.startswith(("failed on setup", "test setup failure")):
        return fixture[1]
    errors = [line for line in _ERROR_LINE.findall(case.text) if re.match(r"[\w.]+(?:: |$)", line)]
    return errors[-1] if errors else (case.text or case.message).strip().split("\n")[0]
