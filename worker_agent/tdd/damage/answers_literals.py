"""Literals of code and tests in one form for all languages: a text begins with a quote, a number is its digits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.code_edits import named, shown
from worker_agent.tdd.syntax.functions import is_documentation, statements
from worker_agent.tdd.syntax.node_types import NODE_TYPES, words
from worker_agent.tdd.syntax.source import Source, parse, walk

_TRIVIAL = frozenset({"", "'", "0", "1"})
"""Values that any code may hold: an empty text, zero, one."""
_TABLES = words("dictionary object hash array_creation_expression composite_literal list array")
_NAMED_VALUES = {
    "assignment": ("left", "right"),
    **dict.fromkeys(("variable_declarator", "const_spec", "var_spec", "const_item"), ("name", "value")),
}


@dataclass(frozen=True, slots=True)
class LiteralTable:
    """A constant of a module that consists of literals only."""

    keys: set[str]
    values: set[str]


def test_literals(tests: Mapping[str, bytes]) -> frozenset[str]:
    """Return the literals of test files; for data and snapshots, every quoted text, number and line."""
    found: set[str] = set()
    for path, content in tests.items():
        source = parse(path, content)
        if source is not None:
            found |= _values(source, source.root)
        else:
            text = content.decode("utf-8", "replace")
            found |= {f"'{each}" for each in re.findall(r"\"([^\"\n]*)\"", text)}
            found |= set(re.findall(r"\d+(?:\.\d+)?", text))
            found |= {f"'{line.strip()}" for line in text.splitlines()}
    return frozenset(found)


def literals(source: Source, nodes: Iterable[Node]) -> Iterator[tuple[Node, str]]:
    """Yield each text and number with its normal form, except documentation and trivial values."""
    kinds = NODE_TYPES[source.language]
    for node in nodes:
        value = ""
        if node.type in kinds.strings and (node.parent is None or not is_documentation(source, node.parent)):
            value = f"'{_unquote(source.text(node))}"
        elif node.type in kinds.integers or node.type in kinds.floats:
            value = re.sub(r"(?<=\d)(_|[uUlLnfFdD]\w*$|[iu]\d+$)", "", source.text(node))
        if value not in _TRIVIAL:
            yield node, value


def shown_literal(value: str) -> str:
    """Return a literal's form for people."""
    return f"`{shown(value[1:])}`" if value.startswith("'") else f"`{value}`"


def literal_tables(source: Source) -> dict[str, LiteralTable]:
    """Return the module's constants by name that are collections of literals only."""
    found = {}
    for statement in statements(source):
        for node in walk(statement.node):
            name, value = map(node.child_by_field_name, _NAMED_VALUES.get(node.type, ("-", "-")))
            if name is None or value is None:
                continue
            inner = next((each for each in walk(value) if each.type in _TABLES), None)
            if inner is not None and not any(each.type in ("identifier", "call") for each in walk(inner)):
                found[source.text(name).removeprefix("$")] = _table(source, inner)
    return found


def _table(source: Source, node: Node) -> LiteralTable:
    table = LiteralTable(set(), set())
    for entry in walk(node):
        pair = named(entry) if entry.type in ("pair", "keyed_element", "array_element_initializer") else []
        if len(pair) == 2:
            table.keys.update(_values(source, pair[0]))
            if pair[0].type in ("property_identifier", "hash_key_symbol"):
                table.keys.add(f"'{source.text(pair[0])}")
            table.values.update(_values(source, pair[1]))
    return table if table.keys else LiteralTable(set(), _values(source, node))


def _values(source: Source, node: Node) -> set[str]:
    return {value for _, value in literals(source, walk(node))}


def _unquote(text: str) -> str:
    quoted = re.fullmatch(r"[a-zA-Z@$]{0,3}(\"\"\"|'''|#*[\"'`])(.*?)(\"\"\"|'''|[\"'`]#*)", text, flags=re.DOTALL)
    return quoted.group(2) if quoted else text
