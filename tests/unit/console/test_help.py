"""The help of `workflow-engine` in 80 columns: groups, `-h`, and no line that ends before the words do."""

from __future__ import annotations

import itertools
import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from console.app import app
from console.help import GROUPS, unwrapped
from console.orders import ACTIONS

COMMANDS = [name for names in GROUPS.values() for name in names]
RUNNER = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})


def test_every_command_has_a_group() -> None:
    assert list(getattr(get_command(app), "commands", {})) == COMMANDS
    said = RUNNER.invoke(app, ["-h"]).output
    assert [title for title in GROUPS if f"─ {title} ─" in said] == list(GROUPS)
    assert "--install-completion" in said


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_ends_before_the_words_do(name: str) -> None:
    shown = RUNNER.invoke(app, [name, "-h"]).output.splitlines()
    assert any("--help" in line and "-h" in line for line in shown)
    text = [line.rstrip() for line in shown if line[:1] not in {"╭", "│", "╰"}]
    for line, following in itertools.pairwise(text):
        word = following.split()[:1]
        assert not (line and word) or len(line) + 1 + len(word[0]) > 78, f"{line!r} has room for {word[0]!r}"
    assert max(map(len, shown)) <= 80


def test_every_action_of_recover_is_listed() -> None:
    shown = " ".join(RUNNER.invoke(app, ["recover", "-h"]).output.replace("│", " ").split())
    assert f"{', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}." in shown


def test_every_command_is_told_in_one_line() -> None:
    """A first sentence that goes on in a second line cannot be read down the column."""
    shown = RUNNER.invoke(app, ["-h"]).output.splitlines()
    rows = [line for line in shown if line.startswith("│ ")]
    commands = [row for row in rows if not row.startswith("│ -")]
    assert [row.split()[1] for row in commands] == COMMANDS
    assert all(row.rstrip("│ ").endswith(".") for row in rows), rows


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_no_type_of_the_language_is_shown(name: str) -> None:
    shown = RUNNER.invoke(app, [*filter(None, [name]), "-h"]).output
    assert not re.search(r"<(bool|str|int|float|path|list.*?)>|\[\[", shown)


@pytest.mark.parametrize("name", ["run", "start", "tdd", "init", "doctor", "status", "recover"])
def test_no_option_of_the_first_commands_needs_two_lines(name: str) -> None:
    shown = RUNNER.invoke(app, [name, "-h"]).output.splitlines()
    rows = [line for line in shown if line.startswith("│ ")]
    assert [row for row in rows if not re.match(r"│ +(\*? +[A-Za-z]|--)", row)] == []


def test_paragraphs_become_lines() -> None:
    assert unwrapped("a\nb\n\n  c\n") == "a b\n\nc"
