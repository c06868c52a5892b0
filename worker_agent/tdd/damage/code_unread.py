"""Values that new code stores in an object or a local name and nothing reads: a sign of unfinished work (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code_changes import changes, joined
from worker_agent.tdd.damage.code_edits import FunctionScope, parent_of
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, enclosing, walk

KEPT = "{}::{}: it keeps `{}`, and nothing reads it, neither code nor a test"
LOCAL = "{}::{}: it works out `{}`, and does nothing with it"
RAISED_AGAIN = "{}::{}: it catches failures only to raise them again, so that nothing is handled"

_ASSIGNMENTS = words("assignment assignment_statement assignment_expression variable_declarator")
_TARGETS = words("identifier variable_name pattern_list tuple_pattern array_pattern expression_list")
_MEMBERS = words("attribute member_expression member_access_expression selector_expression field_access")
_OBJECTS = words("self this $this")
_INHERITS = words(
    "argument_list class_heritage superclass base_clause class_interface_clause super_interfaces base_list"
)
_RAISED_AGAIN = re.compile(
    r"except\b[^:]*:\s*raise|catch\s*\(\s*(?:[\w\\|]+\s+)?(\$?\w+)\s*\)\s*\{\s*throw\s+\1\s*;?\s*\}"
)
_RETURNS_LAST = frozenset({Language.RUBY, Language.RUST, Language.GO})
"""Languages in which an assignment may be a result, or the compiler refuses names that nothing reads."""

_WHOLE = re.compile(
    r"\b(?:vars|locals|asdict|inspect|instance_variables|get_object_vars|serialize|stringify|assign|Marshal|reflect)\b"
    r"|__dict__|__getattr|\.\.\.this"
)
"""Code that reads every name of an object, or of a function, without naming it."""


def unread(base: Mapping[str, bytes], head: Mapping[str, bytes], beside: Iterable[bytes]) -> tuple[str, ...]:
    """Return a sentence for each name that only new functions bind; `beside` are tests and other readers.

    Classes that inherit are left out, and those with a decorator: other code may read their members.
    """
    texts = [content.decode("utf-8", "replace") for content in (*head.values(), *beside)]
    base_text = joined(base)
    found: dict[str, None] = {}
    for change in changes(base, head):
        for place in change.new_scopes if not _WHOLE.search(change.text) else ():
            function = place.function
            for name in _private_members(place):
                if not _pattern_of_member(name).search(base_text) and not any(_is_read(name, text) for text in texts):
                    found[KEPT.format(change.path, function.owner or function.name, name)] = None
            found |= dict.fromkeys(LOCAL.format(change.path, function.name, name) for name in _unused_locals(place))
            if any(_only_raises_again(place, node) for node in walk(place.node) if node.type == "try_statement"):
                found[RAISED_AGAIN.format(change.path, function.name)] = None
    return tuple(found)


def _private_members(place: FunctionScope) -> Iterator[str]:
    """Yield the members of its own object that a method binds, if they are private to the class."""
    owner = enclosing(place.node, place.kinds.classes)
    inherits = owner is not None and any(child.type in _INHERITS for child in owner.children)
    if inherits or (owner is not None and parent_of(owner) == "decorated_definition"):
        return
    receiver = re.match(r"func \((\w+) ", place.text(place.node))
    objects = {receiver[1]} if receiver is not None else _OBJECTS
    for target in _targets(place.node):
        if target.type == "instance_variable":
            yield place.text(target).lstrip("@")
        elif target.type in _MEMBERS:
            whose, _, name = re.sub(r"->|\?\.", ".", place.text(target)).rpartition(".")
            if whose in objects and re.fullmatch(r"\w+", name) and not (receiver and name[0].isupper()):
                yield name


def _unused_locals(place: FunctionScope) -> Iterator[str]:
    if place.language in _RETURNS_LAST:
        return
    text = place.text(place.node)
    names = (target for target in _targets(place.node) if target.type in ("identifier", "variable_name"))
    for name, times in Counter(place.text(target).lstrip("$") for target in names).items():
        declared = re.search(rf"\b(?:global|nonlocal)\b[^\n]*\b{name}\b", text)
        if not name.startswith("_") and not declared and len(re.findall(rf"(?<!\w){name}(?!\w)", text)) == times:
            yield name


def _only_raises_again(place: FunctionScope, node: Node) -> bool:
    """Return whether all clauses of a `try` only raise the exception again."""
    clauses = [child for child in node.named_children if child != node.child_by_field_name("body")]
    return bool(clauses) and all(_RAISED_AGAIN.fullmatch(place.text(clause).strip()) for clause in clauses)


def _targets(node: Node) -> Iterator[Node]:
    """Yield the targets of assignments, unpacked."""
    for each in walk(node):
        if each.type in _ASSIGNMENTS:
            left = each.child_by_field_name("left") or each.child_by_field_name("name")
            pending = [left] if left is not None else []
            while pending:
                target = pending.pop()
                if target.type in _TARGETS and target.named_child_count and target.type != "variable_name":
                    pending.extend(target.named_children)
                else:
                    yield target


def _pattern_of_member(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\.|->|@|#|['\":]){re.escape(name)}\b")


def _is_read(name: str, text: str) -> bool:
    """Return whether a text reads the name as a member, or in quotation marks, and does not only bind it."""
    bare = re.sub(rf"(?:\.|->|@){re.escape(name)}\s*(?::[^=\n]+)?=(?![=~>])", " ", text)
    taken = re.search(rf"\{{[^{{}}]*\b{re.escape(name)}\b[^{{}}]*\}}\s*=", bare)
    return taken is not None or _pattern_of_member(name).search(bare) is not None
