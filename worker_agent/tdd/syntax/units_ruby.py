"""Tests of a Ruby file: RSpec's examples with their full description, minitest's methods and blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import (
    Case,
    FoundTest,
    arguments,
    child,
    field_text,
    first_text,
    statements,
    without_unfocused,
)

_GROUPS = frozenset(["describe", "context", "feature", "xdescribe", "xcontext", "fdescribe", "fcontext"])
_EXAMPLES = words("it specify example scenario xit xspecify xexample fit fspecify fexample pending skip its")
_HOOKS = frozenset(["before", "after", "around", "setup", "teardown", "let!", "subject", "subject!", "include_context"])
_TEST_CLASS = re.compile(r"Test\b|TestCase\b|Spec\b")


@dataclass(frozen=True, slots=True)
class _Title:
    """One part of a description, and the pattern that it fits; `is_module` if it is a class or module itself."""

    text: str
    shape: str
    is_module: bool = False


@dataclass(frozen=True, slots=True)
class _Scope:
    titles: tuple[_Title, ...] = ()
    around: tuple[Node, ...] = ()
    cases: tuple[Case, ...] = ()
    skipped: str = ""
    focused: bool = False


def found_in(source: Source) -> Iterator[FoundTest]:
    """Yield the tests, in the order of the file; if one is focused, the others count as skipped."""
    return without_unfocused(_tests(source, source.root, _Scope()), "another test is focused")


def block_of(call: Node) -> Node | None:
    """Return the body of the block that a call is given."""
    return child(child(call, "block"), "body")


def _tests(source: Source, block: Node, scope: _Scope) -> Iterator[tuple[FoundTest, bool]]:
    for node in statements(block):
        if node.type == "call":
            yield from _call(source, node, scope)
        elif node.type == "class":
            yield from _class(source, node, scope)
        elif node.type in {"module", "if", "unless", "body_statement", "then", "else", "begin"}:
            yield from _tests(source, child(node, "body") or node, scope)


def _call(source: Source, node: Node, scope: _Scope) -> Iterator[tuple[FoundTest, bool]]:
    method, receiver = field_text(source, node, "method"), child(node, "receiver")
    has_block = child(node, "block") is not None
    if method in _GROUPS and has_block and (receiver is None or source.text(receiver) == "RSpec"):
        yield from _tests(source, block_of(node) or node, _group(source, node, scope))
    elif receiver is None and (method in _EXAMPLES or method == "test") and (has_block or arguments(node)):
        if scope.titles or method == "test":
            yield _example(source, node, scope)
    elif has_block and (body := block_of(node)) is not None:
        cases = () if receiver is None else tuple(_elements(receiver))
        yield from _tests(source, body, replace(scope, cases=(*scope.cases, *cases)))


def _elements(receiver: Node) -> Iterator[Case]:
    listed = list(statements(receiver)) if receiver.type in {"array", "hash"} else [receiver]
    yield from (Case("", found) for found in listed)


def _group(source: Source, node: Node, scope: _Scope) -> _Scope:
    hooks = [found for found in statements(block_of(node)) if field_text(source, found, "method") in _HOOKS]
    method = field_text(source, node, "method")
    return _Scope(
        (*scope.titles, *(_title(source, found) for found in arguments(node) if not _is_option(found))),
        (*scope.around, *hooks),
        scope.cases,
        _skip(source, node) or scope.skipped,
        scope.focused or (method.startswith("f") and method != "feature") or _is_focused(source, node),
    )


def _example(source: Source, node: Node, scope: _Scope) -> tuple[FoundTest, bool]:
    titles = [_title(source, found) for found in arguments(node)[:1] if not _is_option(found)]
    body, method = block_of(node), field_text(source, node, "method")
    name, pattern = _join_titles(scope.titles, titles)
    if not titles:
        pattern += r"( .*)?"
    if method == "test" and scope.titles:
        name = f"{scope.titles[-1].text}::test_{re.sub(r'[^0-9A-Za-z_]', '_', titles[0].text)}" if titles else name
    found = FoundTest(
        name,
        node,
        () if body is None else (body,),
        body,
        scope.around,
        cases=scope.cases,
        skipped=_skip(source, node) or _skips_first(source, body) or scope.skipped,
        dynamic=pattern if pattern != re.escape(name) and method != "test" else "",
    )
    return found, scope.focused or method in {"fit", "fspecify", "fexample"} or _is_focused(source, node)


def _join_titles(groups: Sequence[_Title], own: Sequence[_Title]) -> tuple[str, str]:
    """Return joined descriptions as in RSpec: blanks between, but none from a module to a group `#a`, `.a` or `::A`."""
    name, pattern, before = "", "", None
    for index, title in enumerate([*groups, *own]):
        is_member = index < len(groups) and before is not None and before.is_module
        gap = "" if not name or (is_member and re.match(r"#|::|\.", title.text)) else " "
        name, pattern, before = f"{name}{gap}{title.text}", f"{pattern}{re.escape(gap)}{title.shape}", title
    return name, pattern


def _title(source: Source, node: Node) -> _Title:
    if node.type == "string":
        pieces = [(source.text(n), re.escape(source.text(n))) for n in node.named_children if n.type != "interpolation"]
        if len(pieces) == len(node.named_children):
            return _Title("".join(text for text, _ in pieces), "".join(shape for _, shape in pieces))
        shapes = [".*" if n.type == "interpolation" else re.escape(source.text(n)) for n in node.named_children]
        return _Title(source.text(node)[1:-1], "".join(shapes))
    text = source.text(node).lstrip(":")
    is_constant = node.type in {"constant", "scope_resolution"}
    is_plain = is_constant or node.type == "simple_symbol"
    return _Title(text, re.escape(text) if is_plain else ".*", is_constant or text == "described_class")


def _is_option(node: Node) -> bool:
    return node.type == "pair" or (node.type == "simple_symbol" and node.prev_named_sibling is not None)


def _is_focused(source: Source, node: Node) -> bool:
    return any(re.match(r":(?:focus|fit)$|focus:\s*true", source.text(found)) for found in arguments(node))


def _skip(source: Source, node: Node) -> str:
    method = field_text(source, node, "method")
    if method.startswith("x") or method in {"pending", "skip"} or child(node, "block") is None:
        return method
    for found in arguments(node):
        text = source.text(found)
        if re.match(r":(?:skip|pending)$|(?:skip|pending):(?!\s*false)", text):
            return text
    return ""


def _skips_first(source: Source, body: Node | None) -> str:
    text = first_text(source, body)
    return text.splitlines()[0] if re.match(r"(?:skip|pending|return)\b", text) else ""


def _class(source: Source, node: Node, scope: _Scope) -> Iterator[tuple[FoundTest, bool]]:
    """Yield minitest's tests: methods of a class whose parent is a test case."""
    name, body = field_text(source, node, "name"), child(node, "body")
    is_test = bool(_TEST_CLASS.search(field_text(source, node, "superclass") + name))
    setup = [found for found in statements(body) if field_text(source, found, "name") in {"setup", "teardown"}]
    setup += [found for found in statements(body) if field_text(source, found, "method") in _HOOKS]
    inner = replace(scope, titles=(*scope.titles, _Title(name, re.escape(name))), around=(*scope.around, *setup))
    names = "::".join(title.text for title in inner.titles)
    for found in statements(body):
        method = field_text(source, found, "name")
        if found.type == "method" and method.startswith("test") and is_test:
            inside = child(found, "body")
            parts = () if inside is None else (inside,)
            skipped = _skips_first(source, inside)
            yield FoundTest(f"{names}::{method}", found, parts, inside, inner.around, (node,), skipped=skipped), False
    if body is not None:
        yield from _tests(source, body, inner)
