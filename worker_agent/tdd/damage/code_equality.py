"""New types whose values decide themselves what they equal: then no expectation proves anything (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.syntax.node_types import NODE_TYPES, words
from worker_agent.tdd.syntax.source import Source, enclosing
from worker_agent.tdd.syntax.units_found import child

EQUAL = "{}::{}: values of this kind decide themselves what they equal, so that no test says what the result is"

_EQUALITIES = words("__eq__ __ne__ __cmp__ == != === eql? equal? <=> equals valueOf compareTo")
_ORDERS = words("<=> valueOf compareTo __cmp__")
_PLAIN = re.compile(
    r"[\s(:<]*(?:extends\s+)?(?:builtins\.|::|collections\.)?"
    r"(?:str|int|float|bytes|list|dict|tuple|set|frozenset|Decimal|Fraction|UserString|UserList|UserDict"
    r"|String|Array|Hash|Integer|Float|Numeric|Number|Map|Set|BigInt)\b"
)
"""Types of plain values, as base classes."""

_LOOSE = re.compile(
    r"isinstance\(\w+, ?\(?(?:int|float|str|bytes|numbers\.\w+|Decimal)\b|(?:is_a|kind_of|instance_of)\?\(?\s*"
    r"(?:Integer|Numeric|Float|String|Array)\b|typeof \w+ ===? ['\"](?:number|string)"
    r"|\bis_(?:int|string|float|numeric)\("
    r"|[\w)\]?] ?(?:<=|>=) ?[\w(@&*]|[\w)\]] (?:<|>) [\w(@&*]"
)
"""An equality with values of another kind, or one that goes by order."""

_OF_PLAIN = re.compile(r"impl(?:<[^>]*>)?\s+PartialEq<\s*&?(?:[iuf]\d+|usize|isize|String|str|bool|Vec\b)")
_MATCHER = re.compile(r"\basymmetricMatch\b")
"""The method by which jest and vitest ask a value, expected or not, whether it equals another one."""


def deciding(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each such new or changed function of a plain-value class, or that runners call."""
    return tuple(
        EQUAL.format(change.path, name) for change in changes(base, head) for name in _deciding_functions(change)
    )


def _deciding_functions(change: FileChange) -> Iterator[str]:
    if change.source is not None and _MATCHER.search(change.changed_text):
        yield "asymmetricMatch"
    for place in change.scopes:
        source, name = place.source, place.function.name.rpartition(".")[2]
        is_loose = name in _EQUALITIES - _ORDERS and _LOOSE.search(place.text(place.node))
        is_plain = name in _EQUALITIES and _PLAIN.match(_class_header(source, place.node))
        if is_loose or is_plain or _is_rust_equality(source, place.node):
            yield place.function.name


def _class_header(source: Source, function: Node) -> str:
    """Return the text between the name and the body of the class around a function; empty without a class."""
    owner = enclosing(function, NODE_TYPES[source.language].classes)
    name, body = child(owner, "name"), child(owner, "body")
    if name is None or body is None:
        return ""
    return source.content[name.end_byte : body.start_byte].decode("utf-8", "replace")


def _is_rust_equality(source: Source, node: Node) -> bool:
    """Return whether a function defines equality with a plain value of another type."""
    block = node.parent
    header = block.parent if block is not None else None
    return header is not None and header.type == "impl_item" and bool(_OF_PLAIN.match(source.text(header)))
