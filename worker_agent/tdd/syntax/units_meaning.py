"""Digests of code by meaning: comments, layout, docstrings and the style of quotes do not count."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, Source

_LAYOUT = frozenset({",", ";", "(", ")", "[", "]", "{", "}", ":", "\n", "`", '"', "'", "|"})
"""Tokens that add nothing to the tree that they are in."""

_TRANSPARENT = frozenset({"parenthesized_expression", "formal_parameters", "parenthesized_statements"})
"""Nodes that mean the same as their content."""

_STRINGS = frozenset({"string", "string_literal", "interpreted_string_literal", "encapsed_string", "template_string"})
_TEXTS = words(
    "string_content string_fragment string_literal_content interpreted_string_literal_content escape_sequence"
)
_INSIDE = _TEXTS | {"string_start", "string_end"}
_VERBATIM = frozenset({"token_tree"})
"""Nodes inside which punctuation has a meaning of its own: the arguments of Rust's macros."""

_QUOTE = re.compile(r"""\\(["'])""")
_PREFIX = re.compile(rb"[A-Za-z]*")

MOST_DIGESTS = 20_000
"""Most digests of code that are remembered."""

T = TypeVar("T")


class SeenCode(Generic[T]):
    """Results of `find` for pieces of code, by their hashes; forgotten once there are `most`. For all threads."""

    def __init__(self, find: Callable[[Source, Node], T], *, most: int) -> None:
        self._find, self._most = find, most
        self._known: dict[bytes, T] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, source: Source, node: Node) -> T:
        """Return the fact about a piece of code, which depends on its text, its language and its kind alone."""
        kind = f"{source.language}\0{node.type}\0".encode()
        key = hashlib.blake2b(kind + source.content[node.start_byte : node.end_byte], digest_size=16).digest()
        known = self._known.get(key)
        if known is not None:
            return known
        found = self._find(source, node)
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[key] = found
        return found


def digest(source: Source, *nodes: Node) -> str:
    """Return a short hash of the meaning of some code."""
    return _DIGESTS.of(source, nodes[0]) if len(nodes) == 1 else hashed(_DIGESTS.of(source, node) for node in nodes)


_DIGESTS = SeenCode[str](lambda source, node: hashed(tokens(source, node)), most=MOST_DIGESTS)


def hashed(parts: Iterable[str]) -> str:
    """Return a short hash of texts in their order."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode("utf-8", "replace") + b"\0")
    return found.hexdigest()[:20]


def tokens(source: Source, node: Node) -> Iterator[str]:
    """Yield the meaning of code, in order: kinds of nodes, names, values and operators."""
    pending: list[Node | str] = [node]
    while pending:
        found = pending.pop()
        if isinstance(found, str):
            yield found
        elif _is_silent(found, source.language):
            continue
        elif (text := _plain_string(source, found)) is not None:
            yield f"string {text}"
        elif not found.children:
            yield source.text(found)
        elif found.type in _TRANSPARENT:
            pending.extend(reversed(found.children))
        else:
            pending.append("end")
            pending.extend(reversed(found.children))
            yield found.type


def docstring(node: Node) -> Node | None:
    """Return the docstring that a block of Python starts with."""
    first = next((child for child in node.named_children if child.type != "comment"), None)
    if first is None or first.type != "expression_statement" or len(first.named_children) != 1:
        return None
    return first.named_children[0] if first.named_children[0].type == "string" else None


def _is_silent(node: Node, language: Language) -> bool:
    if "comment" in node.type:
        return True
    if not node.is_named:
        parent = node.parent
        return node.type in _LAYOUT and not (parent is not None and parent.type in _VERBATIM and node.type != ",")
    if language is Language.PYTHON and node.type == "expression_statement":
        parent = node.parent
        if parent is not None and parent.type in {"block", "module"} and node.named_children:
            return docstring(parent) == node.named_children[0]
    return False


def _plain_string(source: Source, node: Node) -> str | None:
    """Return the text of a string without computed parts and without its quotes; None for other nodes."""
    if node.type not in _STRINGS or any(child.type not in _INSIDE for child in node.named_children):
        return None
    text = "".join(source.text(child) for child in node.named_children if child.type in _TEXTS)
    prefix = _PREFIX.match(source.content[node.start_byte : node.end_byte])
    letters = "".join(sorted((prefix[0] if prefix else b"").decode().lower().replace("u", "")))
    return f"{letters} {text}" if letters else _QUOTE.sub(r"\1", text)
