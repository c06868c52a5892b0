"""Tests that must end in an exception: nothing else in them is damaged, as any failure might be that exception."""

from __future__ import annotations

import re

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_classes_calls import call_of, damaged
from worker_agent.tdd.damage.expectations_edits import Check, Edits, Flow, over
from worker_agent.tdd.damage.expectations_rust import should_panic
from worker_agent.tdd.syntax.source import Language, Source, walk
from worker_agent.tdd.syntax.units_classes import mark_name, marks
from worker_agent.tdd.syntax.units_found import FoundTest, child

_JAVA = "java.nio.channels.NonReadableChannelException.class"


def ended_by(source: Source, found: FoundTest) -> Flow | None:
    """Return the exception that ends a test, as its only check; None for a test that runs to its end."""
    match source.language:
        case Language.RUST:
            edits = should_panic(source, found.node)
            return Flow([(Check((), (), edits),)]) if edits else None
        case Language.JAVA | Language.CSHARP:
            return _annotated_exception(source, found.node)
        case Language.PHP:
            return _announced_exception(source, found.body)
        case _:
            return None


def _annotated_exception(source: Source, node: Node) -> Flow | None:
    """Return the check of JUnit 4's `@Test(expected = X.class)`; MSTest's attribute is left alone."""
    for mark in marks(node):
        if mark_name(source, mark).startswith("ExpectedException"):
            return Flow()
        for pair in walk(mark):
            value = child(pair, "value")
            is_expected = re.match(r"expected(?:Exceptions)?\b", source.text(pair)) is not None
            if pair.type == "element_value_pair" and value is not None and is_expected:
                return Flow([(Check((), (), (over(value, _JAVA),)),)])
    return None


def _announced_exception(source: Source, body: Node | None) -> Flow | None:
    """Return the check of PHPUnit's `expectException` and its like, anywhere in a test."""
    calls = [call for found in walk(body) if (call := call_of(source, found)) is not None] if body is not None else []
    announced = [call for call in calls if call.name.startswith("expectException")]
    if not announced:
        return None
    edits: list[Edits] = [check.exception for call in announced if (check := damaged(source, call)) and check.exception]
    return Flow([(Check((), (), edits[0]),)]) if edits else Flow()
