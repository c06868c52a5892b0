"""Public names that a change takes away or renames, found mechanically, whatever a model says of it (pure)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

SOURCE_BYTES = 1_000_000
"""A longer file is not parsed; nobody writes one by hand."""

_PRIVATE_PARTS = frozenset(
    {"test", "tests", "testing", "__tests__", "spec", "docs", "examples", "benchmarks", "scripts"}
)
"""Directories whose names nobody outside of the repository calls."""

_TEST_FILE = re.compile(r"(test_.*|.*_test|.*[.](test|spec)|conftest|setup)[.]\w+")

_OTHERS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts"),
        re.compile(
            r"export\s+(?:default\s+|declare\s+|abstract\s+|async\s+)*"
            r"(?:function\*?|class|const|let|var|interface|type|enum)\s+(\w+)"
        ),
    ),
    ".go": re.compile(r"(?:func\s+(?:\([^)]*\)\s*)?|type\s+|var\s+|const\s+)([A-Z]\w*)"),
    ".rs": re.compile(r"pub\s+(?:async\s+|unsafe\s+|const\s+)*(?:fn|struct|enum|trait|type|mod|static|const)\s+(\w+)"),
    ".java": re.compile(r"\s*public\s+(?:[\w<>\[\],]+\s+)*?(?:class|interface|enum|record)\s+(\w+)"),
}
"""How other languages make a name public; only what stands on one line is seen."""


def is_public(path: str) -> bool:
    """Whether a file is of a kind that is looked into, and may be imported from outside."""
    place = PurePosixPath(path)
    if place.suffix != ".py" and place.suffix not in _OTHERS:
        return False
    hidden = any(part in _PRIVATE_PARTS or part.startswith((".", "_")) for part in place.parts[:-1])
    private = place.name.startswith("_") and place.stem != "__init__"
    return not (hidden or private or _TEST_FILE.fullmatch(place.name))


def removed(path: str, before: str, after: str) -> tuple[str, ...]:
    """The public names that the file has `before` and no longer `after` (empty: it is gone), sorted.

    What cannot be parsed is said to lose nothing: the model and the checks see that it is broken.
    """
    if max(len(before), len(after)) > SOURCE_BYTES:
        return ()
    if PurePosixPath(path).suffix == ".py":
        old, new = _of_python(before), _of_python(after)
        return () if old is None or new is None else tuple(sorted(old[0] - new[1]))
    pattern = _OTHERS[PurePosixPath(path).suffix]
    return tuple(sorted(_named(pattern, before) - _named(pattern, after)))


def _named(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(found[1] for line in text.splitlines() if (found := pattern.match(line)))


def _of_python(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The names that a module defines for others, and all that can be asked of it, imported ones too."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    defined = frozenset(_defined(tree.body))
    public = frozenset(name for name in defined if not any(part.startswith("_") for part in name.split(".")))
    return public, defined | frozenset(_imported(tree.body))


def _defined(body: list[ast.stmt], owner: str = "") -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield owner + name
            case ast.ClassDef(name=name):
                yield owner + name
                yield from _defined(statement.body, f"{owner}{name}.")
            case ast.Assign(targets=targets):
                yield from (owner + one.id for one in targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield owner + name
            case ast.If() | ast.Try():
                yield from _defined([*statement.body, *statement.orelse], owner)
                yield from _defined([s for one in getattr(statement, "handlers", ()) for s in one.body], owner)
            case _:
                continue


def _imported(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
