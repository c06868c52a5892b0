"""pytest: its command and the reading of its JUnit report and its error texts (pure).

Also the options for running a few test files only, whatever paths its command line and configuration name, and the
names of test files from commands and configuration.
"""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from worker_agent.tdd.runners import control_python, junit, unittest_runner
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.junit import stable
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Read, Runner, Selection
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind, Report, TestId

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
"""The message of pytest-cov when too little is covered, which alone makes the exit code 1."""
_TEST_FILE = re.compile(r"test_.*\.py|.*_tests?\.py|tests\.py|conftest\.py")
_MENTIONS = (("pyproject.toml", b"pytest"), ("setup.cfg", b"tool:pytest"), ("tox.ini", b"[pytest]"))


@dataclass(frozen=True)
class PytestRunner(Runner):
    """The runner of any command with pytest; `patterns` are names of test files besides the usual ones."""

    patterns: tuple[str, ...] = ()
    name = "pytest"

    def of(self, argv: Sequence[str], read: Read) -> PytestRunner:
        """Return the runner for one command in one repository, whose configuration may name other test files."""
        return PytestRunner(patterns(argv, read))

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command if there is a configuration, a conftest or a file named like pytest's tests."""
        names = {PurePosixPath(path).name for path in paths}
        found = (
            not names.isdisjoint({"pytest.ini", ".pytest.ini", "conftest.py"})
            or any(re.fullmatch(r"test_.*\.py|.*_test\.py", name) for name in names)
            or any(path in paths and word in (read(path) or b"") for path, word in _MENTIONS)
        )
        return DEFAULT_COMMAND if found else None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of pytest's own name: in `pytest`, `python -m pytest`, `uv run pytest`."""
        if PurePosixPath(argv[0]).name in _TASK_RUNNERS:
            return None
        for index, word in enumerate(argv):
            is_value = index > 0 and argv[index - 1] in _TAKES_A_NAME
            if PurePosixPath(word).name in {"pytest", "py.test"} and not is_value:
                return index
        return None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `test_*.py`, `*_test.py`, `tests.py`, `conftest.py`, or configured as one."""
        file = PurePosixPath(path)
        return bool(_TEST_FILE.fullmatch(file.name)) or any(_matches(file, pattern) for pattern in self.patterns)

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command` with the options that make the run comparable and reported to `call.report`."""
        argv, called = self.split(test_command)
        end = argv.index("--", called) if "--" in argv[called:] else len(argv)
        chosen = options(argv, call.selection, call.project.paths)
        return (*argv[:end], f"--junitxml={call.report}", *_OPTIONS, *chosen, *argv[end:])

    def parse(self, data: bytes, project: Project) -> Report:
        return junit.read(data, project)

    def identify(self, case: Case) -> tuple[TestId, str]:
        """Return an id like `tests/test_a.py::TestClass::test_name[parameter]`; an uncollected file is its own id.

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

    def error_line(self, case: Case) -> str:
        """Return the error as one line: for a failure from the message, for an error from the text."""
        if case.outcome is CaseOutcome.FAILED:
            return (case.message or case.text).strip().split("\n")[0]
        fixture = re.search(rf"^E +(.*(?:{_NO_FIXTURE.pattern}).*)$", case.text, re.MULTILINE)
        if fixture and case.message.startswith(("failed on setup", "test setup failure")):
            return fixture[1]
        errors = [line for line in _ERROR_LINE.findall(case.text) if re.match(r"[\w.]+(?:: |$)", line)]
        return errors[-1] if errors else (case.text or case.message).strip().split("\n")[0]

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind by the last error line alone: tests print anything, also the texts of other errors."""
        error = self.error_line(case)
        if case.message.startswith("failed on teardown") or _NOT_THE_TEST.match(error):
            return FailureKind.OTHER
        if _NO_FIXTURE.search(error):
            return FailureKind.MISSING_FIXTURE
        if _TIMEOUT.match(error):
            return FailureKind.TIMEOUT
        missing = unittest_runner.missing_import(error, project.modules)
        if missing or case.message != "collection failure":
            return missing or FailureKind.ASSERTION_OR_EXCEPTION
        return unittest_runner.while_collecting(error, project.modules)

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether the run is complete: `pytest.exit(returncode=0)` ends one early and leaves a nameless case."""
        failed = any(case.failed for case in cases)
        agree = code == 0 if cases and not failed else code == 1 if failed else code in {0, NO_TESTS}
        covered_too_little = code == 1 and bool(_COVERAGE.search(output_tail))
        whole = all(case.name for case in cases) and not _STOPPED.search(output_tail)
        return (agree or covered_too_little) and whole

    def asserted(self, case: Case) -> bool:
        """Return whether it is any AssertionError, or comes from `pytest.fail` and functions built on it."""
        return unittest_runner.asserted(self.error_line(case))

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        return control_python.control(path, content, names)


def _matches(file: PurePosixPath, pattern: str) -> bool:
    """Return whether a file matches as in pytest: a pattern without a slash is compared with the name alone."""
    return fnmatchcase(str(file) if "/" in pattern else file.name, f"*{pattern}" if "/" in pattern else pattern)


_NAME = re.compile(r"(?!(?:and|or|not)$)[A-Za-z_]\w*")
"""Names that the expression can contain; doctests have dots in their names, and whole files are paths."""

_COLLECTED = frozenset({".py", ".txt", ".rst", ".md"})

NAMES_LIMIT = 60
"""The most test functions for which `-k` is given; above, the whole files run."""


def options(argv: Sequence[str], selection: Selection | None, paths: Collection[str]) -> tuple[str, ...]:
    """Return options that ignore all but the selected files: directories as a whole, files one by one.

    A command that chooses by name itself keeps its own choice: pytest takes only one such expression.
    """
    if selection is None:
        return ()
    others = selection.others(paths, lambda file: file.suffix in _COLLECTED and file.name != "conftest.py")
    ignored = (f"--ignore={path}" for path in sorted(others))
    chooses = any(word == "--keyword" or re.match(r"-k|--keyword=", word) for word in argv)
    return (*ignored, *(() if chooses else _by_name(selection)))


def _by_name(selection: Selection) -> tuple[str, ...]:
    """Return the functions by name, as an expression: it may match more, never less."""
    names = {test.partition("[")[0].rpartition("::")[2] for test in selection.tests}
    if not names or len(names) > NAMES_LIMIT or not all(_NAME.fullmatch(name) for name in names):
        return ()
    return ("-k", " or ".join(sorted(names)))


_INI = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_DOCTEST_FILES = "test*.txt"
"""The default of `--doctest-glob`; pytest takes such files for doctests whenever it meets them."""


def patterns(argv: Sequence[str], read: Read) -> tuple[str, ...]:
    """Return names of test files besides the usual ones: `python_files`, and `--doctest-glob` if it is given."""
    settings = _settings(read)
    words = [*_words(settings.get("addopts")), *argv]
    return tuple(dict.fromkeys([*_words(settings.get("python_files")), *_globs(words), _DOCTEST_FILES]))


def _globs(words: Sequence[str]) -> Iterator[str]:
    yield from (word.partition("=")[2] for word in words if word.startswith("--doctest-glob="))
    yield from (word for before, word in pairwise(words) if before == "--doctest-glob")


def _settings(read: Read) -> Mapping[str, Any]:
    """Return pytest's section of the first file that has one, in pytest's own order."""
    for path, section in _INI[:2]:
        if found := _section(read(path), section):
            return found
    pyproject = _toml(read("pyproject.toml"))
    if pyproject:
        return pyproject
    return next((found for path, section in _INI[2:] if (found := _section(read(path), section))), {})


def _section(content: bytes | None, section: str) -> Mapping[str, Any]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string((content or b"").decode("utf-8", "replace"))
    except configparser.Error:
        return {}
    return dict(parser[section]) if parser.has_section(section) else {}


def _toml(content: bytes | None) -> Mapping[str, Any]:
    try:
        found = tomllib.loads((content or b"").decode("utf-8", "replace"))["tool"]["pytest"]
        return dict(found.get("ini_options") or found)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return {}


def _words(value: object) -> list[str]:
    """Return the words of a setting, written as one text or as a list."""
    if isinstance(value, list):
        return [word for word in value if isinstance(word, str)]
    try:
        return shlex.split(value) if isinstance(value, str) else []
    except ValueError:
        return []
