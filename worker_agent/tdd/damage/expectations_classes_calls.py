"""Calls of assertions in Java, C# and PHP, and their damages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import (
    Check,
    Edit,
    Edits,
    around,
    both_ways,
    first_of,
    moved,
    over,
    word,
)
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, Source
from worker_agent.tdd.syntax.units_found import child, statements

_JAVA = {
    "assertEquals": "assertNotEquals",
    "assertTrue": "assertFalse",
    "assertNull": "assertNotNull",
    "assertSame": "assertNotSame",
    "isEqualTo": "isNotEqualTo",
    "isTrue": "isFalse",
    "isNull": "isNotNull",
    "isEmpty": "isNotEmpty",
    "isSameAs": "isNotSameAs",
    "isPresent": "isNotPresent",
    "contains": "doesNotContain",
}
_NEGATED_IN_PHP = words("Equals Same True False Null Empty Contains InstanceOf Count")
_PHP = {
    **{f"assert{name}": f"assertNot{name}" for name in _NEGATED_IN_PHP},
    "assertStringContainsString": "assertStringNotContainsString",
    "assertArrayHasKey": "assertArrayNotHasKey",
    "assertGreaterThan": "assertLessThanOrEqual",
    "assertLessThan": "assertGreaterThanOrEqual",
}
_CSHARP = {
    **{name: f"Not{name}" for name in words("Equal Null Empty Same Be BeNull")},
    "True": "False",
    "Contains": "DoesNotContain",
    "AreEqual": "AreNotEqual",
    "IsTrue": "IsFalse",
    "IsNull": "IsNotNull",
    "AreSame": "AreNotSame",
    "BeTrue": "BeFalse",
}

_OPPOSITES = {
    Language.JAVA: both_ways(_JAVA),
    Language.PHP: both_ways(_PHP),
    Language.CSHARP: both_ways(_CSHARP) | {"IsType": "IsNotType"},
}
_CALLS = words(
    "method_invocation invocation_expression member_call_expression scoped_call_expression function_call_expression"
)
_EQUAL = words(
    "assertEquals assertSame isEqualTo Equal AreEqual Be assertCount assertStringContainsString hasSize"
    " assertContains assertArrayHasKey"
)
_FIRST_ONLY = frozenset({"assertCount", "assertStringContainsString", "assertContains", "assertArrayHasKey"})
_TEXTS = frozenset({"string_literal", "string", "encapsed_string"})
_NUMBERS = frozenset({"decimal_integer_literal", "integer_literal", "integer"})
_FLOATS = frozenset({"decimal_floating_point_literal", "real_literal", "float"})
_OWNER = re.compile(r"\$this$|self$|static$|(?:\w+\.)*(?:Assert\w*|Assertions|ClassicAssert)$|$")
_SUBJECT = re.compile(r"(?:\w+\.)*assertThat\(|.*\.Should\(\)$", re.DOTALL)


NEVER_IN_JAVA = "java.nio.channels.NonReadableChannelException.class"
"""An exception that no test's code throws."""


@dataclass(frozen=True, slots=True)
class CallExpression:
    """A call with its name, the text of its object, and its arguments."""

    node: Node
    name_node: Node
    name: str
    owner: str
    arguments: tuple[Node, ...]


def call_of(source: Source, node: Node) -> CallExpression | None:
    """Return the call that a node is, or None."""
    function = child(node, "function") if node.type == "invocation_expression" else node
    if function is None or node.type not in _CALLS:
        return None
    name = child(function, "name") or (function if function.type == "identifier" else None)
    if node.type == "function_call_expression":
        name = child(node, "function")
    owner = child(function, "object") or child(function, "scope") or child(function, "expression")
    if name is None:
        return None
    if name.type == "generic_name":
        name = name.named_children[0]
    given = tuple(_plain(found) for found in statements(child(node, "arguments")))
    return CallExpression(node, name, source.text(name), "" if owner is None else source.text(owner), given)


def _plain(node: Node) -> Node:
    """Return the value of an argument, or of an entry in an array."""
    is_wrapped = node.type in {"argument", "array_element_initializer"} and node.named_children
    return node.named_children[-1] if is_wrapped else node


