"""Guards that a change took out of functions that stay: what refused something on the base, and does no more (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from worker_agent.tdd.damage.code_changes import FileChange
from worker_agent.tdd.damage.code_edits import named, shown
from worker_agent.tdd.damage.code_hunks import hunks
from worker_agent.tdd.syntax.functions import functions
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source, parse, walk

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

    A guard comes back with the piece of the change that took it, where the file can be read then.
    """
    before = parse(change.path, change.base) if change.base is not None else None
    if before is None or change.source is None:
        return
    now = _bare(change.head.decode("utf-8", "replace"))
    here = {function.name for function in change.functions}
    for function in functions(before):
        for branch in _guards(before, function.node) if function.name in here else ():
            condition, refusal = (_bare(before.text(each)) for each in branch)
            if condition in now or refusal in now:
                continue
            back = next(
                (one for one in hunks(change) if condition in _bare(one.content.decode("utf-8", "replace"))), None
            )
            if back is not None:
                yield Guard(change.path, function.name, shown(before.text(branch[0]), 60), back.content)


def _guards(source: Source, function: Node) -> Iterator[tuple[Node, Node]]:
    """The condition and the refusing statement of each guard."""
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
            yield condition, inner[0]


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)
