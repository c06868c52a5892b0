"""The demonstration's board shows titles as people write them: brackets are text, and drive nothing."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from rich.console import Console

from console.demo.board import Board, evidence_table
from lab.demo.outcome import Merged
from lab.demo.setup import REPOSITORY
from lab.github.server import Lab

TITLE = "Support [/search] and [bold]route\x1b[31m"


async def test_a_title_with_brackets_is_shown_whole(tmp_path: Path) -> None:
    async with Lab(tmp_path / "github") as lab:
        await lab.repository(REPOSITORY, {"README.md": "hello\n"})
        lab.issue(REPOSITORY, TITLE, author="ada", labels=("story",))
        console = Console(file=StringIO(), force_terminal=False, width=100)
        board = Board(lab, console)
        board.say("halted: [/x]")
        console.print(board)
        assert isinstance(console.file, StringIO)
        shown = console.file.getvalue()
    assert "Support [/search] and [bold]route" in shown
    assert "halted: [/x]" in shown
    assert "\x1b" not in shown


def test_a_test_with_brackets_is_shown_whole() -> None:
    console = Console(file=StringIO(), width=100)
    merged = Merged(1, "t", "", (("tests/a.py::test_a[/search]", "failed", "passed"),), ("[/figures]",))
    console.print(evidence_table(merged))
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert "test_a[/search]" in shown
    assert "[/figures]" in shown
