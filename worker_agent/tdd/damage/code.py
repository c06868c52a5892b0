"""The damages of changed code: made from the syntax trees of base and head, in any language, and chosen (pure).

Only code that changed by meaning is damaged: new or different functions, and statements outside of them. Each damaged
file still parses.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from worker_agent.tdd.damage.code_bodies import body_edits, entry_of, is_unfinished, raising
from worker_agent.tdd.damage.code_changes import FileChange, changes, rows
from worker_agent.tdd.damage.code_conditions import condition_edits
from worker_agent.tdd.damage.code_constants import constant_edits
from worker_agent.tdd.damage.code_edits import Edit, EditScope, FunctionScope, with_edits
from worker_agent.tdd.damage.code_hunks import hunks
from worker_agent.tdd.damage.code_returns import return_edits
from worker_agent.tdd.damage.code_statements import statement_edits
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.syntax.source import edited, parse

LIMIT = 120
"""The most damages of one change that are made; far more than are ever run."""

PER_KIND = 4
"""The most damages of one kind in one function."""

_ENOUGH = 4
"""Quiet damages on touched lines of a function, below which its other lines are damaged too."""

_OUTSIDE = frozenset({DamageKind.CONST, DamageKind.BOUND, DamageKind.NEGATE, DamageKind.DROP})
_WHOLE = frozenset({DamageKind.NONE, DamageKind.RAISE})
_KINDS = list(DamageKind)


def damages(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[Damage, ...]:
    """Return the damages of the changed code files of `head`, at most `LIMIT`, always the same for the same files.

    `base` and `head` hold code by path, without test files; files that are equal in both are not damaged.
    """
    found = changes(base, head)
    whole = [damage for change in found for damage in (gone(change), *hunks(change)) if damage is not None]
    possible = (each.make() for each in _in_turn(places for change in found for places in _candidates(change)))
    made = islice(filter(None, possible), max(0, LIMIT - len(whole)))
    return tuple(sorted([*whole, *made], key=lambda each: (each.path, each.line, each.kind, each.what)))


def gone(change: FileChange, only: Collection[str] | None = None) -> Damage | None:
    """Return the file in which every changed function raises, or those named in `only`; None if none changed."""
    names, edits = [], []
    for place in change.scopes:
        entry = entry_of(place)
        if entry is not None and (only is None or place.function.name in only) and not is_unfinished(place):
            names.append(place.function.name)
            edits.append((entry.start, entry.end, entry.filled(raising(place, entry))))
    content = with_edits(change.head, edits)
    if not edits or parse(change.path, content) is None:
        return None
    told = f"`{names[0]}` raised" if len(edits) == 1 else f"all {len(edits)} changed functions raised"
    first = min(min(rows(function.node)) for function in change.functions)
    return Damage(change.path, first, DamageKind.GONE, content, told, quiet=False)


@dataclass(frozen=True, slots=True)
class _Candidate:
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


def _candidates(change: FileChange) -> list[list[_Candidate]]:
    """Return the candidates of each changed function and statement of a file, the better ones first."""
    source = change.source
    if source is None:
        return []
    outside = [EditScope(source, found.node, found.nested, change.lines) for found in change.statements]
    return [_of_place(place) for place in (*change.scopes, *outside)]


def _in_turn(lists: Iterable[list[_Candidate]]) -> Iterator[_Candidate]:
    """Yield the first of each list, then the second of each, and so on."""
    for row in zip_longest(*lists):
        yield from filter(None, row)


def quiet_possible(place: FunctionScope) -> bool:
    """Return whether any quiet damage of a function can be made."""
    return any(_Candidate(place, edit).make() for edit in _edits(place) if edit.quiet)


def _edits(place: EditScope) -> Iterator[Edit]:
    if not isinstance(place, FunctionScope):
        found = chain(condition_edits(place), constant_edits(place), statement_edits(place))
        return (edit for edit in found if edit.kind in _OUTSIDE)
    if is_unfinished(place):
        return iter(())
    whole, conditions = body_edits(place), condition_edits(place)
    return chain(whole, conditions, return_edits(place), statement_edits(place), constant_edits(place))


def _of_place(place: EditScope) -> list[_Candidate]:
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
            direct.append(_Candidate(place, edit))
        elif is_function or on_touched:
            indirect.append(_Candidate(place, edit, direct=False))
    kept = _few_of_each(direct)
    missing = _ENOUGH - sum(1 for each in kept if each.edit.quiet)
    return [*kept, *_few_of_each(indirect)[: max(0, missing)]]


def _is_touched(place: EditScope, edit: Edit) -> bool:
    last = edit.line + place.source.content.count(b"\n", edit.start, edit.end)
    return any(line in place.lines for line in range(edit.line, last + 1))


def _few_of_each(found: Iterable[_Candidate]) -> list[_Candidate]:
    """Return at most `PER_KIND` edits of each kind, by hash; the kinds in turn."""
    by_kind: dict[DamageKind, list[_Candidate]] = {}
    for each in sorted(found, key=lambda each: _hash(each.place.source.path, each.edit)):
        by_kind.setdefault(each.edit.kind, []).append(each)
    return list(_in_turn(by_kind[kind][:PER_KIND] for kind in _KINDS if kind in by_kind))


def chosen(damages: Iterable[Damage], limit: int) -> tuple[Damage, ...]:
    """Return at most `limit` damages: quiet before loud, functions in turn, and for each function the kinds in turn.

    Within a function the kind that was taken least so far comes first; ties are broken by a hash, so that the choice is
    the same in every run. Each function has one before any has two.
    """
    every = list(damages)
    quiet = _functions_in_turn([damage for damage in every if damage.quiet])
    loud = _functions_in_turn([damage for damage in every if not damage.quiet])
    return tuple([*quiet, *loud][:limit])


def of_file(base: Mapping[str, bytes], head: Mapping[str, bytes], path: str) -> Damage | None:
    """Return the file `path` with every changed function raising; None for a file without changed functions."""
    return next((gone(change) for change in changes(base, head) if change.path == path), None)


def _functions_in_turn(damages: list[Damage]) -> list[Damage]:
    waiting: dict[tuple[str, str], list[Damage]] = {}
    for damage in sorted(damages, key=lambda damage: _hash(damage.path, damage)):
        waiting.setdefault((damage.path, damage.function), []).append(damage)
    taken: Counter[DamageKind] = Counter()
    of_function: Counter[tuple[str, str, DamageKind]] = Counter()
    ordered: list[Damage] = []
    while waiting:
        for place in list(waiting):
            best = min(waiting[place], key=lambda damage: _rank(damage, of_function, taken))
            waiting[place].remove(best)
            taken[best.kind] += 1
            of_function[best.path, best.function, best.kind] += 1
            ordered.append(best)
            if not waiting[place]:
                del waiting[place]
    return ordered


def _rank(
    damage: Damage, of_function: Counter[tuple[str, str, DamageKind]], taken: Counter[DamageKind]
) -> tuple[bool, int, int, int]:
    times = of_function[damage.path, damage.function, damage.kind]
    return (not damage.direct, times, taken[damage.kind], _KINDS.index(damage.kind))


def _hash(path: str, damage: Edit | Damage) -> str:
    return hashlib.sha256(f"{path}:{damage.line}:{damage.kind}:{damage.what}".encode()).hexdigest()
