"""Tests of a Go file: `TestX`, fuzz tests, examples with their output, and the methods of suites."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Source, walk
from worker_agent.tdd.syntax.units_found import Case, FoundTest, child, field_text, first_text, statements

_NAME = re.compile(r"(?:Test|Fuzz|Benchmark)(?![a-z])\w*")
_EXAMPLE = re.compile(r"Example(?![a-z])\w*")
_OUTPUT = re.compile(r"//\s*(?:unordered )?output:", re.IGNORECASE)


def found_in(source: Source) -> Iterator[FoundTest]:
    """Yield the tests, in the order of the file."""
    setups = tuple(node for node in source.root.named_children if _is_setup(source, node))
    for node in source.root.named_children:
        name = field_text(source, node, "name")
        body = child(node, "body")
        if node.type not in {"function_declaration", "method_declaration"} or body is None or name == "TestMain":
            continue
        is_method = node.type == "method_declaration"
        if (_NAME.fullmatch(name) and not name.startswith("Benchmark")) or _is_example(source, node, name):
            tables = () if is_method else tuple(_tables(source, body))
            yield FoundTest(
                f"{_receiver(source, node)}::{name}" if is_method else name,
                node,
                (body,),
                body,
                setups,
                cases=tuple(Case("", row) for table in tables for row in statements(table)),
                tables=tables,
                skipped=_skips_first(source, body),
            )


def _is_setup(source: Source, node: Node) -> bool:
    name = field_text(source, node, "name")
    return name in {"TestMain", "init"} or (node.type == "method_declaration" and name in {"SetupTest", "SetupSuite"})


def _is_example(source: Source, node: Node, name: str) -> bool:
    return bool(_EXAMPLE.fullmatch(name)) and bool(_OUTPUT.search(source.text(node)))


def _receiver(source: Source, node: Node) -> str:
    return next((source.text(n) for n in walk(child(node, "receiver") or node) if n.type == "type_identifier"), "")


def _tables(source: Source, body: Node) -> Iterator[Node]:
    """Yield the literals that the test's loops run over: their rows are its cases."""
    ranged = {field_text(source, found, "right") for found in walk(body) if found.type == "range_clause"}
    for found in walk(body):
        if found.type == "composite_literal" and (rows := child(found, "body")) is not None:
            declared = found.parent.parent if found.parent is not None else None
            is_named = field_text(source, declared, "left") in ranged or field_text(source, declared, "name") in ranged
            if is_named or (found.parent is not None and found.parent.type == "range_clause"):
                yield rows


def _skips_first(source: Source, body: Node) -> str:
    text = first_text(source, next(statements(body), None))
    return text if re.match(r"\w+\.(?:Skip|Skipf|SkipNow)\(|return$", text) else ""
