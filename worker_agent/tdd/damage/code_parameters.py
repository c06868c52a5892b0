"""New parameters without effect on any result: nothing reads them, or only guards do (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code_bodies import is_unfinished
from worker_agent.tdd.damage.code_changes import FileChange, changes, functions_of
from worker_agent.tdd.damage.code_edits import IFS, FunctionScope, block_statements, body_of, named, named_parameters
from worker_agent.tdd.damage.code_stubs import is_prescribed
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import walk

_SPECIAL = re.compile(r"__\w+__|constructor|initialize")

UNUSED = "{}::{}: its parameter `{}` has no effect: nothing reads it"

GUARDED = "{}::{}: its parameter `{}` only decides what is refused, and has no effect on any result"
_REPEATED = words(
    "for_statement for_in_statement enhanced_for_statement foreach_statement while_statement do_statement"
    " for_expression while_expression loop_expression for while until except_clause catch_clause rescue"
)
_NAMES = words("identifier variable_name")
_OBJECTS = words("self cls this")
_MEMBER_FIELDS = ("attribute", "property", "field", "name")
_MEMBERS = words("attribute member_expression field_expression selector_expression field_access keyword_argument")
_REFUSES = re.compile(
    r"(?:raise|throw|panic ?!?|fail|abort)\b|return\b.*(?:\bErr\b|\berr(?:or)?\b|Errorf?\b|errors\.)", re.IGNORECASE
)


def unused(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each new parameter of a function that nothing reads, nor any parameter after it.

    Functions whose signature others prescribe (overriding, decorated, special ones) may have such parameters, and so
    may names that begin with an underscore.
    """
    return tuple(
        UNUSED.format(change.path, place.function.name, name)
        for change in changes(base, head)
        for place in change.scopes
        if not _is_fixed(place)
        for name in (*_unread_parameters(place), *_unread_unpacked(place))
        if not _is_known(change, place, name)
    )


def _is_known(change: FileChange, place: FunctionScope, name: str) -> bool:
    """Return whether the base's function of the same name has a name in its text."""
    word = re.compile(rf"\b{re.escape(name.lstrip('$'))}\b")
    old = functions_of(change.path, change.base)
    return any(each.name == place.function.name and word.search(each.text) for each in old)


def parameters(place: FunctionScope) -> list[str]:
    """Return the names of the plain parameters of a function, without the object that it is called on."""
    names = (_name(place, parameter) for parameter in named_parameters(place.node))
    return [name for name in names if name is not None and name not in _OBJECTS]


def _is_fixed(place: FunctionScope) -> bool:
    above = place.node.parent
    return (
        is_prescribed(place)
        or is_unfinished(place)
        or bool(_SPECIAL.fullmatch(place.function.name.rpartition(".")[2]))
        or (above is not None and above.type == "decorated_definition")
    )


def _unread_parameters(place: FunctionScope) -> list[str]:
    """Return the last parameters, as far as none of them is read."""
    listed = place.node.child_by_field_name("parameters")
    if listed is None or place.function.body is None:
        return []
    rest = place.source.content[listed.end_byte : place.node.end_byte].decode("utf-8", "replace")
    idle: list[str] = []
    for parameter in reversed(named_parameters(place.node)):
        name = _name(place, parameter)
        if name is None or name.startswith(("_", "$_")) or name in _OBJECTS or _is_read(name, rest):
            break
        idle.insert(0, name)
    return idle


def _is_read(name: str, code: str) -> bool:
    """Return whether code reads a name; discarding it does not count."""
    bare = re.sub(rf"(?m)^[ \t]*(?:del|void|_[ \t]*:?=)[ \t]+{re.escape(name)}[ \t]*;?[ \t]*$", "", code)
    return re.search(rf"(?<![\w$]){re.escape(name)}(?!\w)", bare) is not None


