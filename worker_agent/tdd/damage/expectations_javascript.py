"""Checks of JavaScript and TypeScript tests that surely run; `expect` and `assert` have files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import Check, Edits, Flow, after, before, word
from worker_agent.tdd.damage.expectations_flow import Reader, Shapes, flow
from worker_agent.tdd.damage.expectations_javascript_checks import assertion_check, expectation_check
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source, outermost, walk
from worker_agent.tdd.syntax.units_found import arguments, child, field_text, statements

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration", "generator_function"})
_WHOLE = frozenset({"expression_statement", "return_statement", "await_expression"})
_SUBTESTS = re.compile(r"(?:\w+\.)?(?:test|step|it|run)$|(?:\w+\.)?(?:act|subtest)$")
_THROWS = re.compile(r"(?:expect|assert)\.(?:fail|unreachable)|(?:\w+\.)?fail\(|throw\b")


@dataclass(frozen=True)
class JavaScriptReader(Reader):
    """The reader of checks in one file; `constants` are values by name."""

    shapes = Shapes(
        loops=words("for_in_statement for_statement while_statement do_statement"),
        functions=_FUNCTIONS | words("class_declaration method_definition generator_function_declaration"),
        plain=words("statement_block else_clause"),
    )
    constants: Mapping[str, Node]

    def check(self, statement: Node) -> Check | None:
        """Return the check of a statement, or of the expression that a short function consists of."""
        expression, is_settled = _expression(statement)
        if expression is None or expression.type not in {"call_expression", "member_expression"}:
            return None
        found = expectation_check(self.source, expression, is_settled=is_settled)
        if found is None:
            found = assertion_check(self.source, expression, is_settled=is_settled)
        if found is None:
            return None
        negate = found.negate or self._require_throw(statement, expression)
        return Check(negate, found.literal, found.exception)

    def loops_surely(self, loop: Node) -> bool:
        """Return whether a loop runs over a literal that is not empty."""
        over = child(loop, "right")
        return loop.type == "for_in_statement" and over is not None and self._is_filled(over, 4)

    def helper(self, statement: Node) -> Node | None:
        expression, is_settled = _expression(statement)
        if expression is None or expression.type != "call_expression":
            return None
        body = self.functions.get(field_text(self.source, expression, "function"))
        is_async = body is not None and body.parent is not None and _is_async(body.parent)
        return None if body is None or (is_async and not is_settled) else body

    def callbacks(self, statement: Node) -> Iterable[tuple[Node, bool]]:
        """Yield bodies of functions passed to calls; those for elements of a literal array surely run."""
        expression, is_settled = _expression(statement)
        for found in (each for part in statement.named_children for each in outermost(part, _is_function)):
            body = child(found, "body")
            if body is None:
                continue
            call = found.parent.parent if found.parent is not None else None
            is_direct = call is not None and call == expression
            yield body, is_direct and call is not None and self._runs(call, is_settled, _is_async(found))

    def handled(self, attempt: Node) -> Flow:
        """Return the checks of a `try`: its body may end anywhere if there is a handler."""
        body = child(attempt, "body")
        handler, last = child(attempt, "handler"), child(attempt, "finalizer")
        found = flow(self, body) if body is not None and handler is None else Flow()
        caught = child(handler, "body")
        if caught is not None and body is not None:
            listed = list(statements(body))
            ends = bool(listed) and bool(_THROWS.match(self.source.text(listed[-1])))
            inner = flow(self, caught)
            found = inner if ends and listed[-1].type == "throw_statement" else Flow([], inner.demoted())
        closing = child(last, "body")
        if closing is not None:
            found.add(flow(self, closing))
        return found

    def skips(self, block: Node) -> bool:
        texts = [self.source.text(found) for found in statements(block)]
        return any(re.match(r"(?:return\s+)?\w+\.skip\(", text) or _THROWS.match(text) for text in texts)

    def shelters(self, statement: Node) -> bool:
        """Return whether failures within a statement are expected: a call that checks, but cannot be damaged."""
        expression, _ = _expression(statement)
        text = "" if expression is None else self.source.text(expression)
        return bool(re.match(r"(?:expect|assert)\b|\w+\.(?:throws|rejects|throwsAsync)\(", text)) or ".catch(" in text

    def _require_throw(self, statement: Node, expression: Node) -> Edits:
        """Return edits that require the statement to throw; none if it calls functions of the file, damaged as well."""
        parent = statement.parent
        if statement.type != "expression_statement" or parent is None or parent.type != "statement_block":
            return ()
        names = {field_text(self.source, found, "function") for found in walk(expression)}
        if not names.isdisjoint(self.functions):
            return ()
        name = word(self.source, statement)
        left = f"{{ let {name} = 1; try {{ "
        right = f" }} catch {{ {name} = 0 }} if ({name}) throw new Error('{name}') }}"
        return (before(statement, left), after(statement, right))

    def _runs(self, call: Node, is_settled: bool, is_async: bool) -> bool:
        function = child(call, "function")
        if field_text(self.source, function, "property") == "forEach":
            owner = child(function, "object")
            return owner is not None and not is_async and self._is_filled(owner, 4)
        return is_settled and function is not None and bool(_SUBTESTS.match(self.source.text(function)))

    def _is_filled(self, node: Node, depth: int) -> bool:
        """Return whether an expression has at least one element."""
        if node.type in {"as_expression", "satisfies_expression", "parenthesized_expression"}:
            return self._is_filled(node.named_children[0], depth)
        if node.type in {"array", "object"}:
            return any(found.type != "spread_element" for found in statements(node))
        name = self.source.text(node)
        if node.type == "identifier" and depth and name in self.constants:
            return self._is_filled(self.constants[name], depth - 1)
        function = child(node, "function")
        if re.match(r"Object\.(?:entries|keys|values)$", self.source.text(function) if function else ""):
            given = arguments(node)
            return bool(depth and given) and self._is_filled(given[0], depth - 1)
        if node.type == "call_expression" and field_text(self.source, function, "property") in {"entries", "keys"}:
            owner = child(function, "object")
            return bool(depth) and owner is not None and self._is_filled(owner, depth - 1)
        return False


def reader_of(source: Source, tests: frozenset[int]) -> JavaScriptReader:
    """Return the reader of a file; a name that is defined twice is not followed."""
    functions: dict[str, Node] = {}
    constants: dict[str, Node] = {}
    spoiled: set[str] = set()
    for node in walk(source.root):
        name, value = field_text(source, node, "name"), child(node, "value")
        body = child(node, "body") if node.type == "function_declaration" else child(value, "body")
        if node.type not in {"function_declaration", "variable_declarator"}:
            continue
        if name in functions or name in constants:
            spoiled.add(name)
        if body is not None and (value is None or value.type in _FUNCTIONS):
            functions[name] = body
        elif value is not None:
            constants[name] = value
    return JavaScriptReader(
        source,
        {name: body for name, body in functions.items() if name not in spoiled},
        {name: value for name, value in constants.items() if name not in spoiled},
    )


def _expression(statement: Node) -> tuple[Node | None, bool]:
    """Return the expression of a statement, and True if the test waits for it."""
    found: Node | None = statement
    parent = statement.parent
    is_settled = parent is not None and parent.type == "arrow_function"
    while found is not None and found.type in _WHOLE:
        is_settled = is_settled or found.type in {"return_statement", "await_expression"}
        found = next(statements(found), None)
    return found, is_settled


def _is_function(node: Node) -> bool:
    return node.type in _FUNCTIONS


def _is_async(function: Node) -> bool:
    return any(found.type == "async" for found in function.children)
