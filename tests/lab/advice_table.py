"""Every advice that the engine can print, as its own code has it: `tests/lab/story/test_advice.py` follows each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from shared.llm.port import Ending
from shared.retry.failures import Category
from shared.retry.run_errors import advice

ROOT = Path(__file__).parents[2]
ROOMS = ("planner_agent", "worker_agent", "reviewer_agent", "shared")


def places() -> frozenset[str]:
    """Return `module.function` or `module.Class` of each place that composes a "What to do" or sets an `advice`."""
    found = set[str]()
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found |= {f"{module}.{name}" for name in _owners(ast.parse(path.read_text("utf-8")), "")}
    return frozenset(found - PASSED_ON)


PASSED_ON = frozenset({"shared.retry.run_errors.RunEnded", "shared.errors.EngineError"})
"""Errors that only pass on an advice composed elsewhere."""


def _owners(node: ast.AST, owner: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.ClassDef) or (
            isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("__")
        )
        inner = str(getattr(child, "name", "")) if named else owner
        if _tells(child) and inner:
            yield inner
        yield from _owners(child, inner)


def _tells(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and "**What to do:**" in node.value
    if not isinstance(node, ast.Assign):
        return False
    return any(isinstance(target, ast.Attribute) and target.attr == "advice" for target in node.targets)


def of_runs() -> dict[str, list[tuple[Category, Ending | None]]]:
    """Return each advice about a run that ended, with the categories and endings for which it is given."""
    told: dict[str, list[tuple[Category, Ending | None]]] = {}
    for category in Category:
        for ending in (None, *Ending):
            told.setdefault(advice(category, ending), []).append((category, ending))
    return told
