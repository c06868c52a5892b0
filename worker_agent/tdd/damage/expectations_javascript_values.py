"""Expected values in JavaScript and TypeScript, and their change into values that differ from all equal ones."""

from __future__ import annotations

import math
import re

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import Edit, Edits, around, first_of, moved, over, word
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import child, statements

NEVER = "/(?!)/"
"""A regular expression that matches nothing."""

_WORDS = {"true": "false", "false": "true", "null": "false", "undefined": "null"}
_WRAPPERS = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"})


def changed(source: Source, node: Node) -> Edits:
    """Return the edit that changes a literal; empty if the node is none."""
    match node.type:
        case "string" | "template_string":
            return (Edit(node.end_byte - 1, node.end_byte - 1, word(source, node)),)
        case "number":
            return _number(source, node)
        case "true" | "false" | "null" | "undefined":
            return (over(node, _WORDS[node.type]),)
        case "unary_expression" if re.match(r"-\s*\d", source.text(node)):
            return changed(source, node.named_children[0])
        case "array":
            return _first(source, node, list(statements(node)))
        case "object":
            pairs = list(statements(node))
            if any(found.type == "spread_element" for found in pairs):
                return ()
            return _first(source, node, [value for found in pairs if (value := child(found, "value")) is not None])
        case _:
            return changed(source, node.named_children[0]) if node.type in _WRAPPERS else ()


def other(source: Source, node: Node) -> Edits:
    """Return edits that put a computed expected value into an array."""
    return () if node.type == "spread_element" else around(node, f'["{word(source, node)}", ', "]")


def _first(source: Source, node: Node, values: list[Node]) -> Edits:
    if not node.named_children:
        name = word(source, node)
        return (over(node, f'["{name}"]' if node.type == "array" else f"{{ {name}: 1 }}"),)
    return first_of(changed(source, value) for value in values)


def _number(source: Source, node: Node) -> Edits:
    text = source.text(node).replace("_", "").lower()
    big = "n" if text.endswith("n") else ""
    is_whole = bool(big) or re.match(r"0[xbo]|\d+$", text)
    try:
        value: int | float = int(text.removesuffix("n"), 0) if is_whole else float(text)
    except ValueError:
        return ()
    moved_on = value * 3 + moved(source, node)
    if not big and not (math.isfinite(moved_on) and abs(moved_on) < 1e15):
        return ()
    return (over(node, f"{moved_on}{big}"),)
