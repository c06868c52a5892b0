"""Docstrings say what a thing is, as a noun, or what a function does, as a verb; never a clause without a main verb."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CLAUSES = frozenset(
    {"As", "How", "Since", "So", "That", "Until", "What", "Whatever", "When"}
    | {"Where", "Whether", "Which", "Who", "Whoever", "Whom", "Whose", "Why"}
)
"""First words of a docstring that has no main verb of its own."""

_PERHAPS = re.compile(rf"""["'][\s\\,.:;`]*(?:{"|".join(CLAUSES)})\b""")
"""Pattern in every file that has such a docstring: the others need not be parsed, which takes a second."""

ROOT = Path(__file__).resolve().parents[3]

ROOMS = (
    "benchmarks",
    "config",
    "console",
    "lab",
    "planner_agent",
    "reviewer_agent",
    "runtime",
    "shared",
    "tests",
    "worker_agent",
)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring, those of constants and fields included."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else ():
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                yield one.lineno, one.value.value.strip()


@pytest.mark.parametrize("room", ROOMS)
def test_no_docstring_is_a_clause_without_a_main_verb(room: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in sorted((ROOT / room).rglob("*.py"))
        if _PERHAPS.search(source := path.read_text(encoding="utf-8"))
        for line, text in docstrings(source)
        if text and text.split()[0].strip(",.:;`") in CLAUSES
    ]
    assert found == []


def test_a_clause_is_found_wherever_it_stands() -> None:
    source = '"""What it is."""\nA = 1\n"""So many."""\n\n\ndef f() -> None:\n    """Return it."""\n'
    assert [text.split()[0] in CLAUSES for _, text in docstrings(source)] == [True, True, False]
    assert [_PERHAPS.search(line) is not None for line in source.splitlines()].count(True) == 2
