"""Python test files as statements: their exact bytes, the names they bind and the names they use (pure)."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef

DEPTH_LIMIT = 100
"""Nesting of syntax up to which a file is read; deeper ones would exhaust Python's own stack."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a module or class: its node, its whole lines with decorators, what it binds."""

    node: ast.stmt
    text: bytes
    names: tuple[str, ...]

    @property
    def is_import(self) -> bool:
        """An import: compared name by name, because its form does not matter."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Source:
    """A file that parses."""

    lines: tuple[bytes, ...]
    tree: ast.Module

    def statements(self, body: Sequence[ast.stmt]) -> list[Statement]:
        """The statements of one block."""
        return [Statement(node, self._lines(first_line(node), node.end_lineno), bound(node)) for node in body]

    def header(self, node: ast.ClassDef) -> bytes:
        """A class up to its first statement: decorators, name, bases."""
        return self._lines(first_line(node), first_line(node.body[0]) - 1)

    def _lines(self, first: int, last: int | None) -> bytes:
        return b"".join(self.lines[first - 1 : last])


def parse(content: bytes) -> Source | None:
    """The file, or None when it is not Python or nests too deeply to be compared."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in somebody's test is not our warning
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if _deeper(tree, DEPTH_LIMIT):
        return None
    ended = content if content.endswith(b"\n") else content + b"\n"  # only what follows may differ at the last line
    return Source(tuple(ended.splitlines(keepends=True)), tree)


def _deeper(tree: ast.Module, limit: int) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(limit):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return bool(level)


def first_line(node: ast.stmt) -> int:
    """Where a statement starts, its decorators included; lines count from 1."""
    decorators = node.decorator_list if isinstance(node, _DEFINITIONS) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def bound(node: ast.AST) -> tuple[str, ...]:
    """The names that running a statement binds in its own block."""
    if isinstance(node, _DEFINITIONS):
        return (node.name,)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return tuple(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    own = (node.name,) if isinstance(node, ast.ExceptHandler) and node.name else ()
    return own + tuple(name for child in ast.iter_child_nodes(node) for name in bound(child))


def used(node: ast.AST) -> frozenset[str]:
    """The names that code takes from around it: globals, and parameters of functions, which name fixtures."""
    if isinstance(node, ast.Module | ast.ClassDef):
        return frozenset().union(*map(used, ast.iter_child_nodes(node)))
    names = [found for found in ast.walk(node) if isinstance(found, ast.Name)]
    loaded = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return frozenset(loaded)
    stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return frozenset(loaded - stored) | parameters(node)


def parameters(node: ast.AST) -> frozenset[str]:
    """The parameters of all functions in a piece of code."""
    return frozenset(found.arg for found in ast.walk(node) if isinstance(found, ast.arg))


def each_test(
    tree: ast.Module | ast.ClassDef, scope: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Function]]:
    """Every test function with its qualified name, classes included."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from each_test(node, (*scope, node.name))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield (*scope, node.name), node
