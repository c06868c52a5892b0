"""Tests of a JavaScript or TypeScript file: vitest, jest, mocha, node:test, tap and their like.

Also titles of JavaScript tests: as written, and as regular expressions for their form at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import (
    Case,
    FoundTest,
    arguments,
    child,
    field_text,
    first_text,
    inside,
    statements,
    without_unfocused,
)

TESTS = frozenset(["it", "test", "specify", "fit", "xit", "ftest", "xtest", "xspecify"])
BLOCKS = frozenset(["describe", "context", "suite", "fdescribe", "xdescribe", "xcontext"])
_HOOKS = frozenset(["before", "beforeEach", "beforeAll", "after", "afterEach", "afterAll", "setup", "teardown"])
_OBJECTS = frozenset({"Deno", "QUnit"})
_OFF = frozenset({"skip", "todo", "failing", "fails", "skipIf", "runIf"})
_ALIAS = re.compile(
    rb"\b(?:const|let|var)\s+(\w+)\s*=\s*(?:[^;{}\n?]+\?\s*[\w.]+\s*:\s*)?(it|test|describe)"
    rb"(?:\.\w+)?(?:\.(?:extend|skipIf|runIf)\(|\s*[;\n?])"
)


_MAKES_TESTS = re.compile(r"\b(?:it|test|specify|describe|context|suite)\b(?:\.[\w.]+)?\s*[(`]")


@dataclass(frozen=True, slots=True)
class JavaScriptCall:
    """A call such as `it.skip.each(table)(title, body)`: its first word, the words after it, tables in between."""

    root: str
    words: tuple[str, ...]
    tables: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class _Scope:
    titles: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    around: tuple[Node, ...] = ()
    cases: tuple[Case, ...] = ()
    skipped: str = ""
    focused: bool = False


def found_in(source: Source) -> Iterator[FoundTest]:
    """Yield the tests, in the order of the file; if one is focused, the others count as skipped."""
    every = list(_tests(source, source.root, _Scope(around=_hooks(source, source.root))))
    acting = _acting(source, [found.node for found, _ in every])
    for found in without_unfocused(every, "another test is focused with only"):
        yield replace(found, beside=acting)


def _acting(source: Source, tests: list[Node]) -> tuple[Node, ...]:
    """Return the statements of the module that may act on its tests, without those that make tests.

    Those are loops, and calls of functions of the file in which there are tests.
    """
    found = []
    for statement in statements(source.root):
        text = source.text(statement)
        if acts_on_its_own(source, statement) and not _MAKES_TESTS.search(text):
            called = re.match(r"\w*", text)
            makers = [] if called is None else _functions(source, called[0])
            if not any(inside(test, maker) for test in tests for maker in makers):
                found.append(statement)
    return tuple(found)


def _functions(source: Source, name: str) -> list[Node]:
    """Return the statements of the module that define a function of this name."""
    defining = re.compile(rf"(?:export\s+)?(?:async\s+)?(?:function\*?|const|let|var)\s+{re.escape(name)}\b")
    return [found for found in statements(source.root) if name and defining.match(source.text(found))]


def acts_on_its_own(source: Source, statement: Node) -> bool:
    """Return whether a statement of a module may act on tests that do not call it: mocks, patches, matchers."""
    if statement.type in {"if_statement", "for_statement"}:
        return True
    if statement.type != "expression_statement" or not statement.named_children:
        return False
    inner = statement.named_children[0]
    if inner.type == "call_expression":
        return call_of(source, inner).root not in TESTS | BLOCKS
    return inner.type in {"assignment_expression", "await_expression"}


def call_of(source: Source, node: Node) -> JavaScriptCall:
    """Return the words of a call's function, from its first."""
    words: list[str] = []
    tables: list[Node] = []
    function = child(node, "function")
    while function is not None:
        if function.type == "member_expression":
            words.append(field_text(source, function, "property"))
            function = child(function, "object")
        elif function.type == "call_expression":
            tables.append(function)
            function = child(function, "function")
        else:
            break
    root = source.text(function) if function is not None and function.type == "identifier" else ""
    root = _aliases(source).get(root, root)
    if root in _OBJECTS and words:
        root = "describe" if words.pop() == "module" else "test"
    if root == "test" and words and words[-1] in BLOCKS | _HOOKS:
        root = words.pop()
    return JavaScriptCall(root, tuple(reversed(words)), tuple(reversed(tables)))


