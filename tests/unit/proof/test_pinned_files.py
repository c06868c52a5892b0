"""Files that steer a run: whatever a change makes of them, the base's version counts."""

from __future__ import annotations

import json

import pytest

from worker_agent.tdd.proof.pinned_files import pinned

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
    assert pinned({path: b"old"}, {path: b"new"}, ["pytest"]) == {path: b"old"}
    assert pinned({}, {path: b"new"}, ["pytest"]) == {path: None}, "a new one goes"


def test_a_file_that_the_specification_lists_may_steer() -> None:
    assert pinned({"pytest.ini": b"old"}, {"pytest.ini": b"new"}, ["pytest"], ["pytest.ini"]) == {}


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
    assert pinned({path: b"old"}, {path: b"new"}, [command]) == {path: b"old"}


def test_a_test_module_that_the_command_names_holds_tests() -> None:
    assert pinned({"tests/test_a.py": b"old"}, {"tests/test_a.py": b"new"}, ["pytest tests/test_a.py"]) == {}


def test_of_a_project_file_only_the_tables_about_tests_are_the_bases() -> None:
    new = TOML.replace(b"'a'", b"'b'").replace(b"-q", b"-k nothing") + b"\n[tool.ruff]\nline-length = 99\n"
    (kept,) = pinned({"pyproject.toml": TOML}, {"pyproject.toml": new}, ["pytest"]).values()
    assert kept is not None
    assert b"'b'" in kept
    assert b"line-length" in kept
    assert b"-q" in kept
    assert b"nothing" not in kept


def test_a_project_file_whose_tables_about_tests_stay_is_left_alone() -> None:
    assert pinned({"pyproject.toml": TOML}, {"pyproject.toml": TOML.replace(b"'a'", b"'b'")}, ["pytest"]) == {}


def test_of_a_package_only_what_runs_tests_is_the_bases() -> None:
    old = {"name": "a", "scripts": {"test": "vitest run"}, "jest": {"bail": True}}
    new = {"name": "b", "scripts": {"test": "true", "build": "tsc", "test:fast": "true"}, "mocha": {"spec": "none"}}
    (kept,) = pinned({"package.json": _json(old)}, {"package.json": _json(new)}, ["npx vitest run"]).values()
    assert kept is not None
    assert json.loads(kept) == {
        "name": "b",
        "scripts": {"test": "vitest run", "build": "tsc"},
        "jest": {"bail": True},
    }


def test_a_package_that_cannot_be_read_is_left_as_it_is() -> None:
    assert pinned({"package.json": b"{}"}, {"package.json": b"{"}, ["npx vitest run"]) == {}


@pytest.mark.parametrize("path", ["src/app.py", "tests/conftest.py", "docs/a.md", "tests/test_a.py"])
def test_everything_else_is_the_changes_own(path: str) -> None:
    assert pinned({path: b"old"}, {path: b"new"}, ["pytest -q"]) == {}


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
