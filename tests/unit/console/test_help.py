"""The help of `workflow-engine` in 80 columns: groups, `-h`, and no line that ends before the words do."""

from __future__ import annotations

import itertools

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from console.__main__ import app
from console.help import GROUPS, unwrapped

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


def test_paragraphs_become_lines() -> None:
    assert unwrapped("a\nb\n\n  c\n") == "a b\n\nc"
