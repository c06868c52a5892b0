"""Expected values in Python, and their change into values that differ from all equal ones."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import Edit, Edits, around, first_of, moved, over, word
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import arguments, child, statements
from worker_agent.tdd.syntax.units_python import called

_HARMLESS = frozenset({"==", "is"})
_SIMPLE = frozenset({"identifier", "attribute", "subscript"})
_WORDS = {"true": "False", "false": "True", "none": "False"}


def literal_of(source: Source, expression: Node) -> Edits:
    """Return the edit of one expected value of a condition; empty under `or`, `not`, `!=`, `<` and their like."""
    if expression.type == "parenthesized_expression":
        return literal_of(source, expression.named_children[0])
    if expression.type == "boolean_operator":
        left, right = child(expression, "left"), child(expression, "right")
        if left is None or right is None or not any(found.type == "and" for found in expression.children):
            return ()
        return literal_of(source, left) or literal_of(source, right)
    if expression.type != "comparison_operator":
        return ()
    operators = [source.text(found) for found in expression.children_by_field_name("operators")]
    operands = list(statements(expression))
    if operators == ["in"]:
        return changed(source, operands[0]) if operands[0].type in {"string", "integer", "float"} else ()
    if not _HARMLESS.issuperset(operators):
        return ()
    literal = first_of(changed(source, found) for found in reversed(operands))
    return literal or (_other(source, operands) if operators == ["=="] else ())


def _other(source: Source, operands: list[Node]) -> Edits:
    """Return edits that put a computed expected value into a tuple: the one that looks least like the tested call."""
    simple = [found for found in reversed(operands) if found.type in _SIMPLE]
    expected = simple[0] if simple else operands[-1]
    return around(expected, f'("{word(source, expected)}", ', ")")


def changed(source: Source, node: Node) -> Edits:
    """Return the edit that changes a literal; empty if the node is none."""
    match node.type:
        case "string":
            end = next((found for found in node.named_children if found.type == "string_end"), None)
            return () if end is None else (Edit(end.start_byte, end.start_byte, word(source, node)),)
        case "concatenated_string":
            return changed(source, list(statements(node))[-1])
        case "integer" | "float":
            return _number(source, node)
        case "true" | "false" | "none":
            return (over(node, _WORDS[node.type]),)
        case "unary_operator" | "parenthesized_expression" if len(node.named_children) == 1:
            return changed(source, node.named_children[0])
        case "list" | "tuple" | "set" | "dictionary":
            return _container(source, node)
        case "call":
            return _approximate(source, node)
        case _:
            return ()


def _number(source: Source, node: Node) -> Edits:
    text = source.text(node).replace("_", "")
    try:
        value: int | float = int(text, 0) if node.type == "integer" else float(text)
    except ValueError:
        return ()
    other = value * 3 + moved(source, node)
    return (over(node, repr(other)),) if isinstance(other, int) or math.isfinite(other) else ()


def _container(source: Source, node: Node) -> Edits:
    listed = list(statements(node))
    if not listed:
        name = word(source, node)
        return (over(node, {"list": f'["{name}"]', "tuple": f'("{name}",)'}.get(node.type, f'{{"{name}": 1}}')),)
    if node.type == "dictionary":
        if any(found.type != "pair" for found in listed):
            return ()
        values = [value for found in listed if (value := child(found, "value")) is not None]
    else:
        values = listed
    return first_of(changed(source, value) for value in values)


def _approximate(source: Source, call: Node) -> Edits:
    """Return the edit of `approx(0.3)`: the number is moved farther than any tolerance."""
    function = child(call, "function")
    given = arguments(call)
    if function is None or source.text(function).rpartition(".")[2] != "approx" or not given:
        return ()
    if given[0].type not in {"float", "integer"}:
        return ()
    return (over(given[0], f"{moved(source, call)}987654321.5"),)


def is_filled(source: Source, node: Node, constants: Mapping[str, Node], depth: int = 4) -> bool:
    """Return whether an expression has at least one element; `constants` are values by name."""
    text = source.text(node)
    if node.type in {"list", "tuple", "set", "dictionary"}:
        return any("splat" not in found.type for found in statements(node))
    if node.type == "string":
        return any(found.type == "string_content" for found in node.named_children)
    if node.type == "identifier" and depth and text in constants:
        return is_filled(source, constants[text], constants, depth - 1)
    if node.type != "call" or not depth:
        return False
    name, given = called(source, node), arguments(node)
    if name == "range":
        return len(given) == 1 and bool(re.fullmatch(r"[1-9]\d*", source.text(given[0])))
    if name in {"enumerate", "reversed", "sorted", "zip", "product", "itertools.product", "list", "tuple", "set"}:
        return bool(given) and all(is_filled(source, found, constants, depth - 1) for found in given)
    owner = child(child(node, "function"), "object")
    is_view = name.endswith((".items", ".keys", ".values"))
    return is_view and owner is not None and is_filled(source, owner, constants, depth - 1)
