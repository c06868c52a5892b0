"""Guards that a change took out of functions that stay: what refused something on the base, and does no more (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from worker_agent.tdd.damage.code_bodies import entry_of
from worker_agent.tdd.damage.code_changes import FileChange
from worker_agent.tdd.damage.code_edits import Place, named, shown
from worker_agent.tdd.syntax.functions import Function, functions
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, Source, edited, parse, walk

_IFS = words("if_statement if_expression if unless if_modifier unless_modifier")
_RAISES = re.compile(r"(?:raise|throw|panic ?!?|abort)\b|return\b.*(?:\bErr\b|\berrors\.|\bErrorf\b)")
_BLOCKS = words("block statement_block compound_statement then")


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard that is gone, and the file of the head in which it is back."""

    path: str
    function: str
    condition: str
    content: bytes = field(repr=False)


def removed(change: FileChange) -> Iterator[Guard]:
    """The guards of functions that are there on both sides, and whose condition and refusal the head has nowhere.

    A guard comes back at the beginning of its function, where the file can be read then.
    """
    before = parse(change.path, change.base) if change.base is not None else None
    if before is None or change.source is None:
        return
    now = _bare(change.head.decode("utf-8", "replace"))
    here = {function.name: function for function in change.functions}
    for function in functions(before):
        for guard, condition, refusal in _guards(before, function.node) if function.name in here else ():
            if _bare(before.text(condition)) in now or _bare(before.text(refusal)) in now:
                continue
            back = _guarded(change.source, here[function.name], before.text(guard))
            if back is not None:
                yield Guard(change.path, function.name, shown(before.text(condition), 60), back)


def _guarded(source: Source, function: Function, guard: str) -> bytes | None:
    """The file with a guard at the beginning of a function."""
    entry = entry_of(Place(source, function.node, function.nested, function))
    if entry is None or entry.is_expression:
        return None
    ended = f"{guard};" if source.language is Language.RUBY else guard
    damaged = edited(source, entry.start, entry.end, entry.filled(ended).encode())
    return damaged.content if damaged is not None else None


def _guards(source: Source, function: Node) -> Iterator[tuple[Node, Node, Node]]:
    """Each guard with its condition and the statement that refuses."""
    for node in walk(function):
        if node.type not in _IFS:
            continue
        condition = node.child_by_field_name("condition")
        body = node.child_by_field_name("consequence") or node.child_by_field_name("body")
        if condition is None or body is None:
            continue
        inner = named(body) if body.type in _BLOCKS else [body]
        inner = [each for one in inner for each in (named(one) if one.type == "statement_list" else [one])]
        if len(inner) == 1 and _RAISES.match(source.text(inner[0]).strip()):
            yield node, condition, inner[0]


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)
