"""The names of functions and classes: their own, or that of what a function without one is bound to."""

from __future__ import annotations

import re

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import NODE_TYPES
from worker_agent.tdd.syntax.source import Language, Source

_NAME = 60
"""Characters of a name that are kept; names can be computed."""
_SCRIPTS = frozenset({Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX})
_BOUND_BY = {"variable_declarator": "name", "pair": "key", "assignment_expression": "left", "var_spec": "name"}
_FIELDS = frozenset({"public_field_definition", "field_definition"})


def own_name(source: Source, node: Node) -> str:
    """The name of a function without its classes; in Go with the type of its receiver; for `get x` with the word."""
    named = node.child_by_field_name("name")
    if node.type in NODE_TYPES[source.language].closures or named is None:
        return bound_name(source, node) or node.type
    name = source.text(named)
    receiver = node.child_by_field_name("receiver") if source.language is Language.GO else None
    if receiver is not None:
        owner = re.search(r"(\w+)\s*(\[[^\]]*\])?\s*\)$", source.text(receiver))
        name = f"{owner.group(1)}.{name}" if owner else name
    accessor = next((child.type for child in node.children if child.type in ("get", "set")), "")
    return f"{accessor} {name}" if accessor and accessor != name else name


def bound_name(source: Source, node: Node) -> str:
    """The name of a closure: of the variable or property that it becomes, or of the call at the top that takes it."""
    parent = node.parent
    if parent is None or source.language not in (*_SCRIPTS, Language.GO, Language.PHP):
        return ""
    while parent.type in ("expression_list", "parenthesized_expression", "await_expression") and parent.parent:
        if parent.type == "parenthesized_expression" and parent.parent.type == "call_expression":
            return ""
        parent = parent.parent
    if parent.type in _FIELDS:
        named = parent.child_by_field_name("name") or parent.child_by_field_name("property")
        return source.text(named) if named else ""
    named = parent.child_by_field_name(_BOUND_BY.get(parent.type, "-"))
    if named is not None:
        return source.text(named).removeprefix("module.exports.").removeprefix("exports.")
    if parent.type == "export_statement":
        return "default"
    taker = parent.parent if parent.type == "arguments" else None
    called = taker.child_by_field_name("function") if taker is not None else None
    if called is None or _is_inside_function(source, parent):
        return ""
    return f"{''.join(source.text(called).split('(')[0].split())}()"


def class_name(source: Source, node: Node) -> str:
    """The name of a class, a module, or the type that an `impl` is for."""
    named = node.child_by_field_name("name") or node.child_by_field_name("type")
    return re.sub(r"[<\[].*", "", source.text(named), flags=re.DOTALL) if named else ""


def joined(above: str, name: str) -> str:
    """The qualified name, on one line."""
    plain = " ".join(name.split())[:_NAME]
    return f"{above}.{plain}" if above and plain else above or plain


def _is_inside_function(source: Source, node: Node) -> bool:
    kinds = NODE_TYPES[source.language]
    above = node.parent
    while above is not None:
        if above.type in kinds.functions or above.type in kinds.closures:
            return True
        above = above.parent
    return False
