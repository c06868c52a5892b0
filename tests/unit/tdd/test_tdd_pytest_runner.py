"""pytest's command line, ids and error texts, as pytest 9 writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import Misconfigured
from worker_agent.tdd.runners.junit import Case
from worker_agent.tdd.runners.pytest_runner import DEFAULT_COMMAND, PytestRunner
from worker_agent.tdd.runners.report import Kind, Outcome

RUNNER = PytestRunner()
ADDED = [
    "--junitxml=/s/report.xml",
    *("-o", "junit_family=xunit1"),
    "--continue-on-collection-errors",
    "--maxfail=0",
    "--color=no",
    *("-p", "no:cacheprovider"),
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
    assert list(RUNNER.command(command, Path("/s/report.xml"))) == [*before, *ADDED, *after]


@pytest.mark.parametrize(
    "command",
    ["make pytest", "tox -e pytest", "npm run pytest", "uv run --with pytest make", "sh -c 'pytest -q'", "unittest"],
)
def test_a_command_that_does_not_call_pytest_is_refused(command: str) -> None:
    with pytest.raises(Misconfigured, match="does not call pytest"):
        RUNNER.command(command, Path("r.xml"))


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
    assert RUNNER.identify(Case(name, classname, file, Outcome.PASSED)) == (test, file)


def _failed(message: str) -> Case:
    return Case("test_x", "t", "t.py", Outcome.FAILED, message, "E   ModuleNotFoundError: No module named 'app'")


def _uncollected(text: str) -> Case:
    return Case("t", "", "t.py", Outcome.ERROR, "collection failure", text)


def _setup(text: str) -> Case:
    return Case("test_x", "t", "t.py", Outcome.ERROR, 'failed on setup with "..."', text)


IMPORT = "ImportError while importing test module '/x/t.py'.\nTraceback:\nt.py:1: in <module>\n    import z\n"
SYNTAX = (
    '    raise\nE     File "/x/t.py", line 1\nE       def test_x(:\nE                  ^\n'
    "E   SyntaxError: invalid syntax"
)


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        (_failed("assert 1 == 2\n +  where"), Kind.ASSERTION_OR_EXCEPTION),
        (_failed("AssertionError: ModuleNotFoundError: No module named 'x'"), Kind.ASSERTION_OR_EXCEPTION),
        (_failed("AttributeError: module 'app' has no attribute 'find'"), Kind.ASSERTION_OR_EXCEPTION),
        (_failed("SyntaxError: invalid syntax"), Kind.ASSERTION_OR_EXCEPTION),
        (_failed("SystemExit: 0"), Kind.ASSERTION_OR_EXCEPTION),
        (_failed("ModuleNotFoundError: No module named 'app.find'"), Kind.FIRST_PARTY_IMPORT),
        (_failed("ModuleNotFoundError: No module named 'numpy'"), Kind.THIRD_PARTY_IMPORT),
        (_failed("ImportError: cannot import name 'find' from 'app' (/x/app.py)"), Kind.FIRST_PARTY_IMPORT),
        (_failed("Failed: Timeout (>1.0s) from pytest-timeout."), Kind.TIMEOUT),
        (_failed("_pytest.fixtures.FixtureLookupError: ('client', <Request>)"), Kind.MISSING_FIXTURE),
        (_failed("[XPASS(strict)] "), Kind.OTHER),
        (_failed("worker 'gw0' crashed while running 't.py::test_x'"), Kind.OTHER),
        (_uncollected(IMPORT + "E   ModuleNotFoundError: No module named 'app.search'"), Kind.FIRST_PARTY_IMPORT),
        (
            _uncollected(IMPORT + "E   ModuleNotFoundError: No module named 'app.a'; 'app' is not a package"),
            Kind.FIRST_PARTY_IMPORT,
        ),
        (
            _uncollected(IMPORT + "E   ImportError: cannot import name 'search' from 'app' (/x/app/__init__.py)"),
            Kind.FIRST_PARTY_IMPORT,
        ),
        (_uncollected(IMPORT + "E   ModuleNotFoundError: No module named 'apple'"), Kind.THIRD_PARTY_IMPORT),
        (_uncollected(IMPORT + "E   ImportError: cannot import name 'q' from 'numpy' (/y)"), Kind.THIRD_PARTY_IMPORT),
        (
            _uncollected(
                IMPORT + "E   ImportError: cannot import name 'a' from partially initialized module 'app' "
                "(most likely due to a circular import) (/x)"
            ),
            Kind.COLLECTION,
        ),
        (
            _uncollected(
                "E   ModuleNotFoundError: No module named 'app.a'\n\nThe above exception was the direct cause of\n\n"
                "E   RuntimeError: install app"
            ),
            Kind.COLLECTION,
        ),
        (_uncollected("E   AttributeError: module 'app' has no attribute 'Search'"), Kind.FIRST_PARTY_IMPORT),
        (_uncollected("E   AttributeError: module 'numpy' has no attribute 'Search'"), Kind.COLLECTION),
        (_uncollected(SYNTAX), Kind.SYNTAX),
        (_uncollected("E   IndentationError: unexpected indent"), Kind.SYNTAX),
        (_uncollected('t.py::test_q: in "parametrize" expected a sequence'), Kind.COLLECTION),
        (_uncollected("E   RuntimeError: No module named 'app.x'"), Kind.COLLECTION),
        (_uncollected("E   KeyboardInterrupt"), Kind.COLLECTION),
        (_setup("  def test_x(nope): pass\nE       fixture 'nope' not found\n>       available"), Kind.MISSING_FIXTURE),
        (_setup("E       recursive dependency involving fixture 'a' detected"), Kind.MISSING_FIXTURE),
        (_setup(">   return App(1)\nE   TypeError: App() takes no arguments\n\nt.py:1"), Kind.ASSERTION_OR_EXCEPTION),
        (_setup("E   ModuleNotFoundError: No module named 'app.x'"), Kind.FIRST_PARTY_IMPORT),
        (Case("test_x", "t", "t.py", Outcome.ERROR, 'failed on teardown with "x"', "E   ValueError: x"), Kind.OTHER),
    ],
)
def test_why_a_test_failed_is_read_from_its_last_error(case: Case, kind: Kind) -> None:
    assert RUNNER.classify(case, {"app"}) is kind


def test_the_explanation_starts_with_the_error() -> None:
    assert RUNNER.explain(_uncollected(SYNTAX)).startswith("SyntaxError: invalid syntax\n")
    assert RUNNER.explain(_failed("assert 0\nmore")).startswith("assert 0\n")
    assert RUNNER.explain(_setup("E       fixture 'nope' not found")).startswith("fixture 'nope' not found")


NAMED = (Case("test_x", "t", "t.py", Outcome.PASSED),)


@pytest.mark.parametrize(
    ("code", "cases", "tail", "complete"),
    [
        (0, NAMED, "1 passed in 0.01s", True),
        (1, NAMED, "1 failed", True),
        (5, (), "no tests ran", True),
        (2, NAMED, "", False),
        (3, NAMED, "", False),
        (4, NAMED, "", False),
        (137, NAMED, "", False),
        (-11, NAMED, "", False),
        (0, (*NAMED, Case("", "", "", Outcome.PASSED)), "", False),
        (0, NAMED, "1 passed\n!!!!!!!!! _pytest.outcomes.Exit: bye !!!!!!!!!\n", False),
        (0, NAMED, "! KeyboardInterrupt !", False),
        (0, NAMED, "it says Exit: hello", True),
    ],
)
def test_a_run_is_complete_only_if_it_went_to_its_end(
    code: int, cases: tuple[Case, ...], tail: str, complete: bool
) -> None:
    assert RUNNER.complete(code, cases, tail) is complete
