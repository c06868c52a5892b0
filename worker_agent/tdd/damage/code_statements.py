"""Damage to statements: one left out, another value assigned, another exception raised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from worker_agent.tdd.damage.code_conditions import negated
from worker_agent.tdd.damage.code_edits import RAISES, TYPED, Edit, EditScope, FunctionScope, named, parent_of, shown
from worker_agent.tdd.damage.code_returns import is_nothing
from worker_agent.tdd.damage.code_values import sort_of, sort_of_type, zero
from worker_agent.tdd.damage.model import DamageKind
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, line_of

_CALLS = words(
    "call call_expression method_invocation invocation_expression function_call_expression"
    " member_call_expression nullsafe_member_call_expression scoped_call_expression await await_expression"
    " delete_expression"
)
_WRITES = words(
    "assignment augmented_assignment assignment_expression augmented_assignment_expression"
    " compound_assignment_expr assignment_statement"
)
_MEMBERS = words(
    "attribute subscript member_expression subscript_expression selector_expression index_expression"
    " field_expression field_access array_access member_access_expression element_access_expression"
    " instance_variable scoped_property_access_expression element_reference call class_variable global_variable"
)
_STATEMENTS = words(
    "expression_statement assignment_statement go_statement defer_statement send_statement yield_statement"
    " delete_statement echo_statement"
)
_ASSIGNED = {
    **dict.fromkeys(("assignment", "assignment_expression", "short_var_declaration"), ("left", "right")),
    "variable_declarator": ("name", "value"),
    "let_declaration": ("pattern", "value"),
}
"""The fields of a statement that assigns one value: the target and the value."""

_RUBY_PLACES = frozenset({"body_statement", "then", "else", "block_body", "do"})
_RUBY_KEPT = re.compile(r"(raise|attr_\w+|require\w*|include|extend|private|public|protected|module_function|super)\b")
_KEPT = re.compile(r"(super|this)\s*\(|parent::__construct|await import\(")
_VALUE_KEPT = re.compile(r"(await\s+)?(require|import)\s*\(|new\s|class\b|function\b|async\b|<")
_NO_VALUE = words(
    "lambda arrow_function function_expression generator_function class await await_expression yield"
    " anonymous_function lambda_expression closure_expression func_literal"
)


def statement_edits(place: EditScope) -> Iterator[Edit]:
    """Yield the statements of a place, each damaged; outside of functions only calls are left out."""
    for node in place.nodes:
        if node.type in RAISES:
            yield from _raise_edits(place, node)
        elif place.language is Language.RUBY:
            yield from _ruby_edits(place, node)
        elif node.type in _STATEMENTS:
            yield from _omission(place, node)
        if isinstance(place, FunctionScope):
            yield from _assignment_edits(place, node)


def _omission(place: EditScope, node: Node) -> Iterator[Edit]:
    inner = named(node)[0] if named(node) else node
    if not _has_effect(place, node, inner):
        return
    by = _empty_statement(place, node, inner)
    if by is not None:
        told = f"`{shown(place.text(node).rstrip(';'), 54)}` was left out"
        yield place.replace(DamageKind.DROP, node, by, told, weak=node.type in ("echo_statement", "defer_statement"))


def _has_effect(place: EditScope, node: Node, inner: Node) -> bool:
    """Return whether a statement is a call, a yield, or an assignment to a member, and may be left out."""
    text = place.text(node)
    if node.type == "assignment_statement" or (node.type == "expression_statement" and inner.type in _WRITES):
        written = node if node.type == "assignment_statement" else inner
        return isinstance(place, FunctionScope) and _is_to_member(written)
    if node.type == "expression_statement" and inner.type not in _CALLS and "yield" not in inner.type:
        return False
    if not isinstance(place, FunctionScope) and (place.language in TYPED or re.match(r"(require|import)\b", text)):
        return False
    return _KEPT.match(text) is None


def _empty_statement(place: EditScope, node: Node, inner: Node) -> str | None:
    """Return the replacement of a statement that is left out; it stays in the file if a compiler counts its uses."""
    text = place.text(node)
    if place.language is Language.PYTHON:
        if inner.type != "yield":
            return "pass"
        return f"if False: {text}" if "\n" not in text and _stands_alone(place, node) else None
    if place.language in (Language.GO, Language.RUST):
        return f"if false {{ {text} }}"
    if place.language in SCRIPTS and "yield" not in inner.type:
        return ";"
    return f"if (false) {{ {text} }}"


def _stands_alone(place: EditScope, node: Node) -> bool:
    content = place.source.content
    begin = content.rfind(b"\n", 0, node.start_byte) + 1
    end = content.find(b"\n", node.end_byte)
    after = content[node.end_byte : end if end >= 0 else len(content)]
    return not content[begin : node.start_byte].strip() and b";" not in after


def _is_to_member(node: Node) -> bool:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "expression_list" and named(left):
        left = named(left)[0]
    return left is not None and left.type in _MEMBERS and node.child_by_field_name("right") is not None


def _raise_edits(place: EditScope, node: Node) -> Iterator[Edit]:
    text = place.text(node)
    if "NotImplemented" in text or not named(node):
        return
    told = f"`{shown(text.rstrip(';'), 54)}` was left out"
    outer = node.parent if parent_of(node) == "expression_statement" else None
    if place.language is Language.PYTHON:
        yield Edit(DamageKind.DROP, node.start_byte, node.end_byte, "pass", told, line_of(node))
    elif outer is not None:
        yield Edit(DamageKind.DROP, outer.start_byte, outer.end_byte, ";", told, line_of(node))
    elif node.type == "throw_statement":
        by = ";" if place.language in SCRIPTS else f"if (false) {{ {text} }}"
        yield Edit(DamageKind.DROP, node.start_byte, node.end_byte, by, told, line_of(node))
    yield from _another_exception(place, node)


def _another_exception(place: EditScope, node: Node) -> Iterator[Edit]:
    match place.language:
        case Language.PYTHON:
            raised = named(node)[0]
            name = raised.child_by_field_name("function") if raised.type == "call" else raised
            by = "RuntimeError" if name is None or place.text(name) != "RuntimeError" else "LookupError"
        case Language.JAVA | Language.CSHARP | Language.PHP:
            name = named(node)[0] if named(node)[0].type == "object_creation_expression" else None
            by = {
                Language.JAVA: 'new UnsupportedOperationException("damaged")',
                Language.CSHARP: 'new System.NotSupportedException("damaged")',
                Language.PHP: "new \\DomainException('damaged')",
            }[place.language]
        case _:
            raised = named(node)[0]
            name = raised.child_by_field_name("constructor") if raised.type == "new_expression" else None
            by = "Error" if name is None or place.text(name) != "Error" else "TypeError"
    if name is not None:
        yield replace(place.replace(DamageKind.LIKE, name, by), weak=False)


def _ruby_edits(place: EditScope, node: Node) -> Iterator[Edit]:
    if node.type == "call" and place.text(node).startswith("raise"):
        exception = node.child_by_field_name("arguments")
        yield place.replace(DamageKind.DROP, node, "nil", f"`{shown(place.text(node), 54)}` was left out")
        first = named(exception)[0] if exception is not None and named(exception) else None
        if first is not None and first.type in ("constant", "scope_resolution"):
            yield replace(place.replace(DamageKind.LIKE, first, "IOError"), weak=False)
        return
    if not isinstance(place, FunctionScope) or parent_of(node) not in _RUBY_PLACES:
        return
    appends = node.type == "binary" and "<<" in {each.type for each in node.children}
    writes = node.type == "assignment" and _is_to_member(node)
    calls = node.type == "call" and not _RUBY_KEPT.match(place.text(node))
    if appends or writes or calls or (node.type == "yield" and named(node)):
        yield place.replace(DamageKind.DROP, node, "nil", f"`{shown(place.text(node), 54)}` was left out")


def _assignment_edits(place: EditScope, node: Node) -> Iterator[Edit]:
    operator = _step_of(node)
    if operator is not None:
        yield place.replace(DamageKind.ASSIGN, operator, "=", _describe_step(place, node, operator))
    elif (found := _value_of(place, node)) is not None:
        by = _another_value(place, node, found)
        if by is not None and by != place.text(found):
            yield place.replace(DamageKind.ASSIGN, found, by, _describe_assignment(place, node, by))


def _step_of(node: Node) -> Node | None:
    """Return the operator of an assignment that changes a value: `+=`, `||=`."""
    if node.type not in _WRITES and node.type != "operator_assignment":
        return None
    operator = node.child_by_field_name("operator") or next((each for each in node.children if not each.is_named), None)
    return operator if operator is not None and operator.type.endswith("=") and len(operator.type) > 1 else None


def _describe_step(place: EditScope, node: Node, operator: Node) -> str:
    old = place.text(operator)
    left = node.child_by_field_name("left")
    name = shown(place.text(left), 26) if left is not None else ""
    return f"`{name} {old} …` became `{name} = …`"


def _describe_assignment(place: EditScope, node: Node, by: str) -> str:
    left = node.child_by_field_name("left") or node.child_by_field_name("name") or node.child_by_field_name("pattern")
    name = shown(place.text(left), 30) if left is not None else "a variable"
    return f"`{name}` became `{shown(by)}`"


def _value_of(place: EditScope, node: Node) -> Node | None:
    """Return the value that a statement assigns to one variable or member, if another value can replace it."""
    left, right = map(node.child_by_field_name, _ASSIGNED.get(node.type, ("-", "-")))
    if node.type == "variable_declarator" and place.language is Language.CSHARP and len(named(node)) > 1:
        right = right or named(node)[-1]
    if left is None or "pattern" in left.type or left.type in ("array", "list", "left_assignment_list"):
        return None
    return None if right is None or right.type in _NO_VALUE or _VALUE_KEPT.match(place.text(right)) else right


def _another_value(place: EditScope, node: Node, value: Node) -> str | None:
    """Return the replacing value: of the same visible sort, else nothing; None for constants, damaged elsewhere."""
    kinds, sort = place.kinds, sort_of(place.source, value)
    if value.type in kinds.strings | kinds.integers | kinds.floats or is_nothing(place.source, value):
        return None
    if sort == "bool":
        simple = value.type.startswith(("true", "false", "boolean"))
        return None if simple else negated(place.language, place.text(value))
    if place.language in TYPED:
        return _typed_value(place, node, value)
    return zero(place.language, sort)


def _typed_value(place: EditScope, node: Node, value: Node) -> str | None:
    """Return the zero value of a declared type; for Go, a slice or map without entries."""
    if place.language is Language.GO:
        inner = named(value)[0] if named(value) else value
        declared = inner.child_by_field_name("type")
        if inner.type != "composite_literal" or declared is None or declared.type not in ("slice_type", "map_type"):
            return None
        return f"{place.text(declared)}{{}}"
    above = node if place.language is Language.RUST else node.parent
    declared = above.child_by_field_name("type") if above is not None else None
    if declared is None or place.text(declared) in ("var", "auto"):
        return None
    text = place.text(declared)
    return zero(place.language, sort_of_type(text), text)