def damaged(source: Source, call: CallExpression) -> Check | None:
    """Return an assertion with its damages; None for another call."""
    is_subject = bool(_SUBJECT.match(call.owner))
    if not is_subject and not (_OWNER.match(call.owner) and _is_assertion(call)):
        return None
    exception = _exception(source, call)
    negate = _opposite(source, call) or _matcher(source, call)
    literal = _literal(source, call)
    return Check(negate, literal, exception) if negate or literal or exception else None


def _opposite(source: Source, call: CallExpression) -> Edits:
    """Return the edit to the opposite assertion; with its class if only this one is imported."""
    opposite = _OPPOSITES[source.language].get(call.name)
    if opposite is None:
        return ()
    if source.language is Language.JAVA and not call.owner:
        single = re.search(rf"import\s+static\s+([\w.]+)\.{call.name}\s*;", source.text(source.root))
        opposite = f"{single[1]}.{opposite}" if single is not None else opposite
    return (over(call.name_node, opposite),)


def _matcher(source: Source, call: CallExpression) -> Edits:
    """Return the negation of Hamcrest's `assertThat(value, matcher)` or NUnit's `Assert.That(value, Is.EqualTo(3))`."""
    if call.name == "assertThat" and len(call.arguments) in {2, 3} and source.language is Language.JAVA:
        return around(call.arguments[-1], "org.hamcrest.CoreMatchers.not(", ")")
    if call.name == "That" and len(call.arguments) > 1:
        start, text = call.arguments[1].start_byte, source.text(call.arguments[1])
        if text.startswith("Is.Not."):
            return (Edit(start, start + 7, "Is."),)
        return (Edit(start, start + 3, "Is.Not."),) if text.startswith("Is.") else ()
    return ()


def _is_assertion(call: CallExpression) -> bool:
    return call.name.startswith(("assert", "expect")) or "ssert" in call.owner


def _literal(source: Source, call: CallExpression) -> Edits:
    """Return the edit of an expected value; of three arguments one may be the message, which is a text."""
    if call.name not in _EQUAL or len(call.arguments) > 3 or any(found.type in _FLOATS for found in call.arguments):
        return ()
    given = call.arguments[:1] if call.name in _FIRST_ONLY else call.arguments[:2]
    if len(call.arguments) == 3 and source.language is Language.JAVA:
        given = tuple(found for found in given if found.type not in _TEXTS)
    return first_of(_changed(source, found) for found in given)


def _changed(source: Source, node: Node) -> Edits:
    """Return the edit that changes a literal into another one of its type."""
    text = source.text(node)
    if node.type in _TEXTS and text[-1:] in {'"', "'"} and not text.endswith('"""'):
        return (Edit(node.end_byte - 1, node.end_byte - 1, word(source, node)),)
    if node.type in _NUMBERS:
        number = re.fullmatch(r"(\d{1,8})([lL]?)", text)
        return (over(node, f"{int(number[1]) + moved(source, node)}{number[2]}"),) if number else ()
    if text in {"true", "false"}:
        return (over(node, "false" if text == "true" else "true"),)
    if node.type == "array_creation_expression":
        return first_of(_changed(source, _plain(found)) for found in statements(node))
    return ()


def _exception(source: Source, call: CallExpression) -> Edits:
    """Return the edit that expects another exception: one of the language that nothing throws."""
    if source.language is Language.CSHARP and re.match(r"Throws(?:Any|Async|AnyAsync)?$", call.name):
        return _generic(call)
    if not call.arguments:
        return ()
    first = call.arguments[0]
    if source.language is Language.JAVA and call.name in {"assertThrows", "assertThrowsExactly"}:
        return (over(first, NEVER_IN_JAVA),)
    if source.language is Language.PHP and call.name == "expectException":
        return (over(first, r"\JsonException::class"),)
    if source.language is Language.PHP and call.name in {"expectExceptionMessage", "expectExceptionMessageMatches"}:
        return _changed(source, first) if call.name == "expectExceptionMessage" else ()
    return ()


def _generic(call: CallExpression) -> Edits:
    """Return the edit of `Throws<X>` to another exception."""
    parent = call.name_node.parent
    if parent is None or parent.type != "generic_name" or len(parent.named_children) < 2:
        return ()
    return (over(parent.named_children[1], "<System.Threading.BarrierPostPhaseException>"),)
