"""New classes of texts, numbers or lists that decide themselves what they equal: no expectation tells then (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.syntax.node_types import NODE_TYPES, words

EQUAL = "{}::{}: values of this kind decide themselves what they equal, so that no test says what the result is"

_EQUALITIES = words("__eq__ __ne__ __cmp__ == != === eql? equal? <=> equals valueOf compareTo")
_PLAIN = re.compile(
    r"[\s(:<]*(?:extends\s+)?(?:builtins\.|::|collections\.)?"
    r"(?:str|int|float|bytes|list|dict|tuple|set|frozenset|Decimal|Fraction|UserString|UserList|UserDict"
    r"|String|Array|Hash|Integer|Float|Numeric|Number|Map|Set|BigInt)\b"
)
"""Types of plain values, as what a class inherits from."""

_MATCHER = re.compile(r"\basymmetricMatch\b")
"""By this method jest and vitest ask a value, expected or not, whether it equals another one."""


def deciding(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """A sentence for each such function that is new or changed in a class of plain values, or that runners ask."""
    return tuple(EQUAL.format(change.path, name) for change in changes(base, head) for name in _deciding(change))


def _deciding(change: FileChange) -> Iterator[str]:
    source = change.source
    if source is None:
        return
    lines = change.head.decode("utf-8", "replace").splitlines()
    if any(_MATCHER.search(line) for number, line in enumerate(lines, 1) if number in change.lines):
        yield "asymmetricMatch"
    for function in change.functions:
        owner = _class_of(function.node, NODE_TYPES[source.language].classes)
        if owner is None or function.name.rpartition(".")[2] not in _EQUALITIES:
            continue
        name, body = owner.child_by_field_name("name"), owner.child_by_field_name("body")
        if name is None or body is None:
            continue
        header = source.content[name.end_byte : body.start_byte].decode("utf-8", "replace")
        if _PLAIN.match(header):
            yield function.name


def _class_of(node: Node, classes: frozenset[str]) -> Node | None:
    above = node.parent
    while above is not None and above.type not in classes:
        above = above.parent
    return above
