"""Checks of Ruby tests: RSpec's expectations, minitest's assertions and expectations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import (
    Check,
    Edit,
    Edits,
    Flow,
    around,
    both_ways,
    first_of,
    moved,
    over,
    word,
)
from worker_agent.tdd.damage.expectations_flow import Reader, Shapes, bodies_by_name, flow
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import arguments, child, field_text, statements
from worker_agent.tdd.syntax.units_ruby import block_of

_TO = {"to": "not_to", "not_to": "to", "to_not": "to"}
_SUBJECTS = frozenset({"expect", "is_expected"})
_UNNEGATABLE = re.compile(r"(?:change|raise_error|output|yield_\w+|have_received|throw_symbol)\b")
_EQUAL = frozenset({"eq", "eql", "be", "equal", "include", "start_with", "end_with", "match_array", "contain_exactly"})
_ASSERTED = words("equal nil includes match empty same instance_of kind_of respond_to")
_EXPECTED = words("equal be_nil include match be_empty be_kind_of")
_OPPOSITES = both_ways(
    {f"assert_{name}": f"refute_{name}" for name in _ASSERTED} | {f"must_{name}": f"wont_{name}" for name in _EXPECTED}
)
_RAISES = frozenset({"assert_raises", "assert_raises_with_message"})
_NEVER = "ClosedQueueError"
"""An exception of Ruby that only a closed queue raises."""


class RubyReader(Reader):
    """The reader of checks in one file."""

    shapes = Shapes(
        loops=words("while until for if_modifier unless_modifier case"),
        functions=words("method lambda class"),
        plain=words("body_statement block_body then else"),
        conditions=words("if unless"),
        tries=words("begin"),
        leaves=words("return break next"),
    )

    def check(self, statement: Node) -> Check | None:
        """Return the check of a call, if it is an expectation or assertion."""
        if statement.type != "call":
            return None
        name = field_text(self.source, statement, "method")
        receiver = child(statement, "receiver")
        if name in _TO and receiver is not None:
            return self._expectation_check(statement, receiver, name)
        return self._assertion_check(statement, name)

    def helper(self, statement: Node) -> Node | None:
        if statement.type == "call" and child(statement, "receiver") is None:
            return self.functions.get(field_text(self.source, statement, "method"))
        return self.functions.get(self.source.text(statement)) if statement.type == "identifier" else None

    def callbacks(self, statement: Node) -> Iterable[tuple[Node, bool]]:
        """Yield the blocks that may run; those of `each` on a literal list surely do."""
        body = block_of(statement) if statement.type == "call" else None
        if body is not None:
            receiver = child(statement, "receiver")
            is_list = receiver is not None and receiver.type == "array" and bool(receiver.named_children)
            yield body, is_list and field_text(self.source, statement, "method") in {"each", "each_with_index"}

    def handled(self, attempt: Node) -> Flow:
        """Return the checks of a `begin`: none is sure if there is a `rescue`."""
        if any(found.type == "rescue" for found in attempt.named_children):
            return Flow()
        inner = [flow(self, found) for found in statements(attempt) if found.type != "ensure"]
        return Flow([g for each in inner for g in each.sure], [c for each in inner for c in each.maybe])

    def skips(self, block: Node) -> bool:
        return bool(re.match(r"(?:then\s+)?(?:skip|pending|flunk|raise|fail)\b", self.source.text(block)))

    def shelters(self, statement: Node) -> bool:
        name = field_text(self.source, statement, "method")
        return name in _RAISES | {"aggregate_failures"} or name in _TO

    def _expectation_check(self, call: Node, receiver: Node, name: str) -> Check | None:
        subject = receiver if receiver.type == "identifier" else child(receiver, "method")
        method = child(call, "method")
        if subject is None or self.source.text(subject) not in _SUBJECTS or method is None:
            return None
        given = arguments(call)
        text = self.source.text(given[0]) if given else ""
        if _UNNEGATABLE.match(text) or ".and" in text:
            exception = self._other_exception(given[0]) if text.startswith("raise_error") and name == "to" else ()
            return Check((), (), exception) if exception else None
        literal = self._literal(given[0]) if given and name == "to" else ()
        return Check((over(method, _TO[name]),), literal)

    def _other_exception(self, matcher: Node) -> Edits:
        """Return the edit of `raise_error(X)` to another exception, with nothing after it."""
        if matcher.type == "identifier":
            return (over(matcher, f"raise_error({_NEVER})"),)
        listed = child(matcher, "arguments")
        has_lines = listed is not None and listed.start_point[0] != listed.end_point[0]
        if listed is None or has_lines or child(matcher, "receiver") is not None:
            return ()
        return (over(listed, f"({_NEVER})"),)

    def _literal(self, matcher: Node) -> Edits:
        if matcher.type != "call" or field_text(self.source, matcher, "method") not in _EQUAL:
            return ()
        if child(matcher, "receiver") is not None:
            return ()
        return first_of(changed(self.source, found) for found in arguments(matcher)[:1])

    def _assertion_check(self, call: Node, name: str) -> Check | None:
        given, method = arguments(call), child(call, "method")
        if name in {"assert", "refute"} and given and child(call, "receiver") is None:
            return Check(around(given[0], "!(", ")"))
        if name in _RAISES:
            simple = bool(given) and given[0].type in {"constant", "scope_resolution"}
            return Check((), (), (over(given[0], _NEVER),)) if simple else None
        if name not in _OPPOSITES or method is None:
            return None
        is_equal = name in {"assert_equal", "must_equal", "assert_includes", "must_include"}
        first = (given[1:2] if name == "assert_includes" else given[:1]) if is_equal else []
        literal = first_of(changed(self.source, found) for found in first)
        return Check((over(method, _OPPOSITES[name]),), literal)


def changed(source: Source, node: Node) -> Edits:
    """Return the edit that changes a literal."""
    text = source.text(node)
    match node.type:
        case "string" if text[-1:] in {'"', "'"}:
            return (Edit(node.end_byte - 1, node.end_byte - 1, word(source, node)),)
        case "integer" if re.fullmatch(r"\d+", text):
            return (over(node, str(int(text) + moved(source, node))),)
        case "true" | "false":
            return (over(node, "false" if text == "true" else "true"),)
        case "nil":
            return (over(node, "false"),)
        case "simple_symbol":
            return (over(node, f":{word(source, node)}"),)
        case "array":
            values = list(statements(node))
            return first_of(changed(source, value) for value in values)
        case _:
            return ()


def reader_of(source: Source, tests: frozenset[int]) -> RubyReader:
    """Return the reader of a file; methods that start at one of `tests` are no helpers."""
    return RubyReader(source, bodies_by_name(source, "method", tests))
