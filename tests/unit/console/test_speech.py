"""What a command says drives no terminal, whoever wrote the words."""

from __future__ import annotations

import pytest

from runtime.output import say


@pytest.mark.parametrize("error", [False, True])
def test_nothing_that_is_said_drives_a_terminal_or_hides(capsys: pytest.CaptureFixture[str], error: bool) -> None:
    say("\x1b]0;title\x07a\x1b[2Jb\x9b31mc\u200dd\u202ee\x08\tf\r\ng", error=error)
    said = capsys.readouterr()
    assert (said.err if error else said.out) == "abcde\tf\ng\n"
    assert (said.out if error else said.err) == ""
