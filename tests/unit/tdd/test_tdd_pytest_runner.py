"""pytest's command line, ids and error texts, as pytest 9 writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import Misconfigured
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.pytest_runner import DEFAULT_COMMAND, PytestRunner
from worker_agent.tdd.runners.runner import Invocation, Selection
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind

RUNNER = PytestRunner()
PROJECT = Project(Path("/w"), modules=frozenset({"app"}))
CALL = Invocation(Path("/s/report.xml"), PROJECT)
ADDED = [
    "--junitxml=/s/report.xml",
    *("-o", "junit_family=xunit1"),
    "--continue-on-collection-errors",
    "--maxfail=0",
    "--color=no",
    *("-p", "no:cacheprovider"),
    *("-p", "no:randomly"),
    "--rootdir=.",
]


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [
        ("pytest -q", ["pytest", "-q"], []),
        ("python -m pytest", ["python", "-m", "pytest"], []),
        ("uv run --frozen pytest -x", ["uv", "run", "--frozen", "pytest", "-x"], []),
        ("coverage run -m pytest tests", ["coverage", "run", "-m", "pytest", "tests"], []),
        ("'/my env/bin/pytest' -q", ["/my env/bin/pytest", "-q"], []),
        ("py.test", ["py.test"], []),
        ("A=1 pytest", ["env", "A=1", "pytest"], []),
        ("pytest -q -- tests", ["pytest", "-q"], ["--", "tests"]),
        ("uv run -- pytest -q", ["uv", "run", "--", "pytest", "-q"], []),
        ("pytest --junitxml=own.xml", ["pytest", "--junitxml=own.xml"], []),
    ],
)
def test_the_options_are_added_where_pytest_reads_them(command: str, before: list[str], after: list[str]) -> None:
    assert list(RUNNER.command(command, CALL)) == [*before, *ADDED, *after]


@pytest.mark.parametrize(
    "command",
    ["make pytest", "tox -e pytest", "npm run pytest", "uv run --with pytest make", "sh -c 'pytest -q'", "unittest"],
)
def test_a_command_that_does_not_call_pytest_is_refused(command: str) -> None:
    with pytest.raises(Misconfigured, match="does not call pytest"):
        RUNNER.command(command, CALL)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"tests/test_a.py": b""}, True),
        ({"pkg/a_test.py": b""}, True),
        ({"tests/conftest.py": b""}, True),
        ({"pytest.ini": b""}, True),
        ({"pyproject.toml": b"[tool.pytest.ini_options]\n"}, True),
        ({"setup.cfg": b"[tool:pytest]\n"}, True),
        ({"tox.ini": b"[pytest]\n"}, True),
        ({"pyproject.toml": b"[project]\n"}, False),
        ({"sub/tox.ini": b"[pytest]\n"}, False),
        ({"main.go": b"", "testing.py": b""}, False),
    ],
)
def test_detection(files: dict[str, bytes], found: bool) -> None:
    assert RUNNER.detect(files, files.get) == (DEFAULT_COMMAND if found else None)


@pytest.mark.parametrize(
    ("classname", "name", "file", "test"),
    [
        ("tests.test_b", "test_x", "tests/test_b.py", "tests/test_b.py::test_x"),
        ("tests.test_b.TestC", "test_x", "tests/test_b.py", "tests/test_b.py::TestC::test_x"),
        ("tests.test_b.TestC.TestD", "test_x", "tests/test_b.py", "tests/test_b.py::TestC::TestD::test_x"),
        ("tests.test_b", "test_p[a::b]", "tests/test_b.py", "tests/test_b.py::test_p[a::b]"),
        ("prefix.tests.test_b.TestC", "test_x", "tests/test_b.py", "tests/test_b.py::TestC::test_x"),
        ("", "tests.test_b", "tests/test_b.py", "tests/test_b.py"),
        ("", "tests.sub", "tests/sub", "tests/sub"),
        ("README.md", "README.md", "README.md", "README.md::README.md"),
        ("elsewhere", "test_x", "tests/test_b.py", "tests/test_b.py::elsewhere::test_x"),
        ("tests.test_b.TestC", "test_x", "", "tests.test_b.TestC::test_x"),
    ],
)
def test_ids_are_those_that_pytest_prints(classname: str, name: str, file: str, test: str) -> None:
    assert RUNNER.identify(Case(name, classname, file, CaseOutcome.PASSED)) == (test, file)


def _failed(message: str) -> Case:
    return Case("test_x", "t", "t.py", CaseOutcome.FAILED, message, "E   ModuleNotFoundError: No module named 'app'")


def _uncollected(text: str) -> Case:
    return Case("t", "", "t.py", CaseOutcome.ERROR, "collection failure", text)


def _setup(text: str) -> Case:
    return Case("test_x", "t", "t.py", CaseOutcome.ERROR, 'failed on setup with "..."', text)


IMPORT = "ImportError while importing test module '/x/t.py'.\nTraceback:\nt.py:1: in <module>\n    import z\n"
SYNTAX = (
    '    raise\nE     File "/x/t.py", line 1\nE       def test_x(:\nE                  ^\n'
    "E   SyntaxError: invalid syntax"
)


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        (_failed("assert 1 == 2\n +  where"), FailureKind.ASSERTION_OR_EXCEPTION),
        (_failed("AssertionError: ModuleNotFoundError: No module named 'x'"), FailureKind.ASSERTION_OR_EXCEPTION),
        (_failed("AttributeError: module 'app' has no attribute 'find'"), FailureKind.ASSERTION_OR_EXCEPTION),
        (_failed("SyntaxError: invalid syntax"), FailureKind.ASSERTION_OR_EXCEPTION),
        (_failed("SystemExit: 0"), FailureKind.ASSERTION_OR_EXCEPTION),
        (_failed("ModuleNotFoundError: No module named 'app.find'"), FailureKind.FIRST_PARTY_IMPORT),
        (_failed("ModuleNotFoundError: No module named 'numpy'"), FailureKind.THIRD_PARTY_IMPORT),
        (_failed("ImportError: cannot import name 'find' from 'app' (/x/app.py)"), FailureKind.FIRST_PARTY_IMPORT),
        (_failed("Failed: Timeout (>1.0s) from pytest-timeout."), FailureKind.TIMEOUT),
        (_failed("_pytest.fixtures.FixtureLookupError: ('client', <Request>)"), FailureKind.MISSING_FIXTURE),
        (_failed("[XPASS(strict)] "), FailureKind.OTHER),
        (_failed("worker 'gw0' crashed while running 't.py::test_x'"), FailureKind.OTHER),
        (
            _uncollected(IMPORT + "E   ModuleNotFoundError: No module named 'app.search'"),
            FailureKind.FIRST_PARTY_IMPORT,
        ),
        (
            _uncollected(IMPORT + "E   ModuleNotFoundError: No module named 'app.a'; 'app' is not a package"),
            FailureKind.FIRST_PARTY_IMPORT,
        ),
        (
            _uncollected(IMPORT + "E   ImportError: cannot import name 'search' from 'app' (/x/app/__init__.py)"),
            FailureKind.FIRST_PARTY_IMPORT,
        ),
        (_uncollected(IMPORT + "E   ModuleNotFoundError: No module named 'apple'"), FailureKind.THIRD_PARTY_IMPORT),
        (
            _uncollected(IMPORT + "E   ImportError: cannot import name 'q' from 'numpy' (/y)"),
            FailureKind.THIRD_PARTY_IMPORT,
        ),
        (
            _uncollected(
                IMPORT + "E   ImportError: cannot import name 'a' from partially initialized module 'app' "
                "(most likely due to a circular import) (/x)"
            ),
            FailureKind.COLLECTION,
        ),
        (
            _uncollected(
                "E   ModuleNotFoundError: No module named 'app.a'\n\nThe above exception was the direct cause of\n\n"
                "E   RuntimeError: install app"
            ),
            FailureKind.COLLECTION,
        ),
        (_uncollected("E   AttributeError: module 'app' has no attribute 'Search'"), FailureKind.FIRST_PARTY_IMPORT),
        (_uncollected("E   AttributeError: module 'numpy' has no attribute 'Search'"), FailureKind.COLLECTION),
        (_uncollected("E   AttributeError: type object 'App' has no attribute 'find'"), FailureKind.FIRST_PARTY_IMPORT),
        (_uncollected("E   AttributeError: 'str' object has no attribute 'find_all'"), FailureKind.COLLECTION),
        (_uncollected(SYNTAX), FailureKind.SYNTAX),
        (_uncollected("E   IndentationError: unexpected indent"), FailureKind.SYNTAX),
        (_uncollected('t.py::test_q: in "parametrize" expected a sequence'), FailureKind.COLLECTION),
        (_uncollected("E   RuntimeError: No module named 'app.x'"), FailureKind.COLLECTION),
        (_uncollected("E   KeyboardInterrupt"), FailureKind.COLLECTION),
        (
            _setup("  def test_x(nope): pass\nE       fixture 'nope' not found\n>       available"),
            FailureKind.MISSING_FIXTURE,
        ),
        (_setup("E       recursive dependency involving fixture 'a' detected"), FailureKind.MISSING_FIXTURE),
        (
            _setup(">   return App(1)\nE   TypeError: App() takes no arguments\n\nt.py:1"),
            FailureKind.ASSERTION_OR_EXCEPTION,
        ),
        (_setup("E   ModuleNotFoundError: No module named 'app.x'"), FailureKind.FIRST_PARTY_IMPORT),
        (
            Case("test_x", "t", "t.py", CaseOutcome.ERROR, 'failed on teardown with "x"', "E   ValueError: x"),
            FailureKind.OTHER,
        ),
    ],
)
def test_why_a_test_failed_is_read_from_its_last_error(case: Case, kind: FailureKind) -> None:
    assert RUNNER.classify(case, PROJECT) is kind


def test_the_explanation_starts_with_the_error() -> None:
    assert RUNNER.explain(_uncollected(SYNTAX)).startswith("SyntaxError: invalid syntax\n")
    assert RUNNER.explain(_failed("assert 0\nmore")).startswith("assert 0\n")
    assert RUNNER.explain(_setup("E       fixture 'nope' not found")).startswith("fixture 'nope' not found")


NAMED = (Case("test_x", "t", "t.py", CaseOutcome.PASSED),)
RED = Case("test_y", "t", "t.py", CaseOutcome.FAILED)


@pytest.mark.parametrize(
    ("code", "cases", "tail", "complete"),
    [
        (0, NAMED, "1 passed in 0.01s", True),
        (1, (*NAMED, RED), "1 failed", True),
        (0, (*NAMED, RED), "1 passed", False),
        (1, NAMED, "1 passed", False),
        (1, NAMED, "FAIL Required test coverage of 90% not reached. Total coverage: 50.00%", True),
        (1, NAMED, "it says Required test coverage of 90%", False),
        (5, NAMED, "", False),
        (6, (*NAMED, RED), "", False),
        (5, (), "no tests ran", True),
        (2, NAMED, "", False),
        (3, NAMED, "", False),
        (4, NAMED, "", False),
        (137, NAMED, "", False),
        (-11, NAMED, "", False),
        (0, (*NAMED, Case("", "", "", CaseOutcome.PASSED)), "", False),
        (0, NAMED, "1 passed\n!!!!!!!!! _pytest.outcomes.Exit: bye !!!!!!!!!\n", False),
        (0, NAMED, "! KeyboardInterrupt !", False),
        (0, NAMED, "it says Exit: hello", True),
    ],
)
def test_a_run_is_complete_only_if_it_went_to_its_end(
    code: int, cases: tuple[Case, ...], tail: str, complete: bool
) -> None:
    assert RUNNER.complete(code, cases, tail) is complete


PATHS = frozenset({"tests/test_a.py", "tests/test_b.py", "tests/deep/test_c.py", "tests/conftest.py", "app/x.py"})


@pytest.mark.parametrize(
    ("selection", "command", "options"),
    [
        (Selection(frozenset({"tests/test_a.py"})), "pytest", ["app", "tests/deep", "tests/test_b.py"]),
        (Selection(frozenset({"tests/deep/test_c.py"})), "pytest", ["app", "tests/test_a.py", "tests/test_b.py"]),
    ],
)
def test_everything_beside_the_selected_files_is_ignored(
    selection: Selection, command: str, options: list[str]
) -> None:
    argv = RUNNER.command(command, Invocation(Path("/r"), Project(Path("/w"), PATHS), selection))
    assert [word.removeprefix("--ignore=") for word in argv if word.startswith("--ignore=")] == options


@pytest.mark.parametrize(
    ("tests", "command", "expression"),
    [
        ({"t.py::test_b[1]", "t.py::C::test_a"}, "pytest", ["-k", "test_a or test_b"]),
        ({"t.py::test_a"}, "pytest -k fast", ["-k", "fast"]),
        ({"t.py::app.double"}, "pytest", []),
        ({"t.py"}, "pytest", []),
        ({f"t.py::test_{number}" for number in range(100)}, "pytest", []),
        (set(), "pytest", []),
    ],
)
def test_single_tests_are_chosen_by_name_where_that_is_possible(
    tests: set[str], command: str, expression: list[str]
) -> None:
    selection = Selection(frozenset({"t.py"}), frozenset(tests))
    argv = RUNNER.command(command, Invocation(Path("/r"), Project(Path("/w"), frozenset({"t.py"})), selection))
    found = argv.index("-k") if "-k" in argv else len(argv)
    assert list(argv[found : found + 2]) == expression


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_x[<app.A object at 0x7f12ab34cd56>]", "test_x[<app.A object at 0x>]"),
        ("test_x[/tmp/pytest-of-me/pytest-3/x-1]", "test_x[TMP/x-1]"),
        ("test_x[/s/run-ab12cd34/tmp/tmpq2w3e4r5/a]", "test_x[TMP/a]"),
        ("test_x[/templates/a]", "test_x[/templates/a]"),
        ("test_x[0x10]", "test_x[0x10]"),
    ],
)
def test_ids_have_nothing_that_differs_from_run_to_run(name: str, expected: str) -> None:
    assert RUNNER.identify(Case(name, "t", "t.py", CaseOutcome.PASSED)) == (f"t.py::{expected}", "t.py")
