"""Tests of a Rust file: functions with a test attribute, in whatever module, with the cases of rstest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.syntax.inline_tests import rust_items
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import Case, FoundTest, child, field_text

_TEST = re.compile(r"(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest|wasm_bindgen_test|case)$")


def found_in(source: Source) -> Iterator[FoundTest]:
    """Yield the tests, with the path of modules inside the file in front."""
    yield from _tests(source, source.root, ())


def _tests(source: Source, block: Node, modules: tuple[str, ...]) -> Iterator[FoundTest]:
    for node, attributes in rust_items(block):
        body = child(node, "body")
        if node.type == "mod_item" and body is not None:
            yield from _tests(source, body, (*modules, field_text(source, node, "name")))
        elif node.type == "function_item" and any(_TEST.match(_name(source, found)) for found in attributes):
            yield _test(source, node, attributes, modules)


def _name(source: Source, attribute: Node) -> str:
    inner = attribute.named_children[0]
    return source.text(inner.named_children[0]) if inner.named_children else ""


def _test(source: Source, node: Node, attributes: list[Node], modules: tuple[str, ...]) -> FoundTest:
    cases = [found for found in attributes if _name(source, found).rpartition("::")[2] in {"case", "test_case"}]
    skips = [found for found in attributes if _name(source, found) == "ignore"]
    kept = [
        found for found in attributes if found not in cases and found not in skips and source.text(found) != "#[test]"
    ]
    parts = [*kept, *(found for found in (child(node, "parameters"), child(node, "body")) if found is not None)]
    return FoundTest(
        "::".join((*modules, field_text(source, node, "name"))),
        node,
        tuple(parts),
        child(node, "body"),
        cases=tuple(Case("", found) for found in cases),
        skipped=source.text(skips[0]) if skips else "",
    )
