"""Tests of a Rust file: in whatever module, with the cases of rstest, apart from the code of the same file (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Language, Source, replaced
from worker_agent.tdd.syntax.units_found import Case, FoundTest, child, field_text

_TEST = re.compile(r"(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest|wasm_bindgen_test|case)$")


def found_in(source: Source) -> Iterator[FoundTest]:
    """Yield the tests, with the path of modules inside the file in front."""
    yield from _tests(source, source.root, ())


def _tests(source: Source, block: Node, modules: tuple[str, ...]) -> Iterator[FoundTest]:
    for node, attributes in _items(block):
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


def ranges_of_tests(source: Source) -> list[tuple[int, int]]:
    """Return the byte ranges of a code file that are tests, attributes included; empty for other languages."""
    if source.language is not Language.RUST:
        return []
    return [
        (attributes[0].start_byte, node.end_byte)
        for node, attributes in _items(source.root)
        if any(_is_test(source.text(attribute)) for attribute in attributes)
    ]


def with_tests_of(base: Source | None, head: Source) -> bytes | None:
    """Return the base's file with the tests of the head in place of its own; None if neither has any.

    If the base does not have the file, the result is its tests alone: nothing includes it there.
    """
    own = ranges_of_tests(base) if base is not None else []
    others = ranges_of_tests(head)
    if not own and not others:
        return None
    if base is None:
        return b""
    code = base.content
    for start, end in reversed(own):
        code = replaced(code, start, end, b"")
    laid = b"\n".join(head.content[start:end] for start, end in others)
    return b"\n".join([code.rstrip(b"\n"), b"", laid, b""])


def _items(block: Node) -> Iterator[tuple[Node, list[Node]]]:
    """Yield each item of a Rust file or module, with the attributes above it."""
    attributes: list[Node] = []
    for node in block.named_children:
        if node.type == "attribute_item":
            attributes.append(node)
        elif "comment" not in node.type:
            yield node, attributes
            attributes = []


def _is_test(attribute: str) -> bool:
    """Return whether an attribute is `#[cfg(test)]`, `#[test]` or their like."""
    plain = "".join(attribute.split())
    return plain.startswith(("#[cfg(test", "#[cfg(all(test", "#[test]", "#[tokio::test", "#[cfg(any(test"))
