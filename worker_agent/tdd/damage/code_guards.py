"""Guards that a change removed from functions that stay, or whose condition it changed (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from worker_agent.tdd.damage.code_bodies import entry_of
from worker_agent.tdd.damage.code_changes import FileChange
from worker_agent.tdd.damage.code_edits import IFS, FunctionScope, block_statements, body_of, shown
from worker_agent.tdd.syntax.functions import functions
from worker_agent.tdd.syntax.source import Language, Source, edited, parse, walk

_RAISES = re.compile(r"(?:raise|throw|panic ?!?|abort)\b|return\b.*(?:\bErr\b|\berrors\.|\bErrorf\b)")


@dataclass(frozen=True, slots=True)
class Guard:
    """A removed guard, or one that `stays` with another condition, and the head's file with the guard put back."""

    path: str
    function: str
    condition: str
    content: bytes = field(repr=False)
    stays: bool = False


def removed(change: FileChange) -> Iterator[Guard]:
    """Yield the guards of functions that exist on both sides whose condition is nowhere in the head.

    If the function refuses with the same words as before, once on both sides, that guard gets its old condition back.
    If the head has these words nowhere, the guard is put back at the beginning of its function.
    """
    before = parse(change.path, change.base) if change.base is not None else None
    if before is None:
        return
    now = _words_and_signs(change.text)
    here = {place.function.name: place for place in change.scopes}
    for function in functions(before):
        for guard, condition, refusal in _guards(before, function.node) if function.name in here else ():
            if _words_and_signs(before.text(condition)) in now:
                continue
            stays = _words_and_signs(before.text(refusal)) in now
            if stays:
                back = _with_condition(here[function.name], before, function.node, refusal, condition)
            else:
                back = _put_back(here[function.name], before.text(guard))
            if back is not None:
                yield Guard(change.path, function.name, shown(before.text(condition), 60), back, stays)


def _put_back(place: FunctionScope, guard: str) -> bytes | None:
    """Return the file with a guard at the beginning of a function."""
    entry = entry_of(place)
    if entry is None or entry.is_expression:
        return None
    ended = f"{guard};" if place.language is Language.RUBY else guard
    damaged = edited(place.source, entry.start, entry.end, entry.filled(ended).encode())
    return damaged.content if damaged is not None else None


def _with_condition(
    place: FunctionScope, before: Source, old_function: Node, refusal: Node, condition: Node
) -> bytes | None:
    """Return the file with the base's condition for the refusal with the same words, if there is just one."""
    words_of = _words_and_signs(before.text(refusal))
    old = [node for _, node, by in _guards(before, old_function) if _words_and_signs(before.text(by)) == words_of]
    new = [node for _, node, by in _guards(place.source, place.node) if _words_and_signs(place.text(by)) == words_of]
    if len(old) != 1 or len(new) != 1:
        return None
    back = before.content[condition.start_byte : condition.end_byte]
    damaged = edited(place.source, new[0].start_byte, new[0].end_byte, back)
    return damaged.content if damaged is not None else None


def _guards(source: Source, function: Node) -> Iterator[tuple[Node, Node, Node]]:
    """Yield each guard with its condition and the statement that refuses."""
    for node in walk(function):
        if node.type not in IFS:
            continue
        condition = node.child_by_field_name("condition")
        body = body_of(node)
        if condition is None or body is None:
            continue
        inner = block_statements(body)
        if len(inner) == 1 and _RAISES.match(source.text(inner[0]).strip()):
            yield node, condition, inner[0]


def _words_and_signs(text: str) -> str:
    """Return a text as words and signs with single spaces, so that one contains another only as a whole."""
    found = re.findall(r"[\w.]+|[^\w.\s]", text)
    return f" {' '.join(found)} "
