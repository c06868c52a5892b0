"""New Python tests that repeat another: the same code over the same names, in any file (pure)."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from worker_agent.tdd.runners.test_run import TestId

Function = ast.FunctionDef | ast.AsyncFunctionDef

DEPTH_LIMIT = 100
"""Nesting of syntax up to which a file is read; deeper ones would exhaust Python's own stack."""


def duplicate_tests(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> dict[TestId, TestId]:
    """Map each new test to the test it repeats, which is older or is earlier under another name.

    `base` and `head` hold Python test files by path; ids are without parameters. Two tests are the same if their code
    is, except the docstring, and if every name of their file that they use, directly or not, means the same.
    """
    every = [each for path, content in sorted(base.items()) for each in _tests(path, content)]
    old = {test for test, _ in every}
    first_tests = {fingerprint: test for test, fingerprint in every}
    repeated: dict[TestId, TestId] = {}
    for path, content in sorted(head.items()):
        last = dict(_tests(path, content))  # of two tests with one name the last one runs
        for test, fingerprint in last.items():
            if test not in old and first_tests.setdefault(fingerprint, test) != test:
                repeated[test] = first_tests[fingerprint]
    return repeated


def _tests(path: str, content: bytes) -> Iterator[tuple[TestId, str]]:
    tree = _parse(content) if path.endswith(".py") else None
    if tree is None:
        return
    definitions = _definitions(tree, path)
    for name, function in _each_test(tree):
        scopes = _scopes(tree, name[:-1])
        yield "::".join([path, *name]), _fingerprint(function, scopes, definitions)


def _definitions(tree: ast.Module, path: str) -> dict[str, list[tuple[str, ast.stmt]]]:
    """Map each module-level name to its meaning: the text of the statements that bind it."""
    found: dict[str, list[tuple[str, ast.stmt]]] = {}
    for node in tree.body:
        for position, name in enumerate(_bound_names(node)):
            found.setdefault(name, []).append((_meaning(node, position, path), node))
    return found


def _meaning(node: ast.stmt, position: int, path: str) -> str:
    if isinstance(node, ast.ImportFrom):
        directory = PurePosixPath(path).parent if node.level else ""
        return f"{directory}{'.' * node.level}{node.module}:{node.names[position].name}"
    if isinstance(node, ast.Import):
        return ast.dump(node.names[position])
    return ast.dump(node)


def _scopes(tree: ast.Module, classes: tuple[str, ...]) -> list[ast.ClassDef]:
    found: list[ast.ClassDef] = []
    body = tree.body
    for name in classes:
        found.append([node for node in body if isinstance(node, ast.ClassDef) and node.name == name][-1])
        body = found[-1].body
    return found


def _fingerprint(
    function: Function, scopes: list[ast.ClassDef], definitions: Mapping[str, list[tuple[str, ast.stmt]]]
) -> str:
    around = [part for scope in scopes for part in _surroundings(scope)]
    pieces = [
        type(function).__name__,
        *map(ast.dump, [function.args, *function.decorator_list, *_body_without_docstring(function)]),
    ]
    pieces += map(ast.dump, around)
    pending = sorted(_used_names(function).union(*map(_used_names, around)))
    visited = {function.name}
    while pending:
        name = pending.pop()
        if name in definitions and name not in visited:
            visited.add(name)
            pieces += [f"{name}={meaning}" for meaning, _ in definitions[name]]
            pending += sorted(used_name for _, node in definitions[name] for used_name in _used_names(node))
    return "\n".join(pieces)


def _body_without_docstring(function: Function) -> list[ast.stmt]:
    first = function.body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1:] if has_docstring else function.body


def _surroundings(scope: ast.ClassDef) -> list[ast.AST]:
    """Return the parts of a class that affect its tests: bases, decorators, and members that are no tests."""
    members = [node for node in scope.body if not any(name.startswith("test") for name in _bound_names(node))]
    return [*scope.bases, *scope.decorator_list, *members]


def _parse(content: bytes) -> ast.Module | None:
    """Parse a file; return None if it is not Python or nests too deeply to be compared."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in somebody's test is not our warning
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    level: list[ast.AST] = [tree]
    for _ in range(DEPTH_LIMIT):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return None if level else tree


def _bound_names(node: ast.AST) -> tuple[str, ...]:
    """Return the names that running a statement binds in its own block."""
    if isinstance(node, Function | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return tuple(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    caught = (node.name,) if isinstance(node, ast.ExceptHandler) and node.name else ()
    return caught + tuple(name for child in ast.iter_child_nodes(node) for name in _bound_names(child))


def _used_names(node: ast.AST) -> frozenset[str]:
    """Return the names that code takes from around it: globals, and parameters of functions, which name fixtures."""
    if isinstance(node, ast.Module | ast.ClassDef):
        return frozenset().union(*map(_used_names, ast.iter_child_nodes(node)))
    names = [found for found in ast.walk(node) if isinstance(found, ast.Name)]
    loaded = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    if not isinstance(node, Function):
        return frozenset(loaded)
    stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    parameters = {found.arg for found in ast.walk(node) if isinstance(found, ast.arg)}
    return frozenset((loaded - stored) | parameters)


def _each_test(
    tree: ast.Module | ast.ClassDef, scope: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Function]]:
    """Yield every test function with its qualified name, classes included."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _each_test(node, (*scope, node.name))
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield (*scope, node.name), node
