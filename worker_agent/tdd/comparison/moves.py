"""Tests that only moved or were renamed: removed in one place, new in another, with the same meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from worker_agent.tdd.comparison.model import ComparedTest, What
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
