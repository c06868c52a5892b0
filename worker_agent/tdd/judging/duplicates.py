"""New tests that repeat another: the same code over the same names, wherever it stands (pure)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from worker_agent.tdd.judging.python_source import Function, bound, each_test, parse, used
from worker_agent.tdd.runners.report import TestId


def duplicate_tests(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> dict[TestId, TestId]:
    """New test -> the test it repeats, which is older or stands earlier under another name.

    `base` and `head` hold Python test files by path; ids are without parameters. Two tests are the
    same if their code is, docstring apart, and if every name of their file that they use, however
    indirectly, means the same.
    """
    known = {fingerprint: test for path, content in sorted(base.items()) for test, fingerprint in _tests(path, content)}
    old = {test for path, content in base.items() for test, _ in _tests(path, content)}
    repeated: dict[TestId, TestId] = {}
    for path, content in sorted(head.items()):
        last = dict(_tests(path, content))  # of two tests with one name the last one runs
        for test, fingerprint in last.items():
            if test not in old and known.setdefault(fingerprint, test) != test:
                repeated[test] = known[fingerprint]
    return repeated


def _tests(path: str, content: bytes) -> Iterator[tuple[TestId, str]]:
    source = parse(content) if path.endswith(".py") else None
    if source is None:
        return
    definitions = _definitions(source.tree, path)
    for name, function in each_test(source.tree):
        scopes = _scopes(source.tree, name[:-1])
        yield "::".join([path, *name]), _fingerprint(function, scopes, definitions)


def _definitions(tree: ast.Module, path: str) -> dict[str, list[tuple[str, ast.stmt]]]:
    """What each module-level name means: the text of whatever binds it."""
    found: dict[str, list[tuple[str, ast.stmt]]] = {}
    for node in tree.body:
        for position, name in enumerate(bound(node)):
            found.setdefault(name, []).append((_meaning(node, position, path), node))
    return found


def _meaning(node: ast.stmt, position: int, path: str) -> str:
    if isinstance(node, ast.ImportFrom):
        where = PurePosixPath(path).parent if node.level else ""
        return f"{where}{'.' * node.level}{node.module}:{node.names[position].name}"
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
    pieces = [type(function).__name__, *map(ast.dump, [function.args, *function.decorator_list, *_code(function)])]
    pieces += map(ast.dump, around)
    pending = sorted(used(function).union(*map(used, around)))
    seen = {function.name}
    while pending:
        name = pending.pop()
        if name in definitions and name not in seen:
            seen.add(name)
            pieces += [f"{name}={meaning}" for meaning, _ in definitions[name]]
            pending += sorted(used_name for _, node in definitions[name] for used_name in used(node))
    return "\n".join(pieces)


def _code(function: Function) -> list[ast.stmt]:
    first = function.body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1:] if has_docstring else function.body


def _surroundings(scope: ast.ClassDef) -> list[ast.AST]:
    """What a class lends its tests: bases, decorators, and every member that is no test itself."""
    members = [node for node in scope.body if not any(name.startswith("test") for name in bound(node))]
    return [*scope.bases, *scope.decorator_list, *members]