@lru_cache(maxsize=4)
def _aliases(source: Source) -> dict[str, str]:
    """Return the file's own names for test functions: `const posixTest = isWindows ? test.skip : test`."""
    return {match[1].decode(): match[2].decode() for match in _ALIAS.finditer(source.content)}


def callback(call: Node) -> Node | None:
    """Return the last function among the arguments of a call."""
    return next((found for found in reversed(arguments(call)) if found.type in FUNCTIONS), None)


def is_test(source: Source, node: Node) -> bool:
    """Return whether a node is a call that makes a test."""
    if node.type != "call_expression":
        return False
    call = call_of(source, node)
    given = arguments(node)
    has_body = callback(node) is not None or "todo" in call.words or (len(given) > 1 and given[-1].type == "identifier")
    return call.root in TESTS and bool(given) and has_body


def _is_block(source: Source, node: Node) -> bool:
    return node.type == "call_expression" and call_of(source, node).root in BLOCKS and callback(node) is not None


def _tests(source: Source, node: Node, scope: _Scope) -> Iterator[tuple[FoundTest, bool]]:
    pending = [(found, scope) for found in reversed(node.named_children)]
    while pending:
        found, around = pending.pop()
        if is_test(source, found):
            yield _test(source, found, around)
            continue
        inner = (_block if _is_block(source, found) else _loop_scope)(source, found, around)
        pending.extend((each, inner) for each in reversed(found.named_children))


def _loop_scope(source: Source, node: Node, scope: _Scope) -> _Scope:
    """Return the scope within a loop: its values are cases, one by one if they are literals."""
    if node.type == "for_in_statement":
        over = child(node, "right")
    elif node.type == "call_expression" and field_text(source, child(node, "function"), "property") == "forEach":
        over = child(child(node, "function"), "object")
    else:
        return scope
    return scope if over is None else replace(scope, cases=(*scope.cases, *_elements(source, over)))


def _elements(source: Source, node: Node) -> Iterator[Case]:
    values = _array(source, node)
    yield from (Case("", found) for found in (statements(values) if values is not None else [node]))


def _array(source: Source, node: Node) -> Node | None:
    """Return the array of an expression, also if it is the name of a constant of the file."""
    while node.type in {"as_expression", "satisfies_expression", "parenthesized_expression"}:
        node = node.named_children[0]
    if node.type == "array":
        return node
    if node.type == "identifier":
        for statement in statements(source.root):
            for found in statement.named_children:
                if found.type == "variable_declarator" and field_text(source, found, "name") == source.text(node):
                    value = child(found, "value")
                    return value if value is not None and value.type == "array" else None
    return None


def _block(source: Source, node: Node, scope: _Scope) -> _Scope:
    call = call_of(source, node)
    body = child(callback(node), "body")
    shown, pattern = title_of(source, node, is_table=_has_table(call))
    return _Scope(
        (*scope.titles, shown),
        (*scope.patterns, pattern),
        (*scope.around, *(_hooks(source, body) if body is not None else ())),
        (*scope.cases, *(case for table in call.tables for case in _table(source, table))),
        _skip(source, node, call) or scope.skipped,
        scope.focused or _is_focused(call),
    )


def _hooks(source: Source, block: Node) -> tuple[Node, ...]:
    """Return the calls of `beforeEach` and the like directly in a block."""
    found = []
    for statement in statements(block):
        call = statement.named_children[0] if statement.type == "expression_statement" else statement
        if call.type == "call_expression" and call_of(source, call).root in _HOOKS:
            found.append(statement)
    return tuple(found)


