"""Files that steer a run: whatever a change makes of them, the base's version counts."""

from __future__ import annotations

import json

import pytest

from worker_agent.tdd.proof import examination
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.pinned_files import pinned
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, TestResult, TestRun

TOML = b"[project]\nname = 'a'\n\n[tool.pytest.ini_options]\naddopts = '-q'\n"


@pytest.mark.parametrize(
    "path",
    [
        "pytest.ini",
        ".pytest.ini",
        "jest.config.js",
        "packages/a/vitest.config.ts",
        ".mocharc.json",
        "phpunit.xml",
        ".rspec",
        "sitecustomize.py",
        "own.pth",
        "pytest.py",
        "_pytest/reports.py",
        ".cargo/config.toml",
    ],
)
def test_a_runners_own_files_are_the_bases(path: str) -> None:
    assert pinned({path: b"old"}, {path: b"new"}, [("pytest", "")]) == {path: b"old"}
    assert pinned({}, {path: b"new"}, [("pytest", "")]) == {path: None}, "a new one goes"


def test_a_file_that_the_specification_lists_may_steer() -> None:
    assert pinned({"pytest.ini": b"old"}, {"pytest.ini": b"new"}, [("pytest", "")], ["pytest.ini"]) == {}


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("pytest -c tools/test.cfg", "tools/test.cfg"),
        ("pytest --config-file=tools/test.cfg", "tools/test.cfg"),
        ("pytest --config-file=./tools/test.cfg", "tools/test.cfg"),
        ("./scripts/test.sh", "scripts/test.sh"),
        ("make test", "Makefile"),
        ("tox -e py", "tox.ini"),
    ],
)
def test_what_the_command_names_is_the_bases(command: str, path: str) -> None:
    assert pinned({path: b"old"}, {path: b"new"}, [(command, "")]) == {path: b"old"}


@pytest.mark.parametrize("command", ["sh ./scripts/test.sh", "make -s test", "sh ../scripts/test.sh"])
def test_a_command_names_files_from_its_own_directory(command: str) -> None:
    files = {name: name.encode() for name in ("web/scripts/test.sh", "web/Makefile", "scripts/test.sh", "Makefile")}
    (path,) = pinned(files, dict.fromkeys(files, b"new"), [(command, "web")])
    assert path == {"./": "web/scripts/test.sh", "-s": "web/Makefile", "..": "scripts/test.sh"}[command.split()[1][:2]]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("pytest tests/test_a.py", "tests/test_a.py"),
        ("phpunit --testdox tests/MoneyTest.php", "tests/MoneyTest.php"),
        ("ruby -Ilib -Itest test/money_test.rb", "test/money_test.rb"),
        ("ruby -Itest test/test_money.rb", "test/test_money.rb"),
        ("bats test/money.bats", "test/money.bats"),
    ],
)
def test_a_file_of_tests_that_the_command_names_is_the_changes_own(command: str, path: str) -> None:
    assert pinned({path: b"old"}, {path: b"new"}, [(command, "")]) == {}


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("phpunit --bootstrap tests/bootstrap.php", "tests/bootstrap.php"),
        ("ruby -Itest test/all.rb", "test/all.rb"),
    ],
)
def test_what_loads_tests_is_the_bases(command: str, path: str) -> None:
    assert pinned({path: b"old"}, {path: b"new"}, [(command, "")]) == {path: b"old"}


@pytest.mark.parametrize("pinned_there", [True, False])
async def test_tests_that_no_run_has_seen_are_named(pinned_there: bool) -> None:
    file, old = "tests/all.py", b"def test_old():\n    assert old()\n"
    new = old + b"\n\ndef test_new():\n    assert new()\n"
    ran = TestRun({f"{file}::test_old": TestResult(f"{file}::test_old", file, CaseOutcome.PASSED)})

    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        return ran

    change = Change("base", "head", old={file: old}, new={file: new}, support={file: old})
    subject = ProofSubject(change, run, pinned={file: old} if pinned_there else {})
    red = await examination.red(subject, ran, "tree")
    assert red.verdict.details[0] == "No new test ran."
    named = [examination.PINNED.format(file)] if pinned_there else []
    assert list(red.verdict.details[1:]) == named


def test_of_a_project_file_only_the_tables_about_tests_are_the_bases() -> None:
    new = TOML.replace(b"'a'", b"'b'").replace(b"-q", b"-k nothing") + b"\n[tool.ruff]\nline-length = 99\n"
    (kept,) = pinned({"pyproject.toml": TOML}, {"pyproject.toml": new}, [("pytest", "")]).values()
    assert kept is not None
    assert b"'b'" in kept
    assert b"line-length" in kept
    assert b"-q" in kept
    assert b"nothing" not in kept


def test_a_project_file_whose_tables_about_tests_stay_is_left_alone() -> None:
    assert pinned({"pyproject.toml": TOML}, {"pyproject.toml": TOML.replace(b"'a'", b"'b'")}, [("pytest", "")]) == {}


def test_of_a_package_only_what_runs_tests_is_the_bases() -> None:
    old = {"name": "a", "scripts": {"test": "vitest run"}, "jest": {"bail": True}}
    new = {"name": "b", "scripts": {"test": "true", "build": "tsc", "test:fast": "true"}, "mocha": {"spec": "none"}}
    (kept,) = pinned({"package.json": _json(old)}, {"package.json": _json(new)}, [("npx vitest run", "")]).values()
    assert kept is not None
    assert json.loads(kept) == {
        "name": "b",
        "scripts": {"test": "vitest run", "build": "tsc"},
        "jest": {"bail": True},
    }


def test_a_package_that_cannot_be_read_is_left_as_it_is() -> None:
    assert pinned({"package.json": b"{}"}, {"package.json": b"{"}, [("npx vitest run", "")]) == {}


@pytest.mark.parametrize("path", ["src/app.py", "tests/conftest.py", "docs/a.md", "tests/test_a.py"])
def test_everything_else_is_the_changes_own(path: str) -> None:
    assert pinned({path: b"old"}, {path: b"new"}, [("pytest -q", "")]) == {}


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
