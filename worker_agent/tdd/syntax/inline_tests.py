"""Tests in files of code: separated from the code, and put into an older version of the file (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Language, Source

Range = tuple[int, int]


def test_ranges(source: Source) -> tuple[Range, ...]:
    """Return the byte ranges of a code file that are tests: in Rust items with `#[cfg(test)]` or `#[test]`."""
    return tuple(_rust(source)) if source.language is Language.RUST else ()


test_ranges.__test__ = False  # type: ignore[attr-defined]  # pytest takes every function named test* for a test


def code_only(source: Source) -> bytes:
    """Return the file without its tests."""
    kept, at = [], 0
    for start, end in test_ranges(source):
        kept.append(source.content[at:start])
        at = end
    return b"".join([*kept, source.content[at:]])


def with_tests_of(base: Source | None, head: Source) -> bytes | None:
    """Return the base's file with the tests of the head in place of its own; None if neither has any.

    If the base does not have the file, the result is its tests alone: nothing includes it there.
    """
    of_base = test_ranges(base) if base is not None else ()
    others = test_ranges(head)
    if not of_base and not others:
        return None
    laid = b"\n".join(head.content[start:end] for start, end in others)
    return b"" if base is None else b"\n".join([code_only(base).rstrip(b"\n"), b"", laid, b""])


def _rust(source: Source) -> Iterator[Range]:
    """Yield the ranges of items of the file with such an attribute, the attributes included."""
    for node, attributes in rust_items(source.root):
        if any(_is_test(source.text(attribute)) for attribute in attributes):
            yield attributes[0].start_byte, node.end_byte


def rust_items(block: Node) -> Iterator[tuple[Node, list[Node]]]:
    """Yield each item of a Rust file or module, with the attributes above it."""
    attributes: list[Node] = []
    for node in block.named_children:
        if node.type == "attribute_item":
            attributes.append(node)
        elif "comment" not in node.type:
            yield node, attributes
            attributes = []


def _is_test(attribute: str) -> bool:
    plain = "".join(attribute.split())
    return plain.startswith(("#[cfg(test", "#[cfg(all(test", "#[test]", "#[tokio::test", "#[cfg(any(test"))