def _test(source: Source, node: Node, scope: _Scope) -> tuple[FoundTest, bool]:
    call = call_of(source, node)
    function = callback(node)
    body = child(function, "body")
    shown, pattern = title_of(source, node, is_table=_has_table(call))
    titles, patterns = (*scope.titles, shown), (*scope.patterns, pattern)
    is_dynamic = any(re.escape(title) != pattern for title, pattern in zip(titles, patterns, strict=True))
    given = [
        found for found in (child(function, "parameters"), child(function, "parameter"), body) if found is not None
    ]
    unrun = [found for found in function.children if found.type == "*"] if function is not None else []
    parts = [*unrun, *given] or [found for found in arguments(node)[1:] if found.type == "identifier"]
    cases = tuple(case for table in call.tables for case in _table(source, table))
    parent = node.parent
    whole = parent if parent is not None and parent.type == "expression_statement" else node
    found = FoundTest(
        " > ".join(titles),
        whole,
        tuple(parts),
        body,
        scope.around,
        cases=(*scope.cases, *cases),
        skipped=_skip(source, node, call) or _skips_first(source, body) or scope.skipped,
        dynamic=" > ".join(patterns) if is_dynamic else "",
        made_by=re.split(r"\W", source.text(node), maxsplit=1)[0],
    )
    return found, scope.focused or _is_focused(call)


def _has_table(call: JavaScriptCall) -> bool:
    return bool(call.tables) or not {"each", "for"}.isdisjoint(call.words)


def _is_focused(call: JavaScriptCall) -> bool:
    return "only" in call.words or call.root in {"fit", "fdescribe", "ftest"}


def _skip(source: Source, node: Node, call: JavaScriptCall) -> str:
    for word in call.words:
        if word in _OFF:
            return f".{word}"
    if call.root.startswith("x"):
        return call.root
    for found in arguments(node):
        if found.type == "object":
            option = re.search(r"\b(?:skip|todo|fails)\s*:(?!\s*false\b)[^,}]*", source.text(found))
            if option:
                return option[0].strip()
    return ""


def _skips_first(source: Source, body: Node | None) -> str:
    text = first_text(source, body)
    skips = re.match(r"(?:return\s+)?(?:\w+\.)?(?:skip|pending|todo)\(|return\s*;?$", text)
    return text.splitlines()[0] if skips else ""


def _table(source: Source, table: Node) -> Iterator[Case]:
    """Yield the rows of `.each(...)` and of each`...`."""
    given = child(table, "arguments")
    if given is None:
        return
    if given.type == "template_string":
        header = source.text(given).strip("`").strip().splitlines()[:1]
        width = (header[0].count("|") + 1) if header else 1
        cells = [found for found in given.named_children if found.type == "template_substitution"]
        yield from (Case(f"{index % width}", cell) for index, cell in enumerate(cells))
        return
    for found in statements(given):
        yield from _elements(source, found)


FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_PRINTED = re.compile(r"%[sdifjopO#$%]|\$\w[\w.]*|\$#")
ANYTHING = ".*"


def title_of(source: Source, call: Node, *, is_table: bool) -> tuple[str, str]:
    """Return a title as written, and a regular expression for its form at run time."""
    given = arguments(call)
    first = given[0] if given else None
    if first is None or first.type in FUNCTIONS:
        name = field_text(source, first, "name")
        return name, re.escape(name)
    shown, pattern = _text(source, first)
    if is_table:
        pattern = _PRINTED.sub("\0", shown)
        pattern = ANYTHING.join(re.escape(piece) for piece in pattern.split("\0"))
    return shown, pattern


def _text(source: Source, node: Node) -> tuple[str, str]:
    if node.type == "string":
        text = _unescape(source.text(node)[1:-1])
        return text, re.escape(text)
    if node.type == "template_string":
        pieces = [
            ANYTHING if c.type == "template_substitution" else re.escape(source.text(c)) for c in node.named_children
        ]
        return source.text(node)[1:-1], "".join(pieces)
    if node.type == "binary_expression" and field_text(source, node, "operator") == "+":
        left, right = child(node, "left"), child(node, "right")
        if left is not None and right is not None:
            one, two = _text(source, left), _text(source, right)
            return one[0] + two[0], one[1] + two[1]
    return source.text(node), ANYTHING


def _unescape(text: str) -> str:
    return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", lambda found: _escape(found[1]), text, flags=re.DOTALL)


def _escape(letters: str) -> str:
    if letters[0] in "ux" and len(letters) > 1:
        return chr(int(letters[1:], 16))
    return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "\n": ""}.get(letters, letters)
