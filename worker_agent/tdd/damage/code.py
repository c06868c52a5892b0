"""The damages of changed code: made from the syntax trees of base and head, in any language (pure).

Only code that changed by meaning is damaged: new or different functions, and statements outside of them. Each damaged
file still parses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from worker_agent.tdd.damage.code_bodies import entry_of, is_unfinished, raising
from worker_agent.tdd.damage.code_candidates import candidates, in_turn
from worker_agent.tdd.damage.code_changes import FileChange, changes, rows
from worker_agent.tdd.damage.code_edits import with_edits
from worker_agent.tdd.damage.code_hunks import hunks
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.syntax.source import parse

LIMIT = 120
"""The most damages of one change that are made; far more than are ever run."""


def damages(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[Damage, ...]:
    """Return the damages of the changed code files of `head`, at most `LIMIT`, always the same for the same files.

    `base` and `head` hold code by path, without test files; files that are equal in both are not damaged.
    """
    found = changes(base, head)
    whole = [damage for change in found for damage in (gone(change), *hunks(change)) if damage is not None]
    made: list[Damage] = []
    for candidate in in_turn(each for change in found for each in candidates(change)):
        if len(made) + len(whole) >= LIMIT:
            break
        damage = candidate.make()
        if damage is not None:
            made.append(damage)
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
