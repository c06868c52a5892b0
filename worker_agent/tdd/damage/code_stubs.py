"""Changed functions that do nothing, or say that a part of them is missing (pure).

No damage of the former could be noticed, because there is nothing to damage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code import quiet_possible
from worker_agent.tdd.damage.code_bodies import body_statements, is_unfinished
from worker_agent.tdd.damage.code_changes import FileChange, changes, functions_of
from worker_agent.tdd.damage.code_edits import FunctionScope, named, shown
from worker_agent.tdd.damage.code_returns import is_nothing
from worker_agent.tdd.syntax.functions import text_without
from worker_agent.tdd.syntax.node_types import RETURNS, words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, enclosing

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

UNFINISHED = "{}::{}: it says that something is not implemented (`{}`)"
_LATER = re.compile(
    r"\b(?:todo|unimplemented) !"
    r"|raise NotImplementedError\b"
    r"|throw new [\w.\\ ]*NotImplemented\w*"
    r"|(?:\braise\b|\bthrow\b|\bpanic\b|\bErrorf\b|errors \. New|\bErr\b|\babort\b|\bfail\b)[^;{}]{0,40}?"
    r"(?:\bnot (?:yet )?(?:implemented|supported yet)|\bunimplemented|\bto ?do\b|not done yet)[^;{}]{0,40}",
    re.IGNORECASE,
)
"""Code that raises because it is not implemented; in tokens that are joined by blanks."""


def stubs(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the changed functions whose body does nothing but should do something, as `path:function`.

    Abstract functions, those of interfaces, constructors, and old functions that were emptied never count. Those that
    may be empty (overriding, local, callbacks) count only if no other changed function does anything.
    """
    found = changes(base, head)
    places = [place for change in found for place in change.scopes]
    empty = [place for place in places if _is_empty(place)]
    if not empty:
        return ()
    hollow = {(place.source.path, place.function.name) for place in empty}
    rest = [place for place in places if (place.source.path, place.function.name) not in hollow]
    working = any(map(quiet_possible, rest))
    old = {function.name for path, content in base.items() for function in functions_of(path, content)}
    return tuple(
        f"{place.source.path}:{place.function.name}"
        for place in empty
        if not _is_abstract(place, found)
        and not (place.function.name in old or _is_constructor(place))
        and not (working and _may_be_empty(place))
    )


def _is_empty(place: FunctionScope) -> bool:
    if place.nested:
        return False
    if is_unfinished(place):
        return True
    statements = body_statements(place)
    only = statements[0] if len(statements) == 1 else None
    if only is not None and _returns_nothing(place, only):
        return True
    returns_a_member = only is not None and _is_member(place, only)
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


def _is_abstract(place: FunctionScope, found: tuple[FileChange, ...]) -> bool:
    """Return whether a function is only a declaration for others: by its class, or because its class is inherited."""
    owner = enclosing(place.node, _CLASSES)
    if owner is None:
        return False
    if owner.type in ("trait_item", "interface_declaration", "trait_declaration"):
        return True
    body = owner.child_by_field_name("body")
    end = body.start_byte if body is not None else owner.end_byte
    header = place.source.content[owner.start_byte : end].decode("utf-8", "replace")
    if _ABSTRACT.search(header):
        return True
    name = re.escape(place.function.owner.rpartition(".")[2])
    inherited = re.compile(rf"class\s+\w+\s*(\([^)]*\b{name}\b|<\s*{name}\b|[^{{]*extends\s+{name}\b)")
    return bool(name) and any(inherited.search(each.text) for each in found)


def _may_be_empty(place: FunctionScope) -> bool:
    head = place.text(place.node)[:200].partition("{")[0]
    above = place.node.parent
    if above is not None and above.type == "decorated_definition":
        head = place.text(above)[:400]
    is_local = enclosing(place.node, place.kinds.functions) is not None
    if is_local or _NO_OPERATION.match(_last_name(place)) or _OVERRIDES.search(head):
        return True
    return _is_callback(place) or _inherits(place.node)


def _is_constructor(place: FunctionScope) -> bool:
    return _last_name(place) in _CONSTRUCTORS or "constructor" in place.node.type


def _last_name(place: FunctionScope) -> str:
    return place.function.name.rpartition(".")[2]


def is_prescribed(place: FunctionScope) -> bool:
    """Return whether others prescribe a function's parameters: it overrides, implements, or is a callback."""
    is_called = place.function.name.endswith("()")
    if is_called or (place.language is Language.GO and place.node.type == "method_declaration"):
        return True
    head = place.text(place.node)[:200].partition("{")[0]
    return bool(_OVERRIDES.search(head)) or _inherits(place.node)


def _is_callback(place: FunctionScope) -> bool:
    """Return whether a function is an empty closure, or a marker of a type in Go."""
    if place.language is Language.GO:
        return place.node.type == "method_declaration"
    return place.language in SCRIPTS and place.node.type in ("arrow_function", "function_expression")


def _inherits(function: Node) -> bool:
    owner = enclosing(function, _CLASSES)
    if owner is None:
        return False
    fields = ("superclasses", "superclass", "interfaces", "trait")
    if any(owner.child_by_field_name(name) is not None for name in fields):
        return True
    return any(child.type in _HERITAGE for child in owner.children)


def unfinished(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each changed function that newly says that a part of it is missing.

    A function is skipped if one of that name on the base says so, or if it holds nothing else: that is a stub, or
    others implement it.
    """
    sources = [change.source for change in changes({}, base)]
    before = "\n".join(text_without(source, source.root, ()) for source in sources if source is not None)
    return tuple(
        UNFINISHED.format(change.path, place.function.name, shown(missing, 50))
        for change in changes(base, head)
        for place in change.scopes
        if (missing := _missing_part(place)) and missing not in before
    )


def _missing_part(place: FunctionScope) -> str:
    """Return the words by which a function says that a part of it is missing; empty if it does not."""
    match = None if place.nested or is_unfinished(place) else _LATER.search(place.function.text)
    return match[0].strip() if match else ""
