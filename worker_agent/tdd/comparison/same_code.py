"""A check that two versions of a code file differ only in layout, comments and documentation (pure).

In doubt the answer is no: the tests and the damage are then run again, as for any other change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.syntax.functions import is_documentation
from worker_agent.tdd.syntax.node_types import COMMENTS
from worker_agent.tdd.syntax.source import SCRIPTS, Language, Source, parse, walk

_UNDERSTOOD = SCRIPTS | {Language.PYTHON, Language.GO}
"""Languages that are compared. In others comments are tests (Rust), text is output (PHP), or layout decides (Ruby)."""

_PROSE = re.compile(r"(#|//) [\w\s.,;?()'`-]*", re.ASCII)
"""A comment for people. Other characters may be meant for a tool: `# type: ignore`, `//go:build`, `@jest`."""

_FOR_TOOLS = re.compile(
    r"\b(noqa|nosec|pragma|istanbul|c8|v8|eslint|jshint|global|globals|exported|prettier|fmt|yapf|isort|mypy|pylint"
    r"|pyright|nolint|skipcq|codespell|output|unordered)\b",
    re.IGNORECASE,
)
"""Words that only tools read; the last two mark Go's examples that are run."""

_LITERAL = re.compile(r"string|template|regex|char|text|content|format|interpolat|rune")
"""Types of nodes in which each byte counts; not all of these are in the leaves."""

_IS_RUN = re.compile(rb">>>|```|\.\. *(test|doctest|code)")
"""Parts of documentation that tools execute as code."""

_READS_DOCUMENTATION = re.compile(rb"__doc__|getdoc|docopt|\bply\b|help\(|import +\"C\"")
"""Code that reads documentation, or a comment, as data."""


def is_same_code(path: str, before: bytes, after: bytes) -> bool:
    """Return whether only layout, comments for people and documentation differ; False if a version does not parse."""
    if before == after:
        return True
    old, new = parse(path, before), parse(path, after)
    if old is None or new is None or old.language not in _UNDERSTOOD:
        return False
    return _head(old) == _head(new) and list(_form(old)) == list(_form(new))


def _head(source: Source) -> bytes:
    """Return the text before the first code, where a comment may say how the file is read."""
    first = next((child for child in source.root.children if child.type not in COMMENTS), None)
    return source.content[: first.start_byte] if first is not None else source.content


def _form(source: Source) -> Iterator[bytes]:
    """Yield the tree as words: the start and end of nodes, the leaves, and other text between them."""
    unread = _READS_DOCUMENTATION.search(source.content) is None
    documented = unread and source.language is Language.PYTHON
    pending: list[Node | bytes] = [source.root]
    while pending:
        node = pending.pop()
        if isinstance(node, bytes):
            yield node
        elif node.type in COMMENTS:
            if not (unread and _is_prose(source, node)):
                yield _bytes(source, node)
        elif documented and _is_prose_only(source, node):
            continue
        elif node.child_count == 0 or _LITERAL.search(node.type):
            yield _bytes(source, node)
        else:
            yield f"({node.type}".encode()
            pending.append(b")")
            pending.extend(reversed(list(_parts(source, node))))


def _parts(source: Source, node: Node) -> Iterator[Node | bytes]:
    """Yield the children, and non-blank text between them."""
    at = node.start_byte
    for child in node.children:
        between = source.content[at : child.start_byte].strip()
        if between:
            yield between
        yield child
        at = child.end_byte
    rest = source.content[at : node.end_byte].strip()
    if rest:
        yield rest


def _is_prose(source: Source, node: Node) -> bool:
    text = _bytes(source, node).decode("utf-8", "replace")
    return _PROSE.fullmatch(text) is not None and _FOR_TOOLS.search(text) is None


def _is_prose_only(source: Source, node: Node) -> bool:
    """Return whether a node is unread documentation: not of a decorated function, and without interpolation."""
    if not is_documentation(source, node) or _IS_RUN.search(_bytes(source, node)):
        return False
    if any("interpolation" in inner.type for inner in walk(node)):
        return False
    block = node.parent
    owner = block.parent if block is not None else None
    above = owner.parent if owner is not None else None
    return above is None or above.type != "decorated_definition"


def _bytes(source: Source, node: Node) -> bytes:
    return source.content[node.start_byte : node.end_byte]
