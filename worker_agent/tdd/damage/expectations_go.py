"""Checks of Go tests: conditions that report a failure, and the assertions of testify and its like."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import (
    Check,
    Edits,
    after,
    around,
    both_ways,
    first_of,
    moved,
    over,
    word,
)
from worker_agent.tdd.damage.expectations_flow import Reader, Shapes
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source, outermost, walk
from worker_agent.tdd.syntax.units_found import arguments, child, field_text, statements

_REPORTS = re.compile(r"\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$|panic$")
_NEGATED = words("Equal Nil Empty Contains Zero Same Panics Regexp ElementsMatch ErrorIs")
_OPPOSITES = both_ways({"True": "False", "NoError": "Error", **{name: f"Not{name}" for name in _NEGATED}})
_OWNERS = re.compile(r"(?:assert|require|\w*[sS]uite|s|a|r|is)(?:\.Assert\(\)|\.Require\(\))?$")
_LOOSE = re.compile(r"\|\||!=|<|>|^!")


class GoReader(Reader):
    """The reader of checks in one file."""

    shapes = Shapes(
        loops=words("for_statement"),
        functions=words("func_literal"),
        plain=words("block statement_list"),
        tries=frozenset(),
    )

    def check(self, statement: Node) -> Check | None:
        """Return the check of a condition that only leads to a report, or of an assertion."""
        if statement.type == "if_statement":
            return self._reported_check(statement)
        call = self._call(statement)
        return None if call is None else self._asserted_check(call)

    def loops_surely(self, loop: Node) -> bool:
        """Return whether a loop runs over a literal that is not empty."""
        clause = next((found for found in loop.named_children if found.type == "range_clause"), None)
        over_ = child(clause, "right")
        if over_ is None:
            return False
        if over_.type == "identifier":
            return self._is_filled_name(loop, self.source.text(over_))
        return _is_filled(over_)

    def helper(self, statement: Node) -> Node | None:
        call = self._call(statement)
        return None if call is None else self.functions.get(field_text(self.source, call, "function"))

    def callbacks(self, statement: Node) -> Iterable[tuple[Node, bool]]:
        """Yield the functions passed to `t.Run`, which surely run."""
        call = self._call(statement)
        is_run = call is not None and field_text(self.source, call, "function").endswith(".Run")
        for found in outermost(statement, lambda node: node.type == "func_literal"):
            body = child(found, "body")
            if body is not None:
                yield body, is_run

    def skips(self, block: Node) -> bool:
        return self._reporter(block) is not None or bool(re.match(r"\{\s*\w+\.Skip", self.source.text(block)))

    def shelters(self, statement: Node) -> bool:
        """Return whether failures in a statement are hidden: deferred functions see failures of others."""
        return statement.type in {"defer_statement", "go_statement"}

    def _call(self, statement: Node) -> Node | None:
        found = next(statements(statement), None) if statement.type == "expression_statement" else None
        return found if found is not None and found.type == "call_expression" else None

    def _reported_check(self, statement: Node) -> Check | None:
        condition, body = child(statement, "condition"), child(statement, "consequence")
        if condition is None or body is None or child(statement, "alternative") is not None:
            return None
        reporter = self._reporter(body)
        if not reporter:
            return None
        stop = after(body.children[0], f" {reporter}.FailNow();")
        return Check((*around(condition, "!(", ")"), stop), self._literal(condition))

    def _reporter(self, body: Node) -> str | None:
        """Return the object that a block always reports a failure to: `t`; empty for a panic, None if it reports none.

        A damaged condition stops there: the text of an error that is nil would end the tests of the whole package.
        """
        block = next(statements(body), None)
        listed = list(statements(block)) if block is not None and block.type == "statement_list" else []
        for call in (call for found in listed if (call := self._call(found)) is not None):
            name = field_text(self.source, call, "function")
            if _REPORTS.match(name):
                return name.rpartition(".")[0]
        return None

    def _literal(self, condition: Node) -> Edits:
        """Return the edit of `got != 3` to another number, which reports as well; also for `!reflect.DeepEqual`."""
        if condition.type == "binary_expression" and field_text(self.source, condition, "operator") == "!=":
            sides = [side for name in ("right", "left") if (side := child(condition, name)) is not None]
            return first_of(changed(self.source, side) for side in sides)
        return ()

    def _asserted_check(self, call: Node) -> Check | None:
        function = child(call, "function")
        owner, name = child(function, "operand"), child(function, "field")
        if owner is None or name is None or not _OWNERS.match(self.source.text(owner)):
            return None
        text = self.source.text(name)
        plain = text.removesuffix("f") if text.endswith("f") else text
        if plain not in _OPPOSITES:
            return None
        opposite = _OPPOSITES[plain] + ("f" if plain != text else "")
        negate = () if plain == "ErrorIs" else (over(name, opposite),)
        return Check(negate, self._expected_value(call, plain))

    def _expected_value(self, call: Node, name: str) -> Edits:
        if name not in {"Equal", "Contains"}:
            return ()
        return first_of(changed(self.source, found) for found in arguments(call)[:3])

    def _is_filled_name(self, loop: Node, name: str) -> bool:
        """Return whether a name is bound to a literal that is not empty, here or in the file."""
        scope: Node | None = loop
        while scope is not None:
            for found in scope.children if scope.type in {"statement_list", "source_file"} else ():
                for declared in (found, *found.named_children):
                    is_it = name in {field_text(self.source, declared, field) for field in ("left", "name")}
                    value = child(declared, "right") or child(declared, "value")
                    if is_it and value is not None and declared.type != "assignment_statement":
                        return _is_filled(value.named_children[0] if value.named_children else value)
            scope = scope.parent
        return False


def changed(source: Source, node: Node) -> Edits:
    """Return the edit that changes a literal."""
    text = source.text(node)
    if node.type == "interpreted_string_literal":
        return (over(node, f'{text[:-1]}{word(source, node)}"'),)
    if node.type == "int_literal" and re.fullmatch(r"[1-9]\d{0,8}|0", text):
        return (over(node, str((int(text) + moved(source, node) % 50 + 1) if int(text) < 60 else int(text) - 1)),)
    if node.type in {"true", "false"}:
        return (over(node, "false" if node.type == "true" else "true"),)
    return ()


def _is_filled(value: Node) -> bool:
    body = child(value, "body") if value.type == "composite_literal" else None
    return body is not None and any(True for _ in statements(body))


def reader_of(source: Source, tests: frozenset[int]) -> GoReader:
    """Return the reader of a file; functions that start at one of `tests` are no helpers, those in variables are."""
    found: dict[str, Node] = {}
    for node in walk(source.root):
        body = child(node, "body")
        if node.type == "function_declaration" and body is not None and node.start_byte not in tests:
            found[field_text(source, node, "name")] = body
        elif node.type == "short_var_declaration":
            literals = [each for each in walk(node) if each.type == "func_literal"][:1]
            inner = child(literals[0], "body") if literals else None
            if inner is not None and literals[0].start_byte == (child(node, "right") or node).start_byte:
                found[field_text(source, node, "left")] = inner
    return GoReader(source, found)
