"""A project's quality commands, those of them that bind, and the report about them."""

from __future__ import annotations

import pytest

from worker_agent.tdd.phases.quality import NOT_BINDING, binding, detected, failures, loosened, noted, outputs
from worker_agent.tdd.setup.confined_command import CommandResult

RUFF, MYPY, ESLINT = "ruff check .", "mypy .", "eslint ."


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"ruff.toml": ""}, [RUFF]),
        ({".ruff.toml": ""}, [RUFF]),
        ({"pyproject.toml": "[tool.ruff.lint]\n"}, [RUFF]),
        ({"pyproject.toml": "[project]\nname = 'tool.ruff'\n"}, []),
        ({"mypy.ini": ""}, [MYPY]),
        ({"setup.cfg": "[metadata]\n[mypy]\n"}, [MYPY]),
        ({"setup.cfg": "[metadata]\n"}, []),
        ({"pyproject.toml": "[tool.mypy]\n[tool.ruff]\n"}, [RUFF, MYPY]),
        ({"eslint.config.mjs": ""}, [ESLINT]),
        ({".eslintrc.json": ""}, [ESLINT]),
        ({"package.json": '{"eslintConfig": {}}'}, [ESLINT]),
        ({"package.json": '{"name": "eslint"}'}, []),
        ({"tsconfig.json": ""}, ["tsc --noEmit"]),
        ({"go.mod": ""}, ["go vet ./..."]),
        ({"Cargo.toml": ""}, ["cargo clippy --quiet --offline -- -D warnings"]),
        ({"docs/ruff.toml": ""}, []),
        ({}, []),
    ],
)
def test_tools_are_detected_by_the_files_that_configure_them(files: dict[str, str], wanted: list[str]) -> None:
    def read(path: str) -> bytes | None:
        return files[path].encode() if path in files else None

    assert list(detected(files, read)) == wanted


def test_only_what_was_clean_on_the_base_binds() -> None:
    base = (
        CommandResult(RUFF, 0),
        CommandResult(MYPY, 1, "3 errors"),
        CommandResult("gone", 127),
        CommandResult(ESLINT, None, "stopped at the deadline"),
    )
    assert binding(base) == (RUFF,)
    assert noted(base, (CommandResult(RUFF, 2),)) == {
        RUFF: "exit code 2",
        MYPY: NOT_BINDING,
        "gone": NOT_BINDING,
        ESLINT: NOT_BINDING,
    }


def test_what_commands_found_is_told_without_control_characters_and_within_limits() -> None:
    runs = (
        CommandResult(RUFF, 0, "all good"),
        CommandResult(MYPY, 1, "\x1b[31ma.py:1: error\x1b[0m\n" + "x" * 9000 + "\nFound 1 error\n"),
    )
    assert failures(runs) == ("`mypy .`: exit code 1: Found 1 error",)
    shown = outputs(runs)
    assert shown.startswith("$ mypy .\n(exit code 1)\n")
    assert "all good" not in shown
    assert "\x1b" not in shown
    assert len(shown.encode()) < 4200


@pytest.mark.parametrize("path", ["ruff.toml", "web/tsconfig.json", ".eslintrc.json", "mypy.ini"])
def test_a_change_cannot_loosen_a_tool_unless_the_specification_names_the_file(path: str) -> None:
    assert loosened([path, "app.py"], ()) == (f"{path}: the configuration of quality commands must stay as it is.",)
    assert loosened([path, "app.py"], (path,)) == ()
