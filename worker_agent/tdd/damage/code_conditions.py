"""Damage to conditions and limits: negated, off by one, another operator."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.damage.code_edits import TYPED, Edit, EditScope, became, named, parent_of, shown
from worker_agent.tdd.damage.code_values import sort_of
from worker_agent.tdd.damage.model import DamageKind
from worker_agent.tdd.syntax.node_types import TRUE_FALSE, words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, line_of, walk

_IFS = words(
    "if_statement elif_clause else_if_clause if_expression ternary_expression conditional_expression if unless"
    " elsif if_modifier unless_modifier conditional"
)
_LOOPS = words(
    "while_statement do_statement for_statement for_clause while_expression while until while_modifier until_modifier"
)
_OPERATIONS = frozenset({"binary_expression", "binary", "binary_operator", "boolean_operator", "comparison_operator"})
_OPPOSITES = {
    "==": "!=", "!=": "==", "===": "!==", "!==": "===", "is": "is not", "is not": "is", "in": "not in",
    "not in": "in", "and": "or", "or": "and", "&&": "||", "||": "&&",
}  # fmt: skip
_LIMITS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_STEPS = frozenset({"-", "*", "/", "%", "//"})
_OTHER_STEP = {"-": "+", "*": "+", "/": "*", "%": "+", "//": "*"}
_RANGES = {"..=": "..", "..": "..=", "...": ".."}
_NEGATING = frozenset({"not_operator", "unary_expression", "unary_op_expression", "unary", "prefix_unary_expression"})


def condition_edits(place: EditScope) -> Iterator[Edit]:
    """Yield the conditions, operators and limits of a place, each damaged."""
    for node in place.nodes:
        if node.type in _IFS or node.type in _LOOPS or node.type == "if_clause":
            yield from _conditions(place, node)
        elif node.type in _OPERATIONS:
            yield from _operations(place, node)
        elif node.type in _NEGATING and not _is_condition(node):
            yield from _negations(place, node)
        elif node.type in ("slice", "call", "range_expression", "range"):
            yield from _ranges(place, node)


def negated(language: Language, text: str) -> str:
    """Return the opposite of a condition."""
    return f"not ({text})" if language is Language.PYTHON else f"!({text})"


def _conditions(place: EditScope, node: Node) -> Iterator[Edit]:
    condition = _condition_of(node)
    if condition is None or any(each.type in ("let_condition", "let_chain") for each in walk(condition)):
        return
    if condition.type in TRUE_FALSE or condition.type in (";", "declaration_expression"):
        return
    inner = place.text(condition)
    if condition.type == "parenthesized_expression":
        by = f"({negated(place.language, inner[1:-1])})"
    else:
        by = negated(place.language, inner)
    told = f"the condition `{shown(inner, 48)}` was negated"
    yield place.replace(DamageKind.NEGATE, condition, by, told, weak=node.type in _LOOPS)


def _condition_of(node: Node) -> Node | None:
    if node.type == "conditional_expression" and node.child_by_field_name("condition") is None:
        return named(node)[1] if len(named(node)) == 3 else None
    if node.type == "if_clause":
        return named(node)[0] if named(node) else None
    return node.child_by_field_name("condition")


def _is_condition(node: Node) -> bool:
    """Return whether a node is a complete condition, which is negated as a whole."""
    above = node.parent
    while above is not None and above.type == "parenthesized_expression":
        node, above = above, above.parent
    if above is None or (above.type not in _IFS and above.type not in _LOOPS and above.type != "if_clause"):
        return False
    condition = _condition_of(above)
    return condition is not None and condition.id == node.id


def _operations(place: EditScope, node: Node) -> Iterator[Edit]:
    operators = [each for each in node.children if not each.is_named or each.type in ("in", "is")]
    for operator in operators:
        sign = " ".join(place.text(operator).split())
        if sign in _OPPOSITES and not _is_plain_comparison(node, sign) and not _has_let(node):
            yield _with_operator(place, node, operator, _OPPOSITES[sign], DamageKind.NEGATE)
        elif sign in _LIMITS:
            yield _with_operator(place, node, operator, _LIMITS[sign], DamageKind.BOUND)
        elif sign == "??" and place.language in SCRIPTS:
            yield _with_operator(place, node, operator, "&&", DamageKind.NEGATE)
        elif sign in _STEPS and len(operators) == 1:
            yield from _arithmetic(place, node, operator)
        elif sign in ("+", ".") and len(operators) == 1 and not _holds_number(place, node):
            yield from _keep_left_operand(place, node)


def _is_plain_comparison(node: Node, sign: str) -> bool:
    return sign not in ("and", "or", "&&", "||") and _is_condition(node)


def _has_let(node: Node) -> bool:
    return any(each.type in ("let_condition", "let_chain") for each in node.children)


def _with_operator(place: EditScope, node: Node, operator: Node, sign: str, kind: DamageKind) -> Edit:
    old, new = place.text(node), place.text_with(node, (operator.start_byte, operator.end_byte), sign)
    told = became(old, new) if len(old) <= 30 else _with_neighbours(place, operator, sign)
    return Edit(kind, operator.start_byte, operator.end_byte, sign, told, line_of(operator))


def _with_neighbours(place: EditScope, operator: Node, sign: str) -> str:
    neighbours = (operator.prev_sibling, operator.next_sibling)
    left, right = (shown(place.text(each), 11) if each is not None else "" for each in neighbours)
    return f"`{left} {place.text(operator)} {right}` became `{left} {sign} {right}`"


def _arithmetic(place: EditScope, node: Node, operator: Node) -> Iterator[Edit]:
    """Yield another arithmetic operation; operands that cannot be numbers (formats, repeated texts) stay."""
    if any(sort_of(place.source, each) in ("str", "list", "tuple", "bytes") for each in named(node)):
        return
    sign = place.text(operator)
    if sign == "-" and _holds_number(place, node):
        return
    yield _with_operator(place, node, operator, _OTHER_STEP[sign], DamageKind.BOUND)


def _holds_number(place: EditScope, node: Node) -> bool:
    """Return whether an operand is a number, which is damaged as a limit by itself."""
    return any(each.type in place.kinds.integers for each in named(node))


def _keep_left_operand(place: EditScope, node: Node) -> Iterator[Edit]:
    left = node.child_by_field_name("left")
    if left is None or parent_of(node) in _OPERATIONS:
        return
    if place.language in TYPED and sort_of(place.source, left) not in ("str", "") and place.language is not Language.GO:
        return
    yield place.replace(DamageKind.BOUND, node, f"({place.text(left)})")


def _negations(place: EditScope, node: Node) -> Iterator[Edit]:
    first = node.children[0].type if node.children else ""
    operand = named(node)[-1] if named(node) else None
    if first in ("not", "!") and operand is not None:
        yield place.replace(DamageKind.NEGATE, node, f"({place.text(operand)})")


def _ranges(place: EditScope, node: Node) -> Iterator[Edit]:
    if node.type in ("range_expression", "range"):
        operator = next((each for each in node.children if each.type in _RANGES), None)
        bounds = named(node)
        if operator is None or place.language is Language.CSHARP or len(bounds) < 2:
            return
        sign = _RANGES[operator.type]
        sign = {"..": "..."}.get(operator.type, "..") if place.language is Language.RUBY else sign
        yield _with_operator(place, node, operator, sign, DamageKind.BOUND)
    elif node.type == "slice":
        for each in named(node):
            if each.type not in place.kinds.integers:
                yield place.replace(DamageKind.BOUND, each, f"({place.text(each)}) + 1")
    elif place.language is Language.PYTHON:
        yield from _python_range(place, node)


def _python_range(place: EditScope, call: Node) -> Iterator[Edit]:
    called, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if called is None or arguments is None or place.text(called) != "range":
        return
    given = named(arguments)
    if given and given[min(1, len(given) - 1)].type not in place.kinds.integers:
        last = given[min(1, len(given) - 1)]
        yield place.replace(DamageKind.BOUND, last, f"({place.text(last)}) + 1")
