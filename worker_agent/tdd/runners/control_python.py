"""Control tests for a Python file: functions or methods at random places among its own, with ordinary bodies."""

from __future__ import annotations

import ast
import codecs
import secrets
from collections.abc import Sequence

from worker_agent.tdd.runners.control import Control

_PASSING = (
    ("{a} = {number}", "assert {a} + 1 == {more}"),
    ("{a} = ['{b}', '{a}']", "assert sorted({a}) == sorted(['{a}', '{b}'])"),
)
_FAILING = (
    ("{a} = {number}", "assert {a} == {more}"),
    ("{a} = ['{b}', '{a}_{b}']", "assert len({a}) == {more}"),
    ("assert '{b}'.upper() == '{a}_{b}'",),
)
_PASSING_METHODS = (
    ("{a} = {number}", "self.assertEqual({a} + 1, {more})"),
    ("{a} = ['{b}', '{a}']", "self.assertIn('{b}', {a})"),
)
_FAILING_METHODS = (
    ("{a} = {number}", "self.assertEqual({a}, {more})"),
    ("{a} = ['{b}', '{a}_{b}']", "self.assertEqual(len({a}), {more})"),
    ("self.assertTrue('{b}'.isupper())",),
)
_CASES = frozenset({"TestCase", "unittest.TestCase", "IsolatedAsyncioTestCase", "unittest.IsolatedAsyncioTestCase"})
_NEEDS = frozenset(
    {"setUp", "asyncSetUp", "setUpClass", "__init__", "run", "tearDown", "asyncTearDown", "tearDownClass"}
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def control(path: str, content: bytes, names: Sequence[str], methods_only: bool = False) -> Control | None:
    """Return the file with two passing and two failing control tests; None if it cannot be read as Python.

    They are methods in a file whose tests are all methods of a `TestCase`, and with `methods_only` always.
    """
    content = content.removeprefix(codecs.BOM_UTF8)
    tree = _tree(content) if path.endswith(".py") else None
    if tree is None:
        return None
    methods = methods_only or _only_methods(tree)
    if methods and not _classes(tree):
        return None
    words = [f"{_prefix(tree)}{name}" for name in names[:4]]
    text = content
    for index, word in enumerate(words):
        text = _with_method(text, word, index < 2) if methods else _with_function(text, word, index < 2)
    return Control.of(path, text, words)


def _tree(content: bytes) -> ast.Module | None:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _only_methods(tree: ast.Module) -> bool:
    functions = [node for node in tree.body if isinstance(node, _Function) and node.name.startswith("test")]
    return bool(_classes(tree)) and not functions


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    """Return the classes of the file whose only base is a `TestCase`."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return [node for node in classes if len(node.bases) == 1 and ast.unparse(node.bases[0]) in _CASES]


def _prefix(tree: ast.Module) -> str:
    """Return the beginning of the file's test functions' names."""
    functions = [node.name for node in ast.walk(tree) if isinstance(node, _Function)]
    named = [name for name in functions if name.startswith("test")]
    return "test_" if not named or any(name.startswith("test_") for name in named) else "test"


def _with_function(content: bytes, word: str, passes: bool) -> bytes:
    """Return the file with a function before one of its top-level definitions, or at its end."""
    tree, lines = ast.parse(content), _lines(content)
    starts = [_start(node) for node in tree.body if isinstance(node, _Function | ast.ClassDef)]
    at = secrets.choice([*starts, len(lines)])
    body = _fill_body(_PASSING if passes else _FAILING, word)
    return _insert_lines(lines, at, ["", "", f"def {word}():", *(f"    {line}" for line in body), "", ""])


def _with_method(content: bytes, word: str, passes: bool) -> bytes:
    """Return the file with a method in one of its classes, or in a new one if each of them needs a set-up."""
    tree, lines = ast.parse(content), _lines(content)
    free = [node for node in _classes(tree) if not any(getattr(part, "name", "") in _NEEDS for part in node.body)]
    body = _fill_body(_PASSING_METHODS if passes else _FAILING_METHODS, word)
    if not free:
        base = ast.unparse(secrets.choice(_classes(tree)).bases[0])
        title = "Test" + word.removeprefix("test").title().replace("_", "")
        method = [f"    def {word}(self):", *(f"        {line}" for line in body)]
        return _insert_lines(
            lines, _start(secrets.choice(_classes(tree))), [f"class {title}({base}):", *method, "", ""]
        )
    place = secrets.choice(free)
    starts = [_start(part) for part in place.body if isinstance(part, _Function)]
    at = secrets.choice([*starts, place.end_lineno or len(lines)])
    lead = _indentation(lines, place)
    return _insert_lines(lines, at, ["", f"{lead}def {word}(self):", *(f"{lead}{lead}{line}" for line in body), ""])


def _indentation(lines: Sequence[bytes], place: ast.ClassDef) -> str:
    line = lines[place.body[-1].lineno - 1].decode("utf-8", "replace")
    return line[: len(line) - len(line.lstrip())] or "    "


def _fill_body(bodies: Sequence[tuple[str, ...]], word: str) -> list[str]:
    parts = [part for part in word.split("_") if part.isidentifier() and part != "test"]
    number = 2 + secrets.randbelow(90)
    first, last = (parts or ["value"])[0], (parts or ["value"])[-1]
    return [line.format(a=f"{first}_value", b=last, number=number, more=number + 1) for line in secrets.choice(bodies)]


def _lines(content: bytes) -> list[bytes]:
    """Return the lines as the parser counts them: a form feed is not the end of one."""
    return [part + b"\n" for part in content.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")]


def _insert_lines(lines: Sequence[bytes], at: int, text: Sequence[str]) -> bytes:
    return b"".join([*lines[:at], *(f"{line}\n".encode() for line in text), *lines[at:]])


def _start(node: _Function | ast.ClassDef) -> int:
    """Return the index of the first line of a definition, its decorators included."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