def _unread_unpacked(place: FunctionScope) -> Iterator[str]:
    """Yield the names that a new function unpacks from objects (JavaScript) and does not read.

    If it takes the rest as well, a name may be there to be left out of that.
    """
    content, start, end = place.source.content, place.node.start_byte, place.node.end_byte
    for pattern in walk(place.node):
        if pattern.type != "object_pattern" or any("rest" in each.type for each in named(pattern)):
            continue
        for name in _bound_names(pattern):
            others = content[start : name.start_byte] + b"\n" + content[name.end_byte : end]
            text = place.text(name)
            if not text.startswith("_") and not _is_read(text, others.decode("utf-8", "replace")):
                yield text


def _bound_names(pattern: Node) -> Iterator[Node]:
    """Yield the names that a pattern binds, without those of patterns inside."""
    for each in named(pattern):
        if each.type == "object_assignment_pattern":
            each = each.child_by_field_name("left") or each
        elif each.type == "pair_pattern":
            each = each.child_by_field_name("value") or each
            each = (each.child_by_field_name("left") or each) if each.type == "assignment_pattern" else each
        if each.type in ("shorthand_property_identifier_pattern", "identifier"):
            yield each


def _name(place: FunctionScope, parameter: Node) -> str | None:
    """Return the name of a plain parameter; None for one that unpacks values, or takes the rest."""
    if any(word in parameter.type for word in ("splat", "rest", "variadic")):
        return None
    bound = parameter.child_by_field_name("name") or parameter.child_by_field_name("left")
    bound = bound or parameter.child_by_field_name("pattern") or parameter
    if bound.type == "typed_parameter" and named(bound):
        bound = named(bound)[0]
    return place.text(bound) if bound.type in _NAMES else None


def guarded(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each parameter of a new function that is read only to refuse a call.

    Functions whose other parameters are not read either only check, and are left out.
    """
    return tuple(
        GUARDED.format(change.path, place.function.name, name)
        for change in changes(base, head)
        for place in change.new_scopes
        for name in _guarding_parameters(place)
    )


def _guarding_parameters(place: FunctionScope) -> list[str]:
    body = place.function.body
    if body is None or is_prescribed(place) or is_unfinished(place):
        return []
    names = parameters(place)
    uses: dict[str, list[Node]] = {name: [] for name in names}
    for node in walk(body):
        if node.type in _NAMES and place.text(node) in uses and not _is_member(node):
            uses[place.text(node)].append(node)
    only = [name for name in names if uses[name] and all(_is_guard(place, use, names) for use in uses[name])]
    return only if any(uses[name] for name in set(names).difference(only)) else []


def _is_member(node: Node) -> bool:
    """Return whether a name belongs to another object."""
    above = node.parent
    if above is None or above.type not in _MEMBERS:
        return False
    fields = (above.child_by_field_name(field) for field in _MEMBER_FIELDS)
    return any(field is not None and field.id == node.id for field in fields)


def _is_guard(place: FunctionScope, use: Node, names: list[str]) -> bool:
    """Return whether a use is in the condition or message of an `if` that reads no other parameter and refuses.

    In a loop, or in error handling, an `if` that refuses decides how often something is done before.
    """
    above: Node | None = use
    guard: Node | None = None
    while above is not None and above.id != place.node.id:
        if above.type in _REPEATED:
            return False
        guard = guard or (above if above.type in IFS else None)
        above = above.parent
    return guard is not None and _refuses(place, guard, names)


def _refuses(place: FunctionScope, branch: Node, names: list[str]) -> bool:
    condition = branch.child_by_field_name("condition")
    body = body_of(branch)
    if condition is None or body is None or branch.child_by_field_name("alternative") is not None:
        return False
    asked = {place.text(node) for node in walk(condition) if node.type in _NAMES}
    inner = block_statements(body)
    return len(asked.intersection(names)) == 1 and bool(inner and _REFUSES.match(place.text(inner[-1]).strip()))
