"""Changed functions that do nothing: no damage of them could be noticed, because there is nothing to damage."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code_bodies import body_statements, is_unfinished
from worker_agent.tdd.damage.code_candidates import quiet_possible
from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.damage.code_edits import SCRIPTS, FunctionScope, enclosing, named
from worker_agent.tdd.damage.code_returns import is_nothing
from worker_agent.tdd.syntax.functions import Function, functions
from worker_agent.tdd.syntax.node_types import NODE_TYPES, RETURNS, words
from worker_agent.tdd.syntax.source import Language, Source, parse

_CLASSES = words(
    "class_definition class_declaration class abstract_class_declaration impl_item trait_item interface_declaration"
    " trait_declaration record_declaration struct_declaration"
)
_ABSTRACT = re.compile(
    r"\b(ABC|ABCMeta|Protocol|abstract)\b|^(class )?(Abstract|Base|I[A-Z])\w*|\w*(Base|Mixin|Interface)\b"
)
_OVERRIDES = re.compile(r"@Override|@override|\boverride\b|\bvirtual\b|\bdefault\b|@.*\.setter")
_NO_OPERATION = re.compile(
    r"_*no_?op\w*|_*(close|flush|dispose|__exit__|__enter__|__aexit__|__init__|__del__|setUp)$", re.IGNORECASE
)
_HERITAGE = words("class_heritage base_clause base_list class_interface_clause")
_AROUND = RETURNS | words("expression_statement reference_expression unary_expression parenthesized_expression")
_MEMBERS = words(
    "field_expression member_expression selector_expression attribute field_access member_access_expression"
    " instance_variable index_expression subscript_expression"
)
_OWN = re.compile(r"(?:self|this|\$this|@)|\w+\.\w+$")
_CONSTRUCTORS = frozenset({"constructor", "__construct", "__init__", "initialize"})


def stubs(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the changed functions whose body does nothing but should do something, as `path:function`.

    Abstract functions, those of interfaces, constructors, and old functions that were emptied never count. Those that
    may be empty (overriding, local, callbacks) count only if no other changed function does anything.
    """
    found = changes(base, head)
    places = [(change, place) for change in found for place in change.scopes]
    empty = [(change, place.function) for change, place in places if _is_empty(place)]
    if not empty:
        return ()
    hollow = {(change.path, function.name) for change, function in empty}
    working = any(
        (change.path, place.function.name) not in hollow and quiet_possible(place) for change, place in places
    )
    sources = [source for path, content in base.items() if (source := parse(path, content)) is not None]
    old = {function.name for source in sources for function in functions(source)}
    return tuple(
        f"{change.path}:{function.name}"
        for change, function in empty
        if not _is_abstract(change, function, found)
        and not (function.name in old or _is_constructor(function))
        and not (working and _may_be_empty(change, function))
    )


def _is_empty(place: FunctionScope) -> bool:
    if place.nested:
        return False
    if is_unfinished(place):
        return True
    statements = body_statements(place)
    if len(statements) == 1 and _returns_nothing(place, statements[0]):
        return True
    returns_a_member = len(statements) == 1 and _is_member(place, statements[0])
    return not returns_a_member and not quiet_possible(place)


def _is_member(place: FunctionScope, statement: Node) -> bool:
    """Return whether a statement only returns a member of an object, so that no other value of its type is known."""
    value = statement
    while value.type in _AROUND and named(value):
        value = named(value)[-1]
    return value.type in _MEMBERS and bool(_OWN.match(place.text(value)))


def _returns_nothing(place: FunctionScope, statement: Node) -> bool:
    if statement.type in RETURNS:
        return not named(statement) or is_nothing(place.source, named(statement)[-1])
    return statement.type == "empty_statement" or is_nothing(place.source, statement)


def _is_abstract(change: FileChange, function: Function, found: tuple[FileChange, ...]) -> bool:
    """Return whether a function is only a declaration for others: by its class, or because its class is inherited."""
    source = change.source
    owner = enclosing(function.node, _CLASSES)
    if source is None or owner is None:
        return False
    if owner.type in ("trait_item", "interface_declaration", "trait_declaration"):
        return True
    body = owner.child_by_field_name("body")
    end = body.start_byte if body is not None else owner.end_byte
    header = source.content[owner.start_byte : end].decode("utf-8", "replace")
    if _ABSTRACT.search(header):
        return True
    name = re.escape(function.owner.rpartition(".")[2])
    inherited = re.compile(rf"class\s+\w+\s*(\([^)]*\b{name}\b|<\s*{name}\b|[^{{]*extends\s+{name}\b)")
    return bool(name) and any(inherited.search(each.text) for each in found)


def _may_be_empty(change: FileChange, function: Function) -> bool:
    source = change.source
    if source is None:
        return True
    name = function.name.rpartition(".")[2]
    head = source.text(function.node)[:200].partition("{")[0]
    above = function.node.parent
    if above is not None and above.type == "decorated_definition":
        head = source.text(above)[:400]
    if _NO_OPERATION.match(name) or _OVERRIDES.search(head) or _is_local(source, function):
        return True
    return _is_callback(source, function) or _inherits(function)


def _is_constructor(function: Function) -> bool:
    return function.name.rpartition(".")[2] in _CONSTRUCTORS or "constructor" in function.node.type


def _is_local(source: Source, function: Function) -> bool:
    """Return whether a function is defined inside another one."""
    return enclosing(function.node, NODE_TYPES[source.language].functions) is not None


def is_prescribed(source: Source, function: Function) -> bool:
    """Return whether others prescribe a function's parameters: it overrides, implements, or is a callback."""
    head = source.text(function.node)[:200].partition("{")[0]
    if function.name.endswith("()") or (source.language is Language.GO and function.node.type == "method_declaration"):
        return True
    return bool(_OVERRIDES.search(head)) or _inherits(function)


def _is_callback(source: Source, function: Function) -> bool:
    """Return whether a function is an empty closure, or a marker of a type in Go."""
    if source.language is Language.GO:
        return function.node.type == "method_declaration"
    return source.language in SCRIPTS and function.node.type in ("arrow_function", "function_expression")


def _inherits(function: Function) -> bool:
    owner = enclosing(function.node, _CLASSES)
    if owner is None:
        return False
    fields = ("superclasses", "superclass", "interfaces", "trait")
    if any(owner.child_by_field_name(name) is not None for name in fields):
        return True
    return any(child.type in _HERITAGE for child in owner.children)
