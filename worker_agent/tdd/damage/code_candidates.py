"""Edits of changed functions and statements before they are made: their choice, number and order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from worker_agent.tdd.damage.code_bodies import body_edits, is_unfinished
from worker_agent.tdd.damage.code_changes import FileChange, rows
from worker_agent.tdd.damage.code_conditions import condition_edits
from worker_agent.tdd.damage.code_constants import constant_edits
from worker_agent.tdd.damage.code_edits import Edit, EditScope, FunctionScope
from worker_agent.tdd.damage.code_returns import return_edits
from worker_agent.tdd.damage.code_statements import statement_edits
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.syntax.source import edited

PER_KIND = 4
"""The most damages of one kind in one function."""
_ENOUGH = 4
"""Quiet damages on touched lines of a function, below which its other lines are damaged too."""
_OUTSIDE = frozenset({DamageKind.CONST, DamageKind.BOUND, DamageKind.NEGATE, DamageKind.DROP})
_WHOLE = frozenset({DamageKind.NONE, DamageKind.RAISE})


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit with the function or statement it is in; `direct` as in `Damage`."""

    place: EditScope
    edit: Edit
    direct: bool = True

    def make(self) -> Damage | None:
        """Return the damage; None if the file would not parse, or would be the same."""
        edit, source = self.edit, self.place.source
        damaged = edited(source, edit.start, edit.end, edit.by.encode())
        if damaged is None or damaged.content == source.content:
            return None
        function = self.place.function.name if isinstance(self.place, FunctionScope) else ""
        return Damage(source.path, edit.line, edit.kind, damaged.content, edit.what, function, edit.quiet, self.direct)


def candidates(change: FileChange) -> list[list[Candidate]]:
    """Return the candidates of each changed function and statement of a file, the better ones first."""
    source = change.source
    if source is None:
        return []
    outside = [EditScope(source, found.node, found.nested, change.lines) for found in change.statements]
    return [_of_place(place) for place in (*change.scopes, *outside)]


def in_turn(lists: Iterable[list[Candidate]]) -> Iterator[Candidate]:
    """Yield the first of each list, then the second of each, and so on."""
    waiting = list(lists)
    for at in range(max((len(each) for each in waiting), default=0)):
        yield from (each[at] for each in waiting if at < len(each))


def quiet_possible(place: FunctionScope) -> bool:
    """Return whether any quiet damage of a function can be made."""
    return any(Candidate(place, edit).make() for edit in _edits(place) if edit.quiet)


def _edits(place: EditScope) -> Iterator[Edit]:
    if not isinstance(place, FunctionScope):
        found = chain(condition_edits(place), constant_edits(place), statement_edits(place))
        yield from (edit for edit in found if edit.kind in _OUTSIDE)
    elif not is_unfinished(place):
        yield from body_edits(place)
        yield from condition_edits(place)
        yield from return_edits(place)
        yield from statement_edits(place)
        yield from constant_edits(place)


def _of_place(place: EditScope) -> list[Candidate]:
    """Return the edits of one function or statement: those on touched lines, and others if these are few."""
    touched = place.lines.intersection(rows(place.node))
    is_function = isinstance(place, FunctionScope)
    direct, indirect = [], []
    yielded: set[tuple[int, int, str]] = set()
    for edit in _edits(place):
        if (edit.start, edit.end, edit.by) in yielded:
            continue
        yielded.add((edit.start, edit.end, edit.by))
        on_touched = not touched or _is_touched(place, edit) or (is_function and edit.kind in _WHOLE)
        if on_touched and not edit.weak:
            direct.append(Candidate(place, edit))
        elif is_function or on_touched:
            indirect.append(Candidate(place, edit, direct=False))
    kept = _few_of_each(direct)
    missing = _ENOUGH - sum(1 for each in kept if each.edit.quiet)
    return [*kept, *_few_of_each(indirect)[: max(0, missing)]]


def _is_touched(place: EditScope, edit: Edit) -> bool:
    last = edit.line + place.source.content.count(b"\n", edit.start, edit.end)
    return any(line in place.lines for line in range(edit.line, last + 1))


def _few_of_each(found: Iterable[Candidate]) -> list[Candidate]:
    """Return at most `PER_KIND` edits of each kind, by hash; the kinds in turn."""
    by_kind: dict[DamageKind, list[Candidate]] = {}
    for each in sorted(found, key=_order):
        by_kind.setdefault(each.edit.kind, []).append(each)
    ordered = [by_kind[kind][:PER_KIND] for kind in DamageKind if kind in by_kind]
    return list(in_turn(ordered))


def _order(found: Candidate) -> str:
    edit = found.edit
    return hashlib.sha256(f"{found.place.source.path}:{edit.line}:{edit.kind}:{edit.what}".encode()).hexdigest()
