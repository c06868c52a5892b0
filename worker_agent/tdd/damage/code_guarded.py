"""Parameters of new functions that only guards read: they decide refusals, but no result (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code_bodies import is_unfinished
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_edits import IFS, FunctionScope, block_statements, body_of
from worker_agent.tdd.damage.code_stubs import is_prescribed
from worker_agent.tdd.damage.code_unused import parameters
from worker_agent.tdd.syntax.functions import Function
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source, walk

GUARDED = "{}::{}: its parameter `{}` only decides what is refused, and has no effect on any result"

_REPEATED = words(
    "for_statement for_in_statement enhanced_for_statement foreach_statement while_statement do_statement"
    " for_expression while_expression loop_expression for while until except_clause catch_clause rescue"
)
_NAMES = words("identifier variable_name")
_MEMBER_FIELDS = ("attribute", "property", "field", "name")
_MEMBERS = words("attribute member_expression field_expression selector_expression field_access keyword_argument")
_REFUSES = re.compile(
    r"(?:raise|throw|panic ?!?|fail|abort)\b|return\b.*(?:\bErr\b|\berr(?:or)?\b|Errorf?\b|errors\.)", re.IGNORECASE
)


def guarded(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each parameter of a new function that is read only to refuse a call.

    Functions whose other parameters are not read either only check, and are left out.
    """
    found = []
    for change in changes(base, head):
        for place in change.new_scopes:
            found += [GUARDED.format(change.path, place.function.name, name) for name in _guarding_parameters(place)]
    return tuple(found)


def _guarding_parameters(place: FunctionScope) -> Iterator[str]:
    source, function = place.source, place.function
    if function.body is None or is_prescribed(source, function) or is_unfinished(place):
        return
    names = list(parameters(source, function))
    uses = {name: list(_uses(source, function.body, name)) for name in names}
    only = {name for name in names if uses[name] and all(_is_guard(source, use, function, names) for use in uses[name])}
    if any(uses[name] for name in set(names) - only):
        yield from (name for name in names if name in only)


def _uses(source: Source, body: Node, name: str) -> Iterator[Node]:
    """Yield the places where a body reads a name, except members of other objects with the same name."""
    for node in walk(body):
        if node.type not in _NAMES or source.text(node) != name:
            continue
        above = node.parent
        if above is not None and above.type in _MEMBERS:
            fields = (above.child_by_field_name(field) for field in _MEMBER_FIELDS)
            if any(field is not None and field.id == node.id for field in fields):
                continue
        yield node


def _is_guard(source: Source, use: Node, function: Function, names: list[str]) -> bool:
    """Return whether a use is in the condition or message of an `if` that reads no other parameter and refuses.

    In a loop, or in error handling, an `if` that refuses decides how often something is done before.
    """
    above: Node | None = use
    guard: Node | None = None
    while above is not None and above.id != function.node.id:
        if above.type in _REPEATED:
            return False
        guard = guard or (above if above.type in IFS else None)
        above = above.parent
    return guard is not None and _refuses(source, guard, names)


def _refuses(source: Source, branch: Node, names: list[str]) -> bool:
    condition = branch.child_by_field_name("condition")
    body = body_of(branch)
    if condition is None or body is None or branch.child_by_field_name("alternative") is not None:
        return False
    asked = {source.text(node) for node in walk(condition) if node.type in _NAMES}
    inner = block_statements(body)
    if len(asked.intersection(names)) != 1 or not inner:
        return False
    return bool(_REFUSES.match(source.text(inner[-1]).strip()))
