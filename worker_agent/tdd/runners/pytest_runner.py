"""pytest: how it is called, and what its JUnit report and its error texts mean (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from shared.errors import Misconfigured
from worker_agent.tdd.judging.control import Control, beside
from worker_agent.tdd.runners import command_line, junit
from worker_agent.tdd.runners.junit import Case, Report
from worker_agent.tdd.runners.report import Kind, Outcome, TestId
from worker_agent.tdd.runners.runner import Read

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
    "--rootdir=.",  # paths in the report are then relative to the checkout, wherever the ini file is
)

_TASK_RUNNERS = frozenset({"make", "just", "task", "tox", "nox", "npm", "pnpm", "yarn", "bazel", "docker", "podman"})
"""Programs that take `pytest` as the name of something of theirs and would not pass our options on."""

_TAKES_A_NAME = frozenset({"--with", "--group", "--only-group", "--extra", "--package", "--from", "-p", "-e"})
"""Options before `pytest` whose value may be the word itself, as in `uv run --with pytest make`."""

_CUT_SHORT = frozenset({2, 3, 4})
"""Interrupted, internal error, usage error: whatever was reported is not the whole."""

_STOPPED = re.compile(r"^!+ .*(?:Exit: |KeyboardInterrupt|Interrupted: ).* ?!+$", re.MULTILINE)
_ERROR_LINE = re.compile(r"^E {3}(?! )(\S.*)$", re.MULTILINE)
_NO_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'")
_NO_NAME = re.compile(r"ImportError: cannot import name '\w+' from '([\w.]+)'")
_NO_ATTRIBUTE = re.compile(r"AttributeError: module '([\w.]+)' has no attribute '\w+'")
_NO_FIXTURE = re.compile(r"fixture '[^']*' not found|recursive dependency involving fixture|FixtureLookupError")
_SYNTAX = re.compile(r"(?:SyntaxError|IndentationError|TabError): ")
_TIMEOUT = re.compile(r"Failed: Timeout ")
_NOT_THE_TEST = re.compile(r"\[XPASS\(strict\)\]|worker '[^']*' crashed")
_MENTIONS = (("pyproject.toml", b"pytest"), ("setup.cfg", b"tool:pytest"), ("tox.ini", b"[pytest]"))


class PytestRunner:
    """Any command in which pytest is called by its name."""

    name = "pytest"

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

    def command(self, test_command: str, report: Path) -> tuple[str, ...]:
        """`test_command` with the options that make the run comparable and reported to `report`."""
        argv = command_line.split(test_command)
        called = _position(argv)
        if called is None:
            raise Misconfigured(f"test_command '{test_command}' does not call pytest.")
        end = argv.index("--", called) if "--" in argv[called:] else len(argv)
        return (*argv[:end], f"--junitxml={report}", *_OPTIONS, *argv[end:])

    def reports(self, where: Path, report: Path) -> Sequence[Path]:
        """The one file that `command` named."""
        return (report,) if report.exists() else ()

    def read(self, data: bytes, where: Path) -> Report:
        """JUnit XML."""
        return junit.read(data)

    def identify(self, case: Case) -> tuple[TestId, str]:
        """`tests/test_a.py::TestClass::test_name[parameter]`; a file that was not collected is its path."""
        if not case.file:
            return "::".join(part for part in (case.classname, case.name) if part), ""
        module = case.file.removesuffix(".py").replace("/", ".")
        if not case.classname and case.name == module:
            return case.file, case.file
        _, found, classes = f".{case.classname}.".partition(f".{module}.")
        scopes = classes.strip(".").split(".") if found else [case.classname]
        return "::".join([case.file, *(scope for scope in scopes if scope), case.name]), case.file

    def explain(self, case: Case) -> str:
        """The line that names the error, then the end of the traceback."""
        return "\n".join(part for part in (_error(case), case.text) if part)

    def classify(self, case: Case, first_party: Collection[str]) -> Kind:
        """Read from the last error line alone: tests print anything, also the texts of other errors."""
        error = _error(case)
        if case.message.startswith("failed on teardown") or _NOT_THE_TEST.match(error):
            return Kind.OTHER
        if _NO_FIXTURE.search(error):
            return Kind.MISSING_FIXTURE
        if _TIMEOUT.match(error):
            return Kind.TIMEOUT
        missing = _NO_MODULE.match(error) or _NO_NAME.match(error)
        if missing:
            return Kind.FIRST_PARTY_IMPORT if _belongs(missing[1], first_party) else Kind.THIRD_PARTY_IMPORT
        if case.message != "collection failure":
            return Kind.ASSERTION_OR_EXCEPTION
        return _kind_of_collection_error(error, first_party)

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Exit codes are not enough: `pytest.exit(returncode=0)` ends a run early and leaves a nameless case."""
        ended = 0 <= code < 128 and code not in _CUT_SHORT  # from 128 on a signal ended it
        return ended and all(case.name for case in cases) and not _STOPPED.search(output_tail)

    def control(self, near: str, text: str, word: str) -> Control | None:
        """A module with one failing function."""
        if not near.endswith(".py"):
            return None
        return Control(beside(near, word), word, f"def test_{word}() -> None:\n    raise AssertionError\n")


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


def _kind_of_collection_error(error: str, first_party: Collection[str]) -> Kind:
    if _SYNTAX.match(error):
        return Kind.SYNTAX
    attribute = _NO_ATTRIBUTE.match(error)
    if attribute and _belongs(attribute[1], first_party):
        return Kind.FIRST_PARTY_IMPORT
    return Kind.COLLECTION


def _belongs(module: str, first_party: Collection[str]) -> bool:
    return module.partition(".")[0] in first_party
