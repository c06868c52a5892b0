"""Probes with other code: the parts of new code that no test distinguishes from simpler code, or runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from worker_agent.tdd.damage.code_branches import Branch, branches, raising
from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.damage.code_guards import removed
from worker_agent.tdd.damage.code_simpler import simpler
from worker_agent.tdd.proof.affected import readers_of
from worker_agent.tdd.proof.budget import LONG_SECONDS, TimeBudget
from worker_agent.tdd.proof.damage_detection import Noticed
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.purpose import PurposeKind, RunPurpose
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.tdd.syntax.functions import Function, functions
from worker_agent.tdd.syntax.source import parse

FUNCTIONS = 4
"""The most new functions that are made simpler."""

BRANCHES = 8
"""The most branches that are tried one by one; the others are only tried all together."""

GUARDS = 4
"""The most removed guards that are put back."""

MOVED = "{}::{}: it refused where `{}`, refuses something else now, and no test fails with the old condition"
UNGUARDED = "{}::{}: it refuses nothing more where `{}`, and no test fails when it does again"
SIMPLER = "{}::{}: no test tells it from one that {}"


@dataclass(frozen=True)
class Probe:
    """The head with other code in it; `tests` are the test files that the change concerns."""

    subject: ProofSubject
    tests: Collection[str]
    head_run: TestRun
    found: Noticed
    budget: TimeBudget

    def changes(self) -> tuple[FileChange, ...]:
        """Return the changed files of code."""
        return changes(*self.subject.change.code_sides)

    def is_over(self) -> bool:
        """Return whether the time for more probes is over."""
        return self.budget.is_over(self.found.tried)

    async def fails(self, over: Mapping[str, bytes | None]) -> bool:
        """Return whether a test that passes on the head fails with these files put over it, or they do not build."""
        head = self.head_run
        readers = readers_of(self.subject.change, over) if head.seconds < LONG_SECONDS else frozenset()
        files = {*self.tests, *readers}
        run = await self.subject.head(files, over, (), head.seconds, RunPurpose(PurposeKind.DAMAGE))
        lost = {test for test in head.passed - run.passed if head.results[test].file in files}
        return bool(run.timed_out or run.broken_files.keys() - head.broken_files.keys() or lost)


def new_functions(change: FileChange) -> frozenset[str]:
    """Return the names of the changed functions of a file that the base does not have."""
    before = parse(change.path, change.base) if change.base is not None else None
    old = {function.name for function in functions(before)} if before is not None else set()
    return frozenset(function.name for function in change.functions if function.name not in old)


async def told_apart(probe: Probe) -> tuple[str, ...]:
    """Return a sentence for each new function that no test tells from a simpler one: its inputs do not discriminate."""
    asked: list[str] = []
    for change, function in list(_tested_functions(probe))[:FUNCTIONS]:
        for variant in simpler(change, function):
            if probe.is_over():
                return tuple(asked)
            if not await probe.fails({change.path: variant.content}):
                asked.append(SIMPLER.format(change.path, function.name, variant.what))
                break
    return tuple(asked)


def _tested_functions(probe: Probe) -> Iterator[tuple[FileChange, Function]]:
    """Yield the new functions in which a damage was noticed; the others raise doubts already."""
    noticed = {(damage.path, damage.function) for damage in probe.found.noticed}
    for change in probe.changes():
        new = new_functions(change)
        yield from (
            (change, function)
            for function in change.functions
            if function.name in new and (change.path, function.name) in noticed
        )


async def unguarded(probe: Probe) -> tuple[str, ...]:
    """Return a sentence for each guard that the change removed, if no test fails when it is put back."""
    gone = [guard for change in probe.changes() for guard in removed(change)][:GUARDS]
    back = [one for one in gone if not probe.is_over() and not await probe.fails({one.path: one.content})]
    return tuple((MOVED if one.stays else UNGUARDED).format(one.path, one.function, one.condition) for one in back)


async def untaken(probe: Probe, but: Collection[tuple[str, str]] = ()) -> tuple[Branch, ...]:
    """Return the new branches that no test takes, except those of the functions `but`, which no test notices at all."""
    made = {change.path: change for change in probe.changes()}
    every = [branch for change in made.values() for branch in branches(change)]
    left = [one for one in every if (one.path, one.function) not in but and not _is_noticed(one, probe.found)]
    if not left or not await _fails_in(probe, made, left):
        return _outermost(left)
    apart = left[:BRANCHES] if len(left) > 1 else ()
    return _outermost([one for one in apart if not probe.is_over() and not await _fails_in(probe, made, [one])])


def _outermost(found: Sequence[Branch]) -> tuple[Branch, ...]:
    """Return the branches except those that begin inside another one: they follow from it."""
    return tuple(one for one in found if not any(_is_inside(one, other) for other in found))


def _is_inside(branch: Branch, other: Branch) -> bool:
    return branch is not other and branch.path == other.path and branch.line in other.rows and other.line < branch.line


def _is_noticed(branch: Branch, found: Noticed) -> bool:
    """Return whether a damage inside a branch was noticed; not counted if a line also holds its condition."""
    apart = branch.line not in branch.rows
    return apart and any(damage.path == branch.path and damage.line in branch.rows for damage in found.noticed)


async def _fails_in(probe: Probe, made: Mapping[str, FileChange], left: Sequence[Branch]) -> bool:
    """Return whether a test fails with these branches raising; True if they cannot be made to raise."""
    over: dict[str, bytes | None] = {}
    for path in {branch.path for branch in left}:
        over[path] = raising(made[path], [branch for branch in left if branch.path == path])
    return None in over.values() or await probe.fails(over)
