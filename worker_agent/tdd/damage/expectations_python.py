"""Checks of Python tests: `assert`, unittest's methods, pytest's contexts and the assertions of mocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import (
    Check,
    Edits,
    Flow,
    after,
    around,
    before,
    both_ways,
    first_of,
    over,
    word,
)
from worker_agent.tdd.damage.expectations_flow import Reader, Shapes, flow
from worker_agent.tdd.damage.expectations_python_values import changed, is_filled, literal_of
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source, walk
from worker_agent.tdd.syntax.units_found import arguments, child, field_text, statements
from worker_agent.tdd.syntax.units_python import called, decorators, definition_of

_OPPOSITES = both_ways(
    {
        "assertEqual": "assertNotEqual",
        "assertTrue": "assertFalse",
        "assertIs": "assertIsNot",
        "assertIn": "assertNotIn",
        "assertIsNone": "assertIsNotNone",
        "assertIsInstance": "assertNotIsInstance",
        "assertAlmostEqual": "assertNotAlmostEqual",
        "assertRegex": "assertNotRegex",
        "assertGreater": "assertLessEqual",
        "assertGreaterEqual": "assertLess",
        "assert_called": "assert_not_called",
    }
)

_EQUAL = re.compile(r"assert(?:Equals?|(?:List|Tuple|Dict|Set|Sequence|MultiLine|Count|AlmostEqual|Almost)\w*|Is)$")
_FIRST = frozenset({"assertIn"})
_CALLED_WITH = frozenset({"assert_called_with", "assert_called_once_with", "assert_any_call", "assert_awaited_with"})
_RAISING = {"assertRaises": "assertRaisesRegex", "assertWarns": "assertWarnsRegex"}
_RAISING_REGEX = frozenset({*_RAISING.values(), "assertRaisesMessage"})
_CONTEXTS = frozenset({"raises", "warns", "deprecated_call"})
_SHELTERS = re.compile(r"(?:.*\.)?(?:suppress|raises|assertRaises\w*|RaisesGroup|xfail|deprecated_call_or_\w+)$")
_MAY_RAISE = re.compile(r"rais|expect|error|exc|fail|warn|suppress", re.IGNORECASE)
"""Contexts that are chosen at run time, some of which require an exception."""

_ENDS = re.compile(r"(?:.*\.)?fail\(|assert False\b|raise AssertionError|assert 0\b")
_SKIPPING = re.compile(r"(?:\w+\.)?(?:skip|skipTest|xfail|importorskip|fail)\(|raise\b|assert (?:False|0)\b")
_NEVER = '"(?!)"'
_BROAD = re.compile(r"\b(?:Exception|BaseException|AssertionError)\b")


@dataclass(frozen=True)
class PythonReader(Reader):
    """The reader of checks in one file: `functions` has methods with a dot before, `constants` are values by name."""

    shapes = Shapes(
        loops=words("for_statement while_statement"),
        functions=words("function_definition lambda class_definition"),
        plain=words("block with_statement"),
    )
    constants: Mapping[str, Node]

    def check(self, statement: Node) -> Check | None:
        if statement.type == "assert_statement":
            return self._assert(statement)
        if statement.type == "with_statement":
            return self._context(statement)
        call = _call_of(statement)
        return None if call is None else self._call(statement, call)

    def loops_surely(self, loop: Node) -> bool:
        """Return whether a loop runs over a literal that is not empty."""
        over_ = child(loop, "right")
        return over_ is not None and is_filled(self.source, over_, self.constants)

    def helper(self, statement: Node) -> Node | None:
        """Return the body of a function of this file, or method of its classes, that a statement calls."""
        call = _call_of(statement)
        if call is None:
            return None
        body = self.functions.get(_local_name(called(self.source, call)))
        is_generator = body is not None and any(found.type == "yield" for found in walk(body))
        return None if is_generator else body

    def callbacks(self, statement: Node) -> Iterable[tuple[Node, bool]]:
        """Return functions that are written within a statement: decorated ones."""
        inner = definition_of(statement)
        body = child(inner, "body") if inner is not statement and inner.type == "function_definition" else None
        return [] if body is None else [(body, False)]

    def handled(self, attempt: Node) -> Flow:
        """Return the checks of a `try`: with handlers its body may end anywhere, else it counts as plain code."""
        handlers = [found for found in attempt.named_children if found.type.startswith("except")]
        body = child(attempt, "body")
        found = flow(self, body) if body is not None else Flow()
        if handlers:
            any_broad = any(_is_broad(self.source, handler) for handler in handlers)
            ends = body is not None and bool(_ENDS.match(self.source.text(list(statements(body))[-1])))
            found = Flow([], [] if any_broad or ends else found.demoted())
            for handler in handlers:
                inner = flow(self, handler.named_children[-1])
                is_only = ends and not any_broad and len(handlers) == 1
                found.sure += inner.sure if is_only else []
                found.maybe += inner.maybe if is_only else inner.demoted()
        for clause in attempt.named_children:
            if clause.type == "finally_clause":
                found.add(flow(self, clause.named_children[-1]))
        return found

    def skips(self, block: Node) -> bool:
        return any(_SKIPPING.match(self.source.text(found)) for found in statements(block))

    def shelters(self, statement: Node) -> bool:
        """Return whether the context of a statement expects a failure."""
        if statement.type != "with_statement":
            return False
        if any(_SHELTERS.match(called(self.source, call)) for call in _context_calls(statement)):
            return True
        plain = [value for value in _contexts(statement) if value.type != "call"]
        return any(_MAY_RAISE.search(self.source.text(value)) for value in plain)

    def _assert(self, statement: Node) -> Check:
        expression = next(statements(statement))
        return Check(around(expression, "not (", ")"), literal_of(self.source, expression))

    def _context(self, statement: Node) -> Check | None:
        for call in _context_calls(statement):
            exception = self._exception(call, is_context=True)
            if exception:
                return Check((), (), exception)
        return None

    def _call(self, statement: Node, call: Node) -> Check | None:
        name = called(self.source, call).rpartition(".")[2]
        if name in _RAISING or name in _RAISING_REGEX or name in _CONTEXTS:
            exception = self._exception(call, is_context=False)
            return Check((), (), exception) if exception else None
        if not re.match(r"_?assert", name) or _local_name(called(self.source, call)) in self.functions:
            return None
        negate = self._opposite(call, name) or self._require_failure(statement, call)
        literal = self._literal(call, name)
        return Check(negate, literal) if negate or literal else None

    def _opposite(self, call: Node, name: str) -> Edits:
        opposite = _OPPOSITES.get(name)
        attribute = child(child(call, "function"), "attribute")
        if opposite is None or attribute is None:
            return ()
        return (over(attribute, opposite),)

    def _require_failure(self, statement: Node, call: Node) -> Edits:
        """Return edits that require the call to fail; none if it calls functions of the file, damaged as well."""
        inner = [found for found in walk(call) if found.type == "call" and found is not call]
        if any(_local_name(called(self.source, found)) in self.functions for found in inner):
            return ()
        if statement.type != "expression_statement" or not _stands_alone(self.source, statement):
            return ()
        return (before(statement, 'with __import__("unittest").TestCase().assertRaises(AssertionError): '),)

    def _literal(self, call: Node, name: str) -> Edits:
        given = [found for found in arguments(call) if found.type != "keyword_argument"]
        if any(field_text(self.source, found, "name") == "delta" for found in arguments(call)):
            return ()
        if name in _FIRST:
            return changed(self.source, given[0]) if given else ()
        if name in _CALLED_WITH:
            return first_of(changed(self.source, found) for found in given)
        if name in {"assertRegex", "assertRegexpMatches"} and len(given) > 1:
            return (over(given[1], _NEVER),)
        if not _EQUAL.match(name) or len(given) < 2:
            return ()
        literal = changed(self.source, given[1]) or changed(self.source, given[0])
        return literal or around(given[1], f'("{word(self.source, given[1])}", ', ")")

    def _exception(self, call: Node, *, is_context: bool) -> Edits:
        """Return edits for an impossible message; the exception is never let through, as that could end the run."""
        function = child(call, "function")
        name = called(self.source, call).rpartition(".")[2]
        given = arguments(call)
        plain = [found for found in given if found.type != "keyword_argument"]
        attribute = child(function, "attribute")
        if name in _RAISING and attribute is not None and plain:
            return (over(attribute, _RAISING[name]), after(plain[0], f", {_NEVER}"))
        if name in _RAISING_REGEX and len(plain) > 1:
            return (over(plain[1], _NEVER),)
        if name not in _CONTEXTS or not is_context:
            return ()
        match = [child(found, "value") for found in given if field_text(self.source, found, "name") == "match"]
        if match and match[0] is not None:
            return (over(match[0], _NEVER),)
        if given:
            return (after(given[-1], f", match={_NEVER}"),)
        listed = child(call, "arguments")
        return () if listed is None else (over(listed, f"(match={_NEVER})"),)


def reader_of(source: Source, tests: frozenset[int]) -> PythonReader:
    """Return the reader of a file; functions that start at one of `tests` are no helpers."""
    functions: dict[str, Node] = {}
    constants: dict[str, Node] = {}
    spoiled: set[str] = set()
    for node in walk(source.root):
        if node.type == "function_definition" and node.start_byte not in tests:
            _learn_function(source, node, functions, spoiled)
        elif node.type == "assignment" and (value := child(node, "right")) is not None:
            name = field_text(source, node, "left")
            spoiled |= {f"={name}"} if name in constants else set()
            constants[name] = value
    return PythonReader(
        source,
        {name: body for name, body in functions.items() if name not in spoiled},
        {name: value for name, value in constants.items() if f"={name}" not in spoiled},
    )


def _learn_function(source: Source, node: Node, functions: dict[str, Node], spoiled: set[str]) -> None:
    """Record a function by its name; same names cannot be told apart, and decorated functions may be anything."""
    body, parent = child(node, "body"), node.parent
    owner = parent.parent if parent is not None else None
    is_method = owner is not None and owner.type == "class_definition"
    name = f"{'.' if is_method else ''}{field_text(source, node, 'name')}"
    is_decorated = parent is not None and parent.type == "decorated_definition" and bool(decorators(parent))
    if name in functions or is_decorated or body is None:
        spoiled.add(name)
    if body is not None:
        functions[name] = body


def _local_name(name: str) -> str:
    """Return a called name as the reader has it: `self.check` is `.check`."""
    owner, _, last = name.rpartition(".")
    return f".{last}" if owner in {"self", "cls"} else name


def _call_of(statement: Node) -> Node | None:
    """Return the call that is the statement, or whose result the statement keeps."""
    found: Node | None = statement
    if statement.type in {"expression_statement", "return_statement"}:
        found = next(statements(statement), None)
    if found is not None and found.type == "assignment":
        found = child(found, "right")
    if found is not None and found.type == "await":
        found = next(statements(found), None)
    return found if found is not None and found.type == "call" else None


def _context_calls(statement: Node) -> Iterator[Node]:
    """Yield the calls that are contexts of a `with`."""
    return (value for value in _contexts(statement) if value.type == "call")


def _contexts(statement: Node) -> Iterator[Node]:
    """Yield the contexts of a `with`, without names and parentheses."""
    clauses = [found for found in statement.named_children if found.type == "with_clause"]
    for item in (found for clause in clauses for found in walk(clause) if found.type == "with_item"):
        value = child(item, "value")
        while value is not None and value.type in {"as_pattern", "parenthesized_expression", "tuple"}:
            value = next(statements(value), None)
        if value is not None:
            yield value


def _is_broad(source: Source, handler: Node) -> bool:
    """Return whether a handler also catches the failure of a check."""
    listed = list(statements(handler))
    return len(listed) < 2 or any(_BROAD.search(source.text(found)) for found in listed[:-1])


def _stands_alone(source: Source, statement: Node) -> bool:
    """Return whether a statement is alone on its line, so that it may become a compound one."""
    start = source.content.rfind(b"\n", 0, statement.start_byte) + 1
    lead = source.content[start : statement.start_byte]
    end = source.content.find(b"\n", statement.end_byte)
    tail = source.content[statement.end_byte : end if end >= 0 else None]
    return not lead.strip() and not tail.strip().startswith(b";")
