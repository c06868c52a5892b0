"""One bug: a piece of source that stands there exactly once, what is put in its place, and who has to notice it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).parents[3]


class Ring(StrEnum):
    """The tests that have to notice a bug."""

    SIMULATION = "simulation"
    UNIT = "unit"
    ADAPTERS = "adapters"


class Outdated(ValueError):
    """A bug no longer fits the source."""


@dataclass(frozen=True, slots=True)
class Change:
    """In one file, by its path from the root of the project."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug with a name. `world`: where the simulation looks first; without one, in a mixture of all."""

    name: str
    ring: Ring
    changes: tuple[Change, ...]
    world: str = ""


def simulated(name: str, *changes: tuple[str, str, str], world: str = "") -> Mutant:
    """A bug of the lock that its simulation can notice; paths are modules of `shared.lock`."""
    return Mutant(name, Ring.SIMULATION, _in_lock(changes), world)


def unit(name: str, *changes: tuple[str, str, str]) -> Mutant:
    """A bug of the lock beyond what is simulated."""
    return Mutant(name, Ring.UNIT, _in_lock(changes))


def adapter(name: str, *changes: tuple[str, str, str]) -> Mutant:
    """A bug of what the lock stands on: GitHub's interface, git, the marks; paths are those of files."""
    return Mutant(name, Ring.ADAPTERS, tuple(Change(*change) for change in changes))


def _in_lock(changes: tuple[tuple[str, str, str], ...]) -> tuple[Change, ...]:
    return tuple(Change(f"shared/lock/{module}.py", old, new) for module, old, new in changes)


def sources(mutant: Mutant, root: Path = ROOT) -> Mapping[str, str]:
    """The changed files, by their path; raises `Outdated` when a change does not apply exactly once."""
    found: dict[str, str] = {}
    for change in mutant.changes:
        text = found.get(change.path) or (root / change.path).read_text(encoding="utf-8")
        if text.count(change.old) != 1:
            raise Outdated(f"'{mutant.name}': {change.old!r} stands {text.count(change.old)} times in {change.path}")
        found[change.path] = text.replace(change.old, change.new)
    return found
