"""Damage to the results of a function: another returned value, another yielded one."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.damage.code_bodies import result_types
from worker_agent.tdd.damage.code_conditions import negated
from worker_agent.tdd.damage.code_constants import other_number, other_text
from worker_agent.tdd.damage.code_edits import TYPED, Edit, EditScope, FunctionScope, became, closure_of, named, shown
from worker_agent.tdd.damage.code_values import declared_type, other, sort_of, sort_of_type, zero
from worker_agent.tdd.damage.model import DamageKind
from worker_agent.tdd.syntax.node_types import RETURNS, TRUE_FALSE, words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, Source

_NOT_VALUES = words(
    "if unless case while until begin for return method assignment operator_assignment if_expression"
    " match_expression for_expression while_expression loop_expression expression_statement let_declaration"
    " macro_invocation return_expression unsafe_block async_block const_item empty_statement break_expression"
    " yield"
)
_YIELDED = frozenset({"yield", "yield_expression"})
_BODIES = frozenset({"block", "statement_block", "compound_statement", "body_statement"})


def return_edits(place: FunctionScope) -> Iterator[Edit]:
    """Yield each value that is returned or yielded, replaced by another one."""
    for value, owner in returned(place):
        if place.language is Language.GO and value.type == "expression_list":
            yield from _go_results(place, value, owner)
        else:
            yield from _other_values(place, value, owner)
    for node in place.nodes:
        if node.type in _YIELDED and place.language in (Language.PYTHON, *SCRIPTS) and "*" not in place.text(node)[:7]:
            given = named(node)
            if given and "from" not in {each.type for each in node.children} and not is_nothing(place.source, given[0]):
                by = "None" if place.language is Language.PYTHON else "undefined"
                yield place.replace(DamageKind.RET, given[0], by)


def returned(place: EditScope) -> Iterator[tuple[Node, Node]]:
    """Yield each returned value with the function, named or not, that returns it."""
    for node in place.nodes:
        if node.type in RETURNS and named(node):
            value = named(node)[-1]
            if value.type == "argument_list":
                value = named(value)[0] if len(named(value)) == 1 else value
            yield value, closure_of(place, node)
        elif node.type in place.kinds.closures or node.id == place.node.id:
            last = _last_value(place, node)
            if last is not None:
                yield last, node


def _last_value(place: EditScope, node: Node) -> Node | None:
    """Return the value that a function has without a `return`."""
    body = node.child_by_field_name("body")
    if body is None or body.type in place.kinds.classes:
        return None
    if body.type == "arrow_expression_clause":
        return named(body)[-1]
    if body.type not in _BODIES:
        return body if node.type in place.kinds.closures or place.language is Language.RUBY else None
    if place.language not in (Language.RUST, Language.RUBY) or not named(body):
        return None
    last = named(body)[-1]
    return None if last.type in _NOT_VALUES or last.type.endswith(("_item", "_modifier")) else last


def _other_values(place: EditScope, value: Node, owner: Node) -> Iterator[Edit]:
    text, sort, declared = place.text(value), sort_of(place.source, value), declared_type(place.source, owner)
    if value.type in TRUE_FALSE:
        return  # truth values are `like` already
    if is_nothing(place.source, value):
        yield from _instead_of_nothing(place, value, declared)
    elif sort == "tuple" and len(named(value)) > 1:
        yield _swap_entries(place, value)
    elif sort == "bool" or sort_of_type(declared) == "bool":
        yield place.replace(DamageKind.RET, value, negated(place.language, text))
    elif sort_of_type(declared) == "int" or _is_arithmetic(value):
        yield place.replace(DamageKind.RET, value, f"({text}) + 1")
    else:
        yield from _empty_value(place, value, declared, sort)


def _empty_value(place: EditScope, value: Node, declared: str, sort: str) -> Iterator[Edit]:
    """Yield nothing, or the zero value, in place of a value; another text for a literal is `const` already."""
    text = place.text(value)
    if place.language is Language.RUST and text.startswith("Err("):
        return
    is_some = place.language is Language.RUST and text.startswith("Some(")
    by = "None" if is_some else zero(place.language, sort_of_type(declared) or sort, declared)
    if by is not None and by != text:
        yield place.replace(DamageKind.RET, value, f"({by})" if by.startswith("{") or " as " in by else by)


def _instead_of_nothing(place: EditScope, value: Node, declared: str) -> Iterator[Edit]:
    """Yield a value where `None` was returned."""
    plain = declared.removesuffix("| None").removesuffix("| null").removesuffix("| undefined").removeprefix("?").strip()
    plain = plain.removeprefix("Optional[").removesuffix("]") if plain.startswith("Optional[") else plain
    by = other(place.language, sort_of_type(plain)) if plain else other(place.language, "str")
    if by is not None and place.language not in TYPED:
        yield place.replace(DamageKind.RET, value, by)


def _go_results(place: FunctionScope, values: Node, owner: Node) -> Iterator[Edit]:
    """Yield each value replaced by the zero value of its type, and an error left out; the old value stays in use."""
    given = named(values)
    types = result_types(place) if owner.id == place.node.id else []
    if len(types) != len(given):
        return
    for value, declared in zip(given, types, strict=True):
        text = place.text(value)
        if declared == "error" and value.type != "nil":
            yield place.replace(DamageKind.DROP, value, "nil", f"the error `{shown(text, 48)}` was not returned")
        elif declared == "bool" and value.type not in TRUE_FALSE:
            yield place.replace(DamageKind.RET, value, negated(place.language, text))
        elif sort_of_type(declared) == "int" and value.type not in place.kinds.integers:
            yield place.replace(DamageKind.RET, value, f"({text}) + 1")
        elif declared != "error" and value.type not in ("nil", *TRUE_FALSE, *place.kinds.integers):
            by = f"func() {declared} {{ return *new({declared}); return {text} }}()"
            yield place.replace(DamageKind.RET, value, by, became(text, f"*new({declared})"))


def _swap_entries(place: EditScope, value: Node) -> Edit:
    """Return a tuple with its first two entries swapped, or another last one if they are the same."""
    first, second = named(value)[:2]
    left, right = place.text(first), place.text(second)
    if left == right:
        return place.replace(DamageKind.RET, first, _changed_literal(place, first) or "None")
    between = place.source.content[first.end_byte : second.start_byte].decode("utf-8", "replace")
    by = place.text_with(value, (first.start_byte, second.end_byte), f"{right}{between}{left}")
    return place.replace(DamageKind.RET, value, by)


def _changed_literal(place: EditScope, node: Node) -> str | None:
    if node.type in place.kinds.strings:
        return other_text(place, node)
    return other_number(place.text(node)) if node.type in place.kinds.integers else None


def _is_arithmetic(node: Node) -> bool:
    if node.type == "parenthesized_expression" and named(node):
        return _is_arithmetic(named(node)[0])
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type in ("-", "*", "/", "//", "%") and len(named(node)) == 2


def is_nothing(source: Source, value: Node) -> bool:
    """Return whether a value is `None`, `null`, `nil` or `undefined`."""
    return sort_of(source, value) == "none" or source.text(value) in ("undefined", "void 0", "null", "NULL")
