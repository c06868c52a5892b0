"""Tests that go on under another name: moved with the same meaning, or rewritten much alike (pure)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from worker_agent.tdd.comparison.model import ComparedTest, Comparison, What
from worker_agent.tdd.comparison.project import Project
from worker_agent.tdd.syntax.units import TestUnit


def settled(entries: Sequence[ComparedTest], before: Project, after: Project) -> list[ComparedTest]:
    """Return the entries; a removed test and a new one that repeats it become one renamed test."""
    fresh: dict[tuple[str, tuple[str, ...], str], list[ComparedTest]] = defaultdict(list)
    for entry in entries:
        unit = _unit(after, entry) if entry.what is What.ADDED and not entry.before else None
        if unit is not None:
            fresh[_meaning(unit)].append(entry)
    taken: list[ComparedTest] = []
    found: list[ComparedTest] = []
    for entry in entries:
        unit = _unit(before, entry) if entry.what in {What.REMOVED, What.SKIPPED} and not entry.after else None
        same = fresh.get(_meaning(unit), []) if unit is not None else []
        if same:
            taken.append(same.pop(0))
            found.append(_join_renamed(entry, taken[-1]))
        else:
            found.append(entry)
    return [entry for entry in found if entry not in taken]


def _meaning(unit: TestUnit) -> tuple[str, tuple[str, ...], str]:
    return unit.digest, unit.cases, unit.skipped


def _unit(project: Project, entry: ComparedTest) -> TestUnit | None:
    if not entry.unit or entry.path not in project.files:
        return None
    return next((unit for unit in project.units(entry.path) if unit.name == entry.unit), None)


def _join_renamed(old: ComparedTest, new: ComparedTest) -> ComparedTest:
    return replace(
        old,
        what=What.RENAMED,
        text=f"{old.name}: now {new.unit if old.path == new.path else new.name}",
        after=new.after,
        now=new.name,
        loses=False,
        fewer_checks=False,
    )


LIKE = 0.6
"""Least similarity of two tests' words, in the same order; from 0 to 1."""


def with_rewritten(found: Comparison) -> Comparison:
    """Return the comparison in which a removed test that continues under another name counts as changed."""
    added = list(found.added)
    removed, changed = [], list(found.changed)
    for old in found.removed:
        new = _nearest(old, added)
        if new is None:
            removed.append(old)
            continue
        added.remove(new)
        text = f"{old.name}: rewritten as {new.unit if new.path == old.path else new.name}"
        changed.append(replace(old, what=What.EXPECTATIONS, text=text, after=new.after, now=new.name))
    return replace(found, added=tuple(added), removed=tuple(removed), changed=tuple(changed))


def _nearest(old: ComparedTest, added: Sequence[ComparedTest]) -> ComparedTest | None:
    """Return the new test that is most like a removed one; in its own file, unless that is gone."""
    near = [new for new in added if new.path == old.path and new.after and not new.before] or [
        new for new in added if new.after and not new.before
    ]
    best = max(near, key=lambda new: _likeness(old, new), default=None)
    return best if best is not None and _likeness(old, best) >= LIKE else None


def _likeness(old: ComparedTest, new: ComparedTest) -> float:
    return SequenceMatcher(None, old.before.split(), new.after.split(), autojunk=False).ratio()
