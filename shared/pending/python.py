"""Pending tests of pytest: `skip` and `xfail` with a reason that begins with `spec:`, on functions and classes (pure).

Files are parsed and never imported. Markers that cannot be cut out line by line are not found.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shared.pending import Marked, is_spec

_LONE_CR = re.compile(rb"\r(?!\n)")
"""Python treats it as a line end, tokenize does not."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class _Names:
    """A file's names for pytest, for `pytest.mark`, and for markers that it assigns to a name (name -> reason)."""

    pytest: set[str] = field(default_factory=set)
    mark: set[str] = field(default_factory=set)
    markers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _File:
    """One parsed file; `decorators` maps each line of a decorator to its first and last line."""

    path: str
    content: bytes
    tree: ast.Module
    names: _Names
    decorators: Mapping[int, tuple[int, int]]


def scan(path: str, content: bytes) -> tuple[Marked, ...]:
    """Return the pending tests of a file; none if it cannot be parsed."""
    tree = None if _LONE_CR.search(content) else _parse(content)
    if tree is None:
        return ()
    try:
        file = _File(path, content, tree, _names(tree), _decorator_lines(content))
        return tuple(_find_tests(file, tree.body, ()))
    except (RecursionError, tokenize.TokenError, SyntaxError, IndentationError):
        return ()


def _parse(content: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in somebody's test is not our warning
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(tree: ast.Module) -> _Names:
    names = _Names()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names.pytest.update(alias.asname or alias.name for alias in node.names if alias.name == "pytest")
        elif isinstance(node, ast.ImportFrom) and node.module == "pytest" and not node.level:
            names.mark.update(alias.asname or alias.name for alias in node.names if alias.name == "mark")
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            reason = _reason(node.value, names)
            names.markers.pop(node.targets[0].id, None)
            if reason:
                names.markers[node.targets[0].id] = reason
    return names


def _reason(node: ast.expr, names: _Names) -> str:
    """Return the reason why a decorator makes a test wait for its code; empty if it does not."""
    if isinstance(node, ast.Name):
        return names.markers.get(node.id, "")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    kind, holder = node.func.attr, node.func.value
    ours = (isinstance(holder, ast.Name) and holder.id in names.mark) or (
        isinstance(holder, ast.Attribute)
        and holder.attr == "mark"
        and isinstance(holder.value, ast.Name)
        and holder.value.id in names.pytest
    )
    if not ours or kind not in {"skip", "xfail"}:
        return ""
    given: dict[str | None, ast.expr] = {word.arg: word.value for word in node.keywords}
    if kind == "xfail" and (node.args or "condition" in given):
        return ""  # it waits only where its condition holds
    reason = given.get("reason") or (node.args[0] if node.args else None)
    text = reason.value if isinstance(reason, ast.Constant) and isinstance(reason.value, str) else ""
    return text.strip() if is_spec(text) else ""


def _find_tests(file: _File, body: Sequence[ast.stmt], scope: tuple[str, ...]) -> Iterator[Marked]:
    for node in body:
        if not isinstance(node, _DEFINITIONS) or not _holds_tests(node):
            continue
        reasons = {
            index: reason for index, one in enumerate(node.decorator_list) if (reason := _reason(one, file.names))
        }
        if reasons:
            cuts = _cuts(file, node, reasons)
            if cuts and _only_marker_goes(file, node, reasons, cuts):
                test = "::".join((file.path, *scope, node.name))
                yield Marked(test, next(iter(reasons.values())), node.decorator_list[min(reasons)].lineno, cuts)
        elif isinstance(node, ast.ClassDef):  # in one that waits as a whole, its tests wait for the class first
            yield from _find_tests(file, node.body, (*scope, node.name))


def _holds_tests(node: ast.stmt) -> bool:
    if isinstance(node, ast.ClassDef):
        return any(_holds_tests(inner) for inner in node.body)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")


def _cuts(file: _File, node: _Definition, reasons: Mapping[int, str]) -> tuple[tuple[int, int], ...]:
    """Return the byte ranges of these decorators' lines; nothing unless each of them has lines of its own."""
    starts = _line_starts(file.content)
    spans = [file.decorators.get(node.decorator_list[index].lineno) for index in reasons]
    return tuple((starts[first - 1], starts[last]) for first, last in filter(None, spans)) if all(spans) else ()


def _line_starts(content: bytes) -> list[int]:
    """Return the offset of each line, and of the end."""
    return [0, *(found.end() for found in re.finditer(rb"\n", content)), len(content)]


def _decorator_lines(content: bytes) -> dict[int, tuple[int, int]]:
    """Map each line of a decorator to the first and the last line of that decorator."""
    found: dict[int, tuple[int, int]] = {}
    first: int | None = None
    fresh = True
    skipped = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
    for token in tokenize.tokenize(io.BytesIO(content).readline):
        if token.type == tokenize.NEWLINE:
            if first is not None:
                found |= dict.fromkeys(range(first, token.start[0] + 1), (first, token.start[0]))
            first, fresh = None, True
        elif fresh and token.type not in skipped:
            first, fresh = token.start[0] if token.string == "@" else None, False
    return found


def _only_marker_goes(
    file: _File, node: _Definition, reasons: Mapping[int, str], cuts: tuple[tuple[int, int], ...]
) -> bool:
    """Return whether cutting `cuts` out of the file removes these decorators and changes nothing else."""
    after = file.content
    for start, end in sorted(cuts, reverse=True):
        after = after[:start] + after[end:]
    parsed = _parse(after)
    if parsed is None:
        return False
    kept = node.decorator_list
    node.decorator_list = [one for index, one in enumerate(kept) if index not in reasons]
    try:
        return ast.dump(parsed) == ast.dump(file.tree)
    finally:
        node.decorator_list = kept
