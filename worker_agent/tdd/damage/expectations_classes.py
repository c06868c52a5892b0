"""Checks of Java, C# and PHP tests: the assertions of JUnit, TestNG, AssertJ, xunit, NUnit, MSTest and PHPUnit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_classes_calls import NEVER_IN_JAVA, CallExpression, call_of, damaged
from worker_agent.tdd.damage.expectations_edits import Check, Flow, first_of, over
from worker_agent.tdd.damage.expectations_flow import Reader, Shapes, flow
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, Source, walk
from worker_agent.tdd.syntax.units_classes import mark_name, marks
from worker_agent.tdd.syntax.units_found import FoundTest, child, field_text, statements

_BROAD = re.compile(r"\b(?:Throwable|Error|AssertionError|Exception|AssertionFailedError|XunitException)\b")
_ENDS = re.compile(r"(?:\$this->|self::|static::|\w+\.)?[fF]ail\(")
_SKIPS = re.compile(
    r"(?:\$this->|self::|static::|\w+\.)*(?:markTest\w+|assumeTrue|Skip\w*|Ignore|Inconclusive|[fF]ail)\(|throw\b"
)
_SHELTERS = re.compile(
    r"assert(?:Throws|All|Timeout)\w*|Throws\w*|ThrowsAny\w*|ThrowsAsync|assertThatThrownBy|doesNotThrow"
)
_ITEMS = words("array_initializer array_creation_expression initializer_expression implicit_array_creation_expression")


class ClassReader(Reader):
    """The reader of checks in one file."""

    shapes = Shapes(
        loops=words("for_statement enhanced_for_statement foreach_statement while_statement do_statement"),
        functions=words(
            "lambda_expression anonymous_function arrow_function local_function_statement class_body"
            " anonymous_function_creation_expression"
        ),
        plain=words("block compound_statement using_statement"),
        tries=words("try_statement try_with_resources_statement"),
    )

    def check(self, statement: Node) -> Check | None:
        """Return the check of a call, if it is an assertion."""
        call = self._call(statement)
        return None if call is None else damaged(self.source, call)

    def loops_surely(self, loop: Node) -> bool:
        """Return whether a loop runs over a literal array that is not empty."""
        if loop.type not in {"enhanced_for_statement", "foreach_statement"}:
            return False
        listed = [found for found in loop.named_children if found.type in _ITEMS]
        inner = [found for found in listed[0].named_children if found.type in _ITEMS] if listed else []
        rows = statements((inner or listed)[0]) if listed else ()
        return any(found.type not in {"array_type", "implicit_type", "dimensions_expr"} for found in rows)

    def helper(self, statement: Node) -> Node | None:
        call = self._call(statement)
        is_own = call is not None and call.owner in {"", "$this", "self", "static", "this"}
        return self.functions.get(call.name) if call is not None and is_own else None

    def callbacks(self, statement: Node) -> Iterable[tuple[Node, bool]]:
        """Yield the functions that a statement passes on, which may run."""
        for found in walk(statement):
            body = child(found, "body") if found.type in self.shapes.functions else None
            if body is not None and body.type in {"block", "compound_statement"}:
                yield body, False

    def handled(self, attempt: Node) -> Flow:
        """Return the checks of a `try`: its body may end anywhere if there is a handler."""
        body = child(attempt, "body") or next(statements(attempt), None)
        handlers = [found for found in attempt.named_children if found.type == "catch_clause"]
        found = flow(self, body) if body is not None else Flow()
        if handlers:
            is_broad = any(_BROAD.search(self.source.text(handler).split("{")[0]) for handler in handlers)
            ends = body is not None and self._ends_in_failure(body)
            found = Flow([], [] if is_broad or ends else found.demoted())
            for handler in handlers:
                found.maybe += flow(self, handler.named_children[-1]).demoted()
        for clause in attempt.named_children:
            if clause.type == "finally_clause":
                found.add(flow(self, clause.named_children[-1]))
        return found

    def skips(self, block: Node) -> bool:
        return any(_SKIPS.match(self.source.text(found)) for found in statements(block))

    def shelters(self, statement: Node) -> bool:
        calls = (call_of(self.source, found) for found in walk(statement))
        return any(call is not None and _SHELTERS.match(call.name) for call in calls)

    def ended_by(self, test: FoundTest) -> Flow | None:
        """Return what `@Test(expected = X.class)` or `expectException` asks for; MSTest's attribute is left alone."""
        is_php = self.source.language is Language.PHP
        return self._announced_exception(test) if is_php else self._annotated_exception(test.node)

    def _annotated_exception(self, node: Node) -> Flow | None:
        for mark in marks(node):
            if mark_name(self.source, mark).startswith("ExpectedException"):
                return Flow()
            for pair in walk(mark):
                value = child(pair, "value")
                is_expected = re.match(r"expected(?:Exceptions)?\b", self.source.text(pair)) is not None
                if pair.type == "element_value_pair" and value is not None and is_expected:
                    return Flow([(Check(exception=(over(value, NEVER_IN_JAVA),)),)])
        return None

    def _announced_exception(self, test: FoundTest) -> Flow | None:
        """Return the check of PHPUnit's `expectException` and its like, anywhere in a test."""
        every = [call_of(self.source, found) for found in walk(test.body)] if test.body is not None else []
        announced = [call for call in every if call is not None and call.name.startswith("expectException")]
        if not announced:
            return None
        checks = (damaged(self.source, call) for call in announced)
        edits = first_of(check.exception for check in checks if check is not None)
        return Flow([(Check(exception=edits),)]) if edits else Flow()

    def _call(self, statement: Node) -> CallExpression | None:
        found: Node | None = statement
        while found is not None and found.type in {"expression_statement", "await_expression"}:
            found = next(statements(found), None)
        return None if found is None else call_of(self.source, found)

    def _ends_in_failure(self, body: Node) -> bool:
        listed = list(statements(body))
        return bool(listed) and bool(_ENDS.match(self.source.text(listed[-1])))


def reader_of(source: Source, tests: frozenset[int]) -> ClassReader:
    """Return the reader of a file; methods that start at one of `tests` are no helpers, nor are overloaded ones."""
    methods: dict[str, Node] = {}
    spoiled: set[str] = set()
    for node in walk(source.root):
        if node.type == "method_declaration" and node.start_byte not in tests:
            name, body = field_text(source, node, "name"), child(node, "body")
            if name in methods or body is None:
                spoiled.add(name)
            if body is not None and "yield" not in source.text(body):
                methods[name] = body
    return ClassReader(source, {name: body for name, body in methods.items() if name not in spoiled})
