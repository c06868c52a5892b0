"""The damages that are run, and their order, if there are more than a proof may cost."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping

from worker_agent.tdd.damage.code import gone
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.model import Damage, DamageKind

_KINDS = {kind: number for number, kind in enumerate(DamageKind)}


def chosen(damages: Iterable[Damage], limit: int) -> tuple[Damage, ...]:
    """Return at most `limit` damages: quiet before loud, functions in turn, and for each function the kinds in turn.

    Within a function the kind that was taken least so far comes first; ties are broken by a hash, so that the choice is
    the same in every run. Each function has one before any has two.
    """
    every = list(damages)
    quiet = _in_turn([damage for damage in every if damage.quiet])
    loud = _in_turn([damage for damage in every if not damage.quiet])
    return tuple([*quiet, *loud][:limit])


def of_file(base: Mapping[str, bytes], head: Mapping[str, bytes], path: str) -> Damage | None:
    """Return the file `path` with every changed function raising; None for a file without changed functions."""
    if path not in head or base.get(path) == head[path]:
        return None
    found = next((change for change in changes(base, head) if change.path == path), None)
    return gone(found) if found is not None else None


def _in_turn(damages: list[Damage]) -> list[Damage]:
    waiting: dict[tuple[str, str], list[Damage]] = {}
    for damage in sorted(damages, key=_hash):
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
    return (not damage.direct, times, taken[damage.kind], _KINDS[damage.kind])


def _hash(damage: Damage) -> str:
    return hashlib.sha256(f"{damage.path}:{damage.line}:{damage.kind}:{damage.what}".encode()).hexdigest()
