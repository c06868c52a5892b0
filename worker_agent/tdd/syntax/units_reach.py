"""The code that a test reaches in its file: helpers, fixtures, constants and imports, by the names that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, Source, walk
from worker_agent.tdd.syntax.units_checks import checks_in
from worker_agent.tdd.syntax.units_found import child, field_text, inside, statements
from worker_agent.tdd.syntax.units_meaning import SeenCode, digest, hashed
from worker_agent.tdd.syntax.units_python import definition_of
from worker_agent.tdd.syntax.units_rust import ranges_of_tests

_FUNCTIONS = words(
    "function_definition function_declaration generator_function_declaration method_declaration function_item"
    " method singleton_method method_definition macro_definition local_function_statement constructor_declaration"
)
_VALUES = words(
    "assignment variable_declarator const_spec var_spec const_item static_item const_element property_element"
    " property_declaration type_alias_declaration public_field_definition"
)
_TYPES = words(
    "class_definition class_declaration class struct_item enum_item type_spec interface_declaration"
    " record_declaration struct_declaration trait_declaration enum_declaration module trait_item impl_item"
)
_IMPORTS = words(
    "import_statement import_from_statement import_spec use_declaration import_declaration"
    " namespace_use_declaration using_directive"
)
_NAMES = words(
    "identifier constant type_identifier name shorthand_property_identifier simple_symbol variable_name"
    " field_identifier property_identifier"
)
_FLAT = frozenset({Language.GO, Language.RUST, Language.JAVA, Language.PHP, Language.RUBY, Language.CSHARP})
"""Languages whose calls do not name the member's object, or whose objects are not distinguished here."""

_SELF = frozenset({"self", "cls", "this"})
_LET = frozenset({"let", "let!", "subject", "subject!", "def_delegator", "shared_examples", "shared_context"})


@dataclass(frozen=True, slots=True)
class Definition:
    """A named definition: its meaning, the names it uses, and the number of its checks."""

    node: Node
    digest: str
    uses: frozenset[str]
    checks: int


Definitions = Mapping[str, tuple[Definition, ...]]
"""Definitions by name; members have a dot in front; functions also an apostrophe, for names given as texts."""


def definitions(source: Source, tests: Iterable[Node]) -> Definitions:
    """Return all named definitions outside of functions; tests are left out."""
    found: dict[str, tuple[Definition, ...]] = {}
    starts = {node.start_byte for node in tests}
    ranges = ranges_of_tests(source)
    for key, node in _named_definitions(source, starts):
        if ranges and not any(start <= node.start_byte < end for start, end in ranges):
            continue  # code that stands in the same file is what is tested
        if node.type in _IMPORTS:
            found[key] = (*found.get(key, ()), Definition(node, _import(source, node, key), frozenset(), 0))
            continue
        checks = sum(1 for _ in checks_in(source, node)) if _is_function(node) else 0
        found[key] = (*found.get(key, ()), Definition(node, digest(source, node), uses(source, node), checks))
    return found


def reached(names: Iterable[str], known: Definitions, elsewhere: Mapping[str, str]) -> dict[str, str]:
    """Map names to the meaning of all that follows from `names`; `elsewhere` has meanings from other files."""
    found: dict[str, str] = {}
    pending = sorted(names)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        local = known.get(name, ())
        if name in elsewhere and all(definition.node.type in _IMPORTS for definition in local):
            found[name] = elsewhere[name]
        elif local:
            found[name] = hashed(definition.digest for definition in local)
            pending.extend(sorted(used for definition in local for used in definition.uses))
    return found


MOST_USES = 10_000
"""Most pieces of code of which the uses are remembered."""


def uses(source: Source, node: Node) -> frozenset[str]:
    """Return the names that code takes from around it."""
    return _USES.of(source, node)


_USES = SeenCode[frozenset[str]](
    lambda source, node: frozenset(key for found in walk(node) for key in _keys(source, found)), most=MOST_USES
)


def _keys(source: Source, node: Node) -> Iterator[str]:
    if node.type in {"string_content", "string_fragment"} and node.end_byte - node.start_byte < 60:
        yield f"'{source.text(node)}"
    if node.type not in _NAMES:
        return
    name, parent = source.text(node).lstrip(":$"), node.parent
    if source.language in _FLAT:
        yield from (name, f".{name}")
        return
    owner = child(parent, "object")
    if owner is not None and owner != node:
        if source.text(owner) in _SELF:
            yield f".{name}"
    elif node.type != "property_identifier" and not _is_keyword(parent, node):
        yield name


def _is_keyword(parent: Node | None, node: Node) -> bool:
    return parent is not None and parent.type == "keyword_argument" and parent.child_by_field_name("name") == node


def _named_definitions(source: Source, tests: set[int]) -> Iterator[tuple[str, Node]]:
    """Yield names with their definitions, marked as in `Definitions`; nothing from within a function."""
    pending = [(found, False) for found in reversed(source.root.named_children)]
    while pending:
        whole, is_member = pending.pop()
        if whole.start_byte in tests and whole.type != "class_definition":
            continue
        node = definition_of(whole)
        if node.type in _TYPES:
            body = child(node, "body")
            if not any(node.start_byte <= start < node.end_byte for start in tests):
                yield field_text(source, node, "name") or field_text(source, node, "type"), whole
            pending.extend((found, node.type != "module") for found in reversed(list(statements(body))))
            continue
        bound = list(_bound_names(source, node))
        yield from ((f".{name}" if is_member and node.type not in _IMPORTS else name, whole) for name in bound)
        if bound and _is_function(node):
            yield from ((f"'{name}", whole) for name in bound)
        elif not bound:
            pending.extend((found, is_member) for found in reversed(node.named_children))


def _bound_names(source: Source, node: Node) -> Iterator[str]:
    """Yield the names that a statement defines."""
    if node.type in _IMPORTS:
        yield from imported(source, node)
    elif node.type in _FUNCTIONS or node.type in _VALUES:
        yield from _names_of(source, node)
    elif source.language is Language.RUBY and node.type == "call" and field_text(source, node, "method") in _LET:
        yield from _first_symbol(source, node)


def _is_function(node: Node) -> bool:
    inner = child(node, "definition") or node
    value = child(inner, "value")
    return inner.type in _FUNCTIONS or (value is not None and "function" in value.type)


def _names_of(source: Source, node: Node) -> list[str]:
    named = child(node, "name") or child(node, "left")
    if named is None:
        named = node.named_children[0] if node.named_children else None
    if named is None:
        return []
    leaves = [found for found in walk(named) if found.type in _NAMES and not found.named_children]
    return [source.text(found).lstrip("$") for found in leaves] or [source.text(named)]


def _first_symbol(source: Source, call: Node) -> list[str]:
    given = child(call, "arguments")
    first = given.named_children[0] if given is not None and given.named_children else None
    return ["subject"] if first is None else [source.text(first).strip(":\"'")]


def imported(source: Source, node: Node) -> list[str]:
    """Return the names that an import binds."""
    module = child(node, "module_name")
    leaves = [found for found in walk(node) if found.type in _NAMES and (module is None or not inside(found, module))]
    return [source.text(found) for found in leaves]


def _import(source: Source, node: Node, name: str) -> str:
    """Return one imported name with its source, without the other names of the same import."""
    module = child(node, "module_name") or child(node, "source")
    if module is None:
        return f"import {digest(source, node)}"
    renamed = re.search(rf"(\w+)\s+as\s+{re.escape(name)}\b", source.text(node))
    return f"import {renamed[1] if renamed else name} from {source.text(module)}"
