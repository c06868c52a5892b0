"""Checks of Rust tests: the assertion macros and `should_panic`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import Check, Edit, Edits, Flow, moved, over, word
from worker_agent.tdd.damage.expectations_flow import Reader, Shapes, bodies_by_name
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source, walk
from worker_agent.tdd.syntax.units_found import FoundTest, child, field_text, statements

_OPPOSITES = {
    "assert_eq": "assert_ne",
    "assert_ne": "assert_eq",
    "debug_assert_eq": "debug_assert_ne",
    "debug_assert_ne": "debug_assert_eq",
}
_CONDITIONS = frozenset({"assert", "debug_assert"})
_UNITS = re.compile(r"(\d[\d_]*)((?:[ui](?:8|16|32|64|128|size))?)$")
_SMALL = 100
"""Numbers below this are moved by one: a larger step may not fit into a byte, which does not compile."""


class RustReader(Reader):
    """The reader of checks in one file."""

    shapes = Shapes(
        loops=words("for_expression while_expression loop_expression"),
        functions=words("closure_expression function_item async_block"),
        plain=words("block unsafe_block expression_statement"),
        conditions=words("if_expression"),
        tries=words("match_expression"),
        leaves=words("return_expression break_expression continue_expression"),
    )

    def check(self, statement: Node) -> Check | None:
        """Return the check of an assertion macro."""
        macro = _inner(statement)
        if macro is None or macro.type != "macro_invocation":
            return None
        name = re.split("::", field_text(self.source, macro, "macro"))[-1]
        tree = next((found for found in macro.named_children if found.type == "token_tree"), None)
        if tree is None:
            return None
        if name in _OPPOSITES:
            literal = self._literal(tree) if name.endswith("_eq") else ()
            named = child(macro, "macro")
            lead = field_text(self.source, macro, "macro").removesuffix(name)
            return Check((over(named, lead + _OPPOSITES[name]),) if named is not None else (), literal)
        if name in _CONDITIONS:
            first = _arguments(tree)[:1]
            return Check(_negation(first[0])) if first and first[0] else None
        return None

    def loops_surely(self, loop: Node) -> bool:
        """Return whether a loop runs over a literal list or range that is not empty."""
        value = child(loop, "value")
        text = "" if value is None else self.source.text(value)
        filled = re.match(r"&?(?:vec!)?\s*\[\s*[^\]\s;]", text) is not None and ";" not in text.split("]")[0]
        range_ = re.fullmatch(r"\(?(\d+)\s*\.\.(=?)\s*(\d+)\)?", text)
        return filled or (range_ is not None and int(range_[1]) < int(range_[3]) + bool(range_[2]))

    def helper(self, statement: Node) -> Node | None:
        call = _inner(statement)
        if call is None or call.type != "call_expression":
            return None
        return self.functions.get(field_text(self.source, call, "function"))

    def callbacks(self, statement: Node) -> Iterable[tuple[Node, bool]]:
        """Yield the closures, which may run."""
        for found in walk(statement):
            body = child(found, "body") if found.type == "closure_expression" else None
            if body is not None and body.type == "block":
                yield body, False

    def skips(self, block: Node) -> bool:
        return bool(re.match(r"\{?\s*(?:panic|unreachable|unimplemented|todo)!", self.source.text(block)))

    def shelters(self, statement: Node) -> bool:
        """Return whether panics in a statement are caught or happen in another thread."""
        return re.search(r"\bcatch_unwind\b|\bspawn\(", self.source.text(statement)) is not None

    def ended_by(self, test: FoundTest) -> Flow | None:
        """Return the panic that `should_panic` asks for; damaged, it has an impossible text."""
        found = test.node.prev_named_sibling
        while found is not None and (found.type == "attribute_item" or "comment" in found.type):
            if re.match(r"#\[should_panic\b", self.source.text(found)):
                text = f'#[should_panic(expected = "{word(self.source, found)}")]'
                return Flow([(Check(exception=(over(found, text),)),)])
            found = found.prev_named_sibling
        return None

    def _literal(self, tree: Node) -> Edits:
        """Return the edit of one of the two compared values, if it is a literal by itself."""
        for argument in reversed(_arguments(tree)[:2]):
            if len(argument) == 1 and (edits := changed(self.source, argument[0])):
                return edits
        return ()


def changed(source: Source, node: Node) -> Edits:
    """Return the edit that changes a literal into another one of its type."""
    text = source.text(node)
    if node.type == "string_literal" and text.endswith('"'):
        return (Edit(node.end_byte - 1, node.end_byte - 1, word(source, node)),)
    if node.type == "boolean_literal":
        return (over(node, "false" if text == "true" else "true"),)
    number = _UNITS.match(text) if node.type == "integer_literal" else None
    if number is None:
        return ()
    value = int(number[1].replace("_", ""))
    other = value + 1 if value < _SMALL else value - 1 - moved(source, node) % (_SMALL // 2)
    return (over(node, f"{other}{number[2]}"),)


def _inner(statement: Node) -> Node | None:
    found: Node | None = statement
    while found is not None and found.type in {"expression_statement", "try_expression", "await_expression"}:
        found = next(statements(found), None)
    return found


def _arguments(tree: Node) -> list[list[Node]]:
    """Return the tokens between the commas of a macro's arguments."""
    found: list[list[Node]] = [[]]
    for token in tree.children[1:-1]:
        if token.type == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def _negation(argument: list[Node]) -> Edits:
    start, end = argument[0].start_byte, argument[-1].end_byte
    return (Edit(start, start, "!("), Edit(end, end, ")"))


def reader_of(source: Source, tests: frozenset[int]) -> RustReader:
    """Return the reader of a file; functions that start at one of `tests` are no helpers."""
    return RustReader(source, bodies_by_name(source, "function_item", tests))
