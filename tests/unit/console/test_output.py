"""The output of commands: no text in it can control a terminal, whoever wrote it."""

from __future__ import annotations

import pytest

from runtime.output import laid_out, say


@pytest.mark.parametrize("error", [False, True])
def test_nothing_that_is_said_drives_a_terminal_or_hides(capsys: pytest.CaptureFixture[str], error: bool) -> None:
    say("\x1b]0;title\x07a\x1b[2Jb\x9b31mc\u200dd\u202ee\x08\tf\r\ng", error=error)
    said = capsys.readouterr()
    assert (said.err if error else said.out) == "abcde\tf\ng\n"
    assert (said.out if error else said.err) == ""


def test_a_command_at_the_end_of_a_line_can_be_copied_whole() -> None:
    command = "workflow-engine tdd --resume find-users-by-name-3f2a"
    line = f"Ctrl-C stops it. Go on with: {command}"
    assert laid_out(line, 90) == line
    assert laid_out(line, 70) == f"Ctrl-C stops it. Go on with:\n  {command}"
    assert laid_out(line, 30) == f"Ctrl-C stops it. Go on with:\n  {command}"


def test_what_goes_on_stands_where_it_is_told_to() -> None:
    assert laid_out("  0:07  one two three", 16, indent=8) == "  0:07  one two\n        three"
    assert laid_out("  0:07  one two", 16, indent=8) == "  0:07  one two"
