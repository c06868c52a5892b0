"""Titles of JavaScript tests: as written, and as regular expressions for what they are at run time."""

from __future__ import annotations

import re

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import arguments, child, field_text

FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_PRINTED = re.compile(r"%[sdifjopO#$%]|\$\w[\w.]*|\$#")
ANYTHING = ".*"


def title_of(source: Source, call: Node, *, is_table: bool) -> tuple[str, str]:
    """A title as written, and a regular expression for what it is at run time."""
    given = arguments(call)
    first = given[0] if given else None
    if first is None or first.type in FUNCTIONS:
        name = field_text(source, first, "name")
        return name, re.escape(name)
    shown, pattern = _text(source, first)
    if is_table:
        pattern = _PRINTED.sub("\0", shown)
        pattern = ANYTHING.join(re.escape(piece) for piece in pattern.split("\0"))
    return shown, pattern


def _text(source: Source, node: Node) -> tuple[str, str]:
    if node.type == "string":
        text = _unescaped(source.text(node)[1:-1])
        return text, re.escape(text)
    if node.type == "template_string":
        pieces = [
            ANYTHING if c.type == "template_substitution" else re.escape(source.text(c)) for c in node.named_children
        ]
        return source.text(node)[1:-1], "".join(pieces)
    if node.type == "binary_expression" and field_text(source, node, "operator") == "+":
        left, right = child(node, "left"), child(node, "right")
        if left is not None and right is not None:
            one, two = _text(source, left), _text(source, right)
            return one[0] + two[0], one[1] + two[1]
    return source.text(node), ANYTHING


def _unescaped(text: str) -> str:
    return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", lambda found: _escape(found[1]), text, flags=re.DOTALL)


def _escape(letters: str) -> str:
    if letters[0] in "ux" and len(letters) > 1:
        return chr(int(letters[1:], 16))
    return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "\n": ""}.get(letters, letters)
