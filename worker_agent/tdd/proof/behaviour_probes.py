"""Probes with other code: the parts of changed code that no test runs, checks, or distinguishes from simpler code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from worker_agent.tdd.damage.code import gone
from worker_agent.tdd.damage.code_branches import Branch, branches, raising
from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.damage.code_edits import FunctionScope
from worker_agent.tdd.damage.code_guards import removed
from worker_agent.tdd.damage.code_other_values import otherwise
from worker_agent.tdd.damage.code_simpler import simpler
from worker_agent.tdd.proof.affected import readers_of
from worker_agent.tdd.proof.damage_detection import SHORT_SECONDS, Noticed
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import PurposeKind, RunPurpose, TestRun
from worker_agent.tdd.syntax.functions import statements
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

    def changes(self) -> tuple[FileChange, ...]:
        """Return the changed files of code."""
        return changes(*self.subject.change.code_sides)

    async def fails(self, over: Mapping[str, bytes | None]) -> bool:
        """Return whether a test that passes on the head fails with these files put over it, or they do not build."""
        head = self.head_run
        readers = readers_of(self.subject.change, over) if head.seconds < SHORT_SECONDS else frozenset()
        files = {*self.tests, *readers}
        run = await self.subject.variant(files, over, (), head.seconds, RunPurpose(PurposeKind.DAMAGE))
        lost = {test for test in head.passed - run.passed if head.results[test].file in files}
        return bool(run.timed_out or run.broken_files.keys() - head.broken_files.keys() or lost)


async def told_apart(probe: Probe) -> tuple[str, ...]:
    """Return a sentence for each new function that no test tells from a simpler one: its inputs do not discriminate."""
    asked: list[str] = []
    for place in list(_tested_functions(probe))[:FUNCTIONS]:
        path = place.source.path
        for what, content in simpler(place):
            if probe.found.is_time_over():
                return tuple(asked)
            if not await probe.fails({path: content}):
                asked.append(SIMPLER.format(path, place.function.name, what))
                break
    return tuple(asked)


def _tested_functions(probe: Probe) -> Iterator[FunctionScope]:
    """Yield the new functions in which a damage was noticed; the others raise doubts already."""
    noticed = {(damage.path, damage.function) for damage in probe.found.noticed}
    for change in probe.changes():
        yield from (place for place in change.new_scopes if (change.path, place.function.name) in noticed)


async def unguarded(probe: Probe) -> tuple[str, ...]:
    """Return a sentence for each guard that the change removed, if no test fails when it is put back."""
    gone = [guard for change in probe.changes() for guard in removed(change)][:GUARDS]
    back = [one for one in gone if not probe.found.is_time_over() and not await probe.fails({one.path: one.content})]
    return tuple((MOVED if one.stays else UNGUARDED).format(one.path, one.function, one.condition) for one in back)


async def untaken(probe: Probe, but: Collection[tuple[str, str]] = ()) -> tuple[Branch, ...]:
    """Return the new branches that no test takes, except those of the functions `but`, which no test notices at all."""
    made = {change.path: change for change in probe.changes()}
    every = [branch for change in made.values() for branch in branches(change)]
    left = [one for one in every if (one.path, one.function) not in but and not _is_noticed(one, probe.found)]
    if not left or not await _fails_in(probe, made, left):
        return _outermost(left)
    apart = left[:BRANCHES] if len(left) > 1 else ()
    return _outermost(
        [one for one in apart if not probe.found.is_time_over() and not await _fails_in(probe, made, [one])]
    )


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


FILES = 3
"""The most files that are examined, one run each."""

SINGLY = 8
"""The most new functions that are examined one by one, if other changed functions are noticed."""

RESULTS = 3
"""The most new functions without a noticed damage whose results are changed, one run each."""

NEW = "{}::{}: it is new, and no test that the change concerns fails when it raises"
UNREAD = "{}::{}: it is new, and no test that the change concerns fails when it returns another value of the same type"
_OF_CONTAINERS = re.compile(r"__\w+__|__\w+|hash|hashCode|eql\?|toString|to_s|inspect|valueOf|String|Error|<=>|==")
"""Methods that others call; their results need not show anywhere."""

SILENT = "No test that the change concerns fails when these changed functions raise: {}"
_BINDS = re.compile(r"(?:(?:export|const|let|var|final|static|public|private|pub)\s+)*(\w+)\s*(?::[^=]*)?=(?![=>~])")
"""A statement that assigns a value to a name, by its tokens."""

VALUE = "{}: `{}` has another value than on the base, and no test that the change concerns fails with the old one"
STATEMENTS = "No test that the change concerns fails with these files as they were on the base: {}"


@dataclass
class Untested:
    """Changed code that no test notices: `doubts` are about new functions, `sentences` are remarks about the rest."""

    doubts: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    silent: set[tuple[str, str]] = field(default_factory=set)
    """Path and name of the functions that no test notices."""


async def untested(probe: Probe) -> Untested:
    """Return the doubts and remarks about changed functions and other changed code that no test notices.

    The test files that the change concerns are run; if the suite is quick, those that name a changed file, too.
    Functions in which a damage was noticed are not tried again. If any test fails, nothing is said about old functions;
    new ones are tried one by one.
    """
    made, found = probe.changes(), probe.found
    seen = Untested()
    silent_ones: list[str] = []
    for change in [change for change in made if list(_silent_functions(change, found))][:FILES]:
        silent = set(_silent_functions(change, found))
        new = {place.function.name for place in change.new_scopes}
        notice = partial(_notices, probe, change)
        if gone(change, silent) is None or probe.found.is_time_over():
            continue
        if not await notice(silent):
            silent_ones += [f"`{name}` in `{change.path}`" for name in sorted(silent - new)]
            seen.doubts += [NEW.format(change.path, name) for name in sorted(silent & new)]
            seen.silent |= {(change.path, name) for name in silent}
            continue
        for name in sorted(silent & new)[:SINGLY] if len(silent) > 1 else ():
            if not probe.found.is_time_over() and not await notice({name}):
                seen.doubts.append(NEW.format(change.path, name))
                seen.silent.add((change.path, name))
        run = {name for name in silent & new if (change.path, name) not in seen.silent}
        seen.doubts += [UNREAD.format(change.path, name) for name in await _unread_functions(probe, change, run)]
    plain = {
        change.path: change.base
        for change in made
        if change.base is not None and not change.functions and change.lines and change.path not in found.files
    }
    still = bool(plain) and not probe.found.is_time_over() and not await probe.fails(plain)
    seen.doubts += [
        VALUE.format(one.path, name) for one in made if still and one.path in plain for name in revalued(one)
    ]
    seen.sentences += [SILENT.format(", ".join(silent_ones))] if silent_ones else []
    seen.sentences += [STATEMENTS.format(", ".join(f"`{path}`" for path in sorted(plain)))] if still else []
    return seen


def revalued(change: FileChange) -> tuple[str, ...]:
    """Return names outside of functions whose value differs from the base, except those that describe a module."""
    before = parse(change.path, change.base) if change.base is not None else None
    old = {_bound_name(each.text): each.text for each in statements(before)} if before is not None else {}
    names = {_bound_name(each.text): each.text for each in change.statements}
    return tuple(name for name, text in names.items() if name and old.get(name, text) != text)


def _bound_name(text: str) -> str:
    found = _BINDS.match(text)
    return found[1] if found is not None and not found[1].startswith("__") else ""


async def _notices(probe: Probe, change: FileChange, names: Collection[str]) -> bool:
    """Return whether a test fails when these functions raise; True if they cannot be made to raise."""
    loud = gone(change, names)
    return loud is None or await probe.fails({change.path: loud.content})


async def _unread_functions(probe: Probe, change: FileChange, names: Collection[str]) -> list[str]:
    """Return those of these functions that tests need to run, but whose results no test checks.

    That is so if a test takes its expectation from the code that it tests.
    """
    asked = sorted(name for name in names if not _OF_CONTAINERS.fullmatch(name.rpartition(".")[2]))[:RESULTS]
    found = []
    for name in asked:
        only = tuple(function for function in change.functions if function.name == name)
        content = otherwise(replace(change, functions=only), unknown_raises=True)
        if content is not None and not probe.found.is_time_over() and not await probe.fails({change.path: content}):
            found.append(name)
    return found


def _silent_functions(change: FileChange, found: Noticed) -> Iterator[str]:
    """Yield the changed functions of a file in which no damage was noticed."""
    noticed = {damage.function for damage in found.noticed if damage.path == change.path}
    yield from (function.name for function in change.functions if function.name not in noticed)
