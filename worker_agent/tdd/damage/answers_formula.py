"""Formulas fitted to given points: polynomials with numbers of their own, products over differences (pure).

A polynomial can be fitted to any results that tests expect; it proves as little as a table of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_edits import FunctionScope, named, shown
from worker_agent.tdd.syntax.node_types import NODE_TYPES, words
from worker_agent.tdd.syntax.source import Source, line_of, walk
from worker_agent.tdd.syntax.units_found import field_text

LEAST_DEGREE = 2
LEAST_NUMBERS = 3
"""The fewest numbers besides the exponents, none of them 0, 1 or 2."""

_BINARY = words("binary_operator binary_expression binary")
_AROUND = words("parenthesized_expression parenthesized_statements")
_AUGMENTED = words(
    "augmented_assignment augmented_assignment_expression operator_assignment compound_assignment_expr"
    " assignment_statement assignment_expression"
)
_NAMES = words("identifier variable_name")
_OF_WHOLE_NUMBERS = words("** ^ % << >>")

FITTED = "{}::{}: it computes a polynomial with numbers of its own (`{}`): one can be laid through any results"


def fitted(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each changed function that computes such a formula if the base had none."""
    return tuple(
        FITTED.format(change.path, place.function.name, shown(formula, 60))
        for change in changes(base, head)
        for place in change.scopes
        if (formula := _formula(place)) is not None
    )


def _formula(place: FunctionScope) -> str | None:
    source, body = place.source, place.function.body
    for node in walk(body) if body is not None else ():
        if line_of(node) not in place.lines:
            continue
        if node.type in _AUGMENTED and _is_basis(source, node):
            return source.text(node)
        if node.type in _BINARY and (node.parent is None or node.parent.type not in _BINARY | _AROUND):
            numbers = _numbers(source, node)
            if len(numbers) >= LEAST_NUMBERS and _degree(source, node) >= LEAST_DEGREE:
                return source.text(node)
    return None


def _is_basis(source: Source, node: Node) -> bool:
    """Return whether a product multiplies a difference over a difference: Lagrange interpolation."""
    right = _without_parentheses(node.child_by_field_name("right") or node)
    by = source.text(node.children[1]) if node.child_count > 1 else ""
    if by != "*=" or right.type not in _BINARY or _operator(source, right) != "/":
        return False
    return all(_operator(source, _without_parentheses(side)) == "-" for side in named(right))


def _degree(source: Source, node: Node) -> float:
    """Return the highest power of any name in a sum of products; 0 for other expressions."""
    node = _without_parentheses(node)
    if node.type in _NAMES:
        return 1
    sides = named(node)
    if node.type not in _BINARY or len(sides) < 2:
        return 0
    sign, left, right = _operator(source, node), sides[0], sides[-1]
    if sign in ("**", "^") and source.text(right).isdigit():
        return _degree(source, left) * min(int(source.text(right)), 9)
    if sign == "*":
        return _degree(source, left) + _degree(source, right) if _share_name(source, left, right) else 1
    return max(_degree(source, left), _degree(source, right)) if sign in ("+", "-", "/", "//") else 0


def _share_name(source: Source, left: Node, right: Node) -> bool:
    """Return whether both sides of a product share a name, or one is a number: so it can be a power."""
    in_left, in_right = ({source.text(each) for each in walk(side) if each.type in _NAMES} for side in (left, right))
    return bool(in_left & in_right) or not in_left or not in_right


def _numbers(source: Source, node: Node) -> list[str]:
    """Return the numbers of an expression that are no exponents, remainders or shifts, without 0, 1 and 2."""
    types = NODE_TYPES[source.language].integers | NODE_TYPES[source.language].floats
    numbers = (each for each in walk(node) if each.type in types)
    texts = (source.text(each) for each in numbers if _operator(source, each.parent) not in _OF_WHOLE_NUMBERS)
    return [text for text in texts if text not in ("0", "1", "2")]


def _operator(source: Source, node: Node | None) -> str:
    return field_text(source, node, "operator")


def _without_parentheses(node: Node) -> Node:
    while node.type in _AROUND and named(node):
        node = named(node)[0]
    return node
