"""Pieces of a change taken back: each block of the line diff as on the base, and files of unknown languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from worker_agent.tdd.damage.code_changes import FileChange, blocks, rows
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.syntax.functions import Function, functions
from worker_agent.tdd.syntax.node_types import COMMENTS, NODE_TYPES, words
from worker_agent.tdd.syntax.source import Source, parse, walk

_PARAGRAPHS = 5
"""The most paragraphs of a new file of an unknown language, each of which is left out once."""
_NAMES = words(
    "identifier property_identifier field_identifier type_identifier constant name private_property_identifier"
    " instance_variable shorthand_property_identifier shorthand_property_identifier_pattern"
)
_IMPORTS = words(
    "import_statement import_from_statement future_import_statement import_declaration use_declaration"
    " namespace_use_declaration using_directive"
)
_PARAMETERS = words(
    "parameters formal_parameters parameter_list method_parameters closure_parameters lambda_parameters"
)
_DEFINING = {
    "assignment": "left", "variable_declarator": "name", "assignment_expression": "left", "pair": "key",
    "short_var_declaration": "left", "let_declaration": "pattern", "const_spec": "name", "var_spec": "name",
    "const_item": "name", "static_item": "name", "field_declaration": "name", "public_field_definition": "name",
    "enum_assignment": "name", "enum_member_declaration": "name", "enum_constant": "name", "struct_item": "name",
    "class_definition": "name", "class_declaration": "name", "interface_declaration": "name", "class": "name",
    "enum_declaration": "name", "record_declaration": "name", "trait_declaration": "name", "module": "name",
    "function_definition": "name", "function_declaration": "name", "method_definition": "name", "method": "name",
    "method_declaration": "name", "function_item": "name", "singleton_method": "name", "type_spec": "name",
    "property_declaration": "name", "enum_item": "name", "trait_item": "name",
}  # fmt: skip
_LOCAL = words("assignment variable_declarator assignment_expression short_var_declaration let_declaration")
_MEMBERS = frozenset({"attribute", "member_expression", "instance_variable", "member_access_expression"})
_CARRYING = words(
    "typed_parameter default_parameter typed_default_parameter parameter required_parameter optional_parameter"
    " simple_parameter keyword_parameter formal_parameter parameter_declaration attribute member_expression"
    " aliased_import dotted_name import_clause named_imports import_specifier import_spec scoped_identifier"
    " use_list"
)


def hunks(change: FileChange) -> Iterator[Damage]:
    """Yield the pieces of one file's change, each taken back by itself."""
    if change.base is None:
        if change.source is None:
            yield from _paragraphs(change)
        return
    old, new = _lines(change.base), _lines(change.head)
    before, after = _names(parse(change.path, change.base)), _names(change.source)
    functions_now = functions(change.source) if change.source is not None else ()
    for i1, i2, j1, j2 in blocks(old, new):
        content = "".join([*new[:j1], *old[i1:i2], *new[j2:]]).encode("utf-8", "surrogateescape")
        if change.source is None:
            yield _hunk(change, functions_now, content, (j1, j2), quiet=True)
        elif content != change.head and _matters(change, range(i1 + 1, i2 + 1), range(j1 + 1, j2 + 1)):
            damaged = parse(change.path, content)
            if damaged is not None:
                yield _hunk(change, functions_now, content, (j1, j2), quiet=not _loses_names(before, after, damaged))


@dataclass(frozen=True, slots=True)
class _Names:
    """Names that others can use, names of local variables, and all names that are used."""

    defined: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    @property
    def known(self) -> set[str]:
        """Every defined name."""
        return self.defined | self.local


def _loses_names(old: _Names, new: _Names, damaged: Source) -> bool:
    """Return whether a damaged file lacks a name that the change defined, or uses one that the change removed."""
    left = _names(damaged)
    undefined = new.defined - left.defined - old.defined
    unbound = (new.local - left.known - old.known) & left.used
    removed = ((old.known - new.known - left.known) & left.used) - new.used
    return bool(undefined or unbound or removed)


def _matters(change: FileChange, old: range, new: range) -> bool:
    """Return whether a block changes more than comments, documentation and types."""
    return bool(change.lines.intersection(new) or change.base_lines.intersection(old))


def _hunk(
    change: FileChange, functions_now: Sequence[Function], content: bytes, block: tuple[int, int], *, quiet: bool
) -> Damage:
    first, last = block[0] + 1, max(block[0] + 1, block[1])
    lines = f"line {first}" if last == first else f"lines {first}-{last}"
    told = f"{lines} as before the change" if block[1] >= first else f"what was removed at line {first} came back"
    begin = first if block[1] >= first else block[0]
    around = [each for each in functions_now if begin in rows(each.node) and last in rows(each.node)]
    function = min(around, key=lambda each: len(rows(each.node))).name if around else ""
    direct = bool(function) or block[1] >= first
    return Damage(change.path, first, DamageKind.HUNK, content, told, function, quiet, direct)


def _paragraphs(change: FileChange) -> Iterator[Damage]:
    """Yield a new file of an unknown language without one of its paragraphs."""
    text = change.head.decode("utf-8", "surrogateescape")
    pieces = list(re.finditer(r"(?:[^\n]*\S[^\n]*\n?)+", text))
    step = max(1, len(pieces) // _PARAGRAPHS)
    for piece in pieces[::step][:_PARAGRAPHS]:
        content = (text[: piece.start()] + text[piece.end() :]).encode("utf-8", "surrogateescape")
        first = text.count("\n", 0, piece.start()) + 1
        last = first + max(0, piece.group().count("\n") - 1)
        yield Damage(change.path, first, DamageKind.HUNK, content, f"lines {first}-{last} were left out")


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "surrogateescape").splitlines(keepends=True)


def _names(source: Source | None) -> _Names:
    found = _Names()
    if source is None:
        return found
    kinds = NODE_TYPES[source.language]
    pending: list[tuple[Node, bool, bool]] = [(source.root, False, False)]
    while pending:
        node, inside, defining = pending.pop()
        if node.type in COMMENTS:
            continue
        if node.type in _NAMES and node.child_count == 0:
            (found.defined if defining else found.used).add(source.text(node))
        target = node.child_by_field_name(_DEFINING[node.type]) if node.type in _DEFINING else None
        inner = inside or node.type in kinds.functions or node.type in kinds.closures
        carries = node.type in _IMPORTS or (defining and node.type in _CARRYING | _PARAMETERS)
        for child in node.children:
            is_target = target is not None and child.id == target.id
            if is_target and inside and node.type in _LOCAL and child.type not in _MEMBERS:
                found.local.update(source.text(inside_it) for inside_it in walk(child) if inside_it.type in _NAMES)
            else:
                starts = child.type in _IMPORTS or child.type in _PARAMETERS
                pending.append((child, inner, is_target or starts or carries))
    return found
