"""The layout of a question on a terminal: within its margins, and with room for the answer."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.console import Console

from planner_agent.terminal.entry import laid_out

APPROVE = "Create 1 specification issue in ada/directory? [Y/n/edit]"


@pytest.mark.parametrize(
    ("columns", "question", "shown"),
    [
        (120, APPROVE, f"{APPROVE} "),
        (100, APPROVE, f"{APPROVE}\n> "),
        (40, APPROVE, "Create 1 specification issue in\nada/directory? [Y/n/edit]\n> "),
        (40, "Answer:", "Answer: "),
        (20, "名前で検索しますか、番号で?", "名前で検索しますか、\n番号で? "),
    ],
)
def test_a_question_fits_its_terminal(columns: int, question: str, shown: str) -> None:
    assert laid_out(question, Console(width=columns)) == shown
    assert all(cell_len(line.rstrip()) <= columns for line in shown.splitlines())
