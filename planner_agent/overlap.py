"""The order of specifications that touch the same files: they are built one after the other (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner_agent.plan import Plan, PlannedSpecification
from shared.specification import Specification, files_of


@dataclass(frozen=True, slots=True)
class Shared:
    """An earlier specification, by its key, and the files that it shares with a later one."""

    key: str
    files: tuple[str, ...]


def overlaps(plan: Plan) -> Mapping[str, tuple[Shared, ...]]:
    """Return key -> the specifications that it has to wait for although the plan does not say so.

    Two that name the same file and do not depend on each other, not even through others, would be built side by side
    and meet in a conflict. The later one waits, so that no circle can arise.
    """
    after: dict[str, set[str]] = {}
    added: dict[str, tuple[Shared, ...]] = {}
    earlier: list[PlannedSpecification] = []
    for _, planned in plan.ordered:
        waited_for = {key for direct in planned.depends_on for key in (direct, *after[direct])}
        found: list[Shared] = []
        for other in reversed(earlier):
            files = tuple(sorted(_touched_files(planned) & _touched_files(other)))
            if files and other.key not in waited_for:
                found.append(Shared(other.key, files))
                waited_for |= {other.key, *after[other.key]}
        after[planned.key] = waited_for
        earlier.append(planned)
        if found:
            added[planned.key] = tuple(found)
    return added


def blockers(plan: Plan, one: PlannedSpecification) -> tuple[str, ...]:
    """Return the keys of everything that a specification waits for: by the plan, then by shared files."""
    return (*one.depends_on, *(shared.key for shared in overlaps(plan).get(one.key, ())))


def elsewhere(one: PlannedSpecification, under_way: Mapping[int, Specification]) -> tuple[int, ...]:
    """Return the specifications under way, by number, that `one` has to wait for because both name the same file.

    One that waits for another of them stands for both. None of them can wait for `one`, which is newer.
    """
    sharing = {number for number, other in under_way.items() if _touched_files(one) & other.touched}
    behind = {before for number in sharing for before in under_way[number].depends_on}
    return tuple(sorted(sharing - behind))


def _touched_files(one: PlannedSpecification) -> frozenset[str]:
    return files_of((*one.files, *one.may_change))
