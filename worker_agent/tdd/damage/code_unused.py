"""Parameters of new functions that nothing reads: declared, but without effect (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code_bodies import is_unfinished
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_edits import PARAMETER_LISTS, FunctionScope, named
from worker_agent.tdd.damage.code_stubs import is_prescribed
from worker_agent.tdd.syntax.functions import Function
from worker_agent.tdd.syntax.source import Source, walk

_SPECIAL = re.compile(r"__\w+__|constructor|initialize")

UNUSED = "{}::{}: its parameter `{}` has no effect: nothing reads it"


def unused(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each parameter of a new function that nothing reads, nor any parameter after it.

    Functions whose signature others prescribe (overriding, decorated, special ones) may have such parameters, and so
    may names that begin with an underscore.
    """
    found = []
    for change in changes(base, head):
        for place in change.new_scopes:
            if not _is_fixed(place):
                source, function = place.source, place.function
                names = (*_unread_parameters(source, function), *_unread_unpacked(source, function))
                found += [UNUSED.format(change.path, function.name, name) for name in names]
    return tuple(found)


def parameters(source: Source, function: Function) -> Iterator[str]:
    """Yield the names of the plain parameters of a function, without the object that it is called on."""
    listed = function.node.child_by_field_name("parameters")
    for parameter in named(listed) if listed is not None and listed.type in PARAMETER_LISTS else ():
        name = _name(source, parameter)
        if name is not None and name not in ("self", "cls", "this"):
            yield name


def _is_fixed(place: FunctionScope) -> bool:
    above = place.node.parent
    return (
        is_prescribed(place.source, place.function)
        or is_unfinished(place)
        or bool(_SPECIAL.fullmatch(place.function.name.rpartition(".")[2]))
        or (above is not None and above.type == "decorated_definition")
    )


def _unread_parameters(source: Source, function: Function) -> Iterator[str]:
    """Yield the last parameters, as far as none of them is read."""
    listed = function.node.child_by_field_name("parameters")
    if listed is None or listed.type not in PARAMETER_LISTS or function.body is None:
        return
    rest = source.content[listed.end_byte : function.node.end_byte].decode("utf-8", "replace")
    idle = []
    for parameter in reversed(named(listed)):
        name = _name(source, parameter)
        if name is None or name.startswith(("_", "$_")) or name in ("self", "cls", "this"):
            break
        if _is_read(name, rest):
            break
        idle.append(name)
    yield from reversed(idle)


def _is_read(name: str, code: str) -> bool:
    """Return whether code reads a name; discarding it does not count."""
    bare = re.sub(rf"(?m)^[ \t]*(?:del|void|_[ \t]*:?=)[ \t]+{re.escape(name)}[ \t]*;?[ \t]*$", "", code)
    return re.search(rf"(?<![\w$]){re.escape(name)}(?!\w)", bare) is not None


def _unread_unpacked(source: Source, function: Function) -> Iterator[str]:
    """Yield the names that a new function unpacks from objects (JavaScript) and does not read.

    If it takes the rest as well, a name may be there to be left out of that.
    """
    for pattern in walk(function.node):
        if pattern.type != "object_pattern" or any("rest" in each.type for each in named(pattern)):
            continue
        for name in _bound_names(pattern):
            others = (source.content[function.node.start_byte : name.start_byte], source.content[name.end_byte :])
            after = others[1][: function.node.end_byte - name.end_byte].decode("utf-8", "replace")
            text = source.text(name)
            if not text.startswith("_") and not _is_read(text, f"{others[0].decode('utf-8', 'replace')}\n{after}"):
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


def _name(source: Source, parameter: Node) -> str | None:
    """Return the name of a plain parameter; None for one that unpacks values, or takes the rest."""
    if "splat" in parameter.type or "rest" in parameter.type or "variadic" in parameter.type:
        return None
    bound = parameter.child_by_field_name("name") or parameter.child_by_field_name("left")
    bound = bound or parameter.child_by_field_name("pattern") or parameter
    if bound.type == "typed_parameter" and named(bound):
        bound = named(bound)[0]
    return source.text(bound) if bound.type in ("identifier", "variable_name") else None
