"""Changed code that no test notices beside what is proven: new functions are doubts, the rest is told."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from worker_agent.tdd.damage.code import gone
from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.proof.affected import readers_of
from worker_agent.tdd.proof.budget import LONG_SECONDS, TimeBudget
from worker_agent.tdd.proof.noticing import Noticed
from worker_agent.tdd.proof.subject import Subject
from worker_agent.tdd.runners.report import TestRun
from worker_agent.tdd.syntax.functions import functions
from worker_agent.tdd.syntax.source import parse

FILES = 3
"""So many files are looked at, one run each."""

SINGLY = 8
"""So many new functions are looked at one by one, where other changed functions are noticed."""

NEW = "{}::{}: it is new, and no test that the change concerns fails when it raises"
FUNCTIONS = "No test that the change concerns fails when these changed functions raise: {}"
STATEMENTS = "No test that the change concerns fails with these files as they were on the base: {}"


@dataclass
class Untested:
    """What no test notices: `doubts` are about new functions, `told` are remarks about the rest."""

    doubts: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


async def untested(
    subject: Subject, tests: Collection[str], head_run: TestRun, found: Noticed, budget: TimeBudget
) -> Untested:
    """What is said of changed functions and other changed code that no test notices.

    `tests` are the test files that the change concerns; where the suite is quick those that name a changed file run,
    too. Functions in which a damage was noticed are not looked at again. Where anything fails nothing is said of old
    functions; new ones are looked at one by one.
    """
    made = changes(
        subject.change.side(subject.change.code, head=False), subject.change.side(subject.change.code, head=True)
    )
    seen = Untested()
    silent_ones: list[str] = []
    for change in [change for change in made if list(_silent(change, found))][:FILES]:
        silent, new = set(_silent(change, found)), new_functions(change)
        notice = partial(_notices, subject, tests, head_run, change)
        if gone(change, silent) is None or budget.is_over(found.tried):
            continue
        if not await notice(silent):
            silent_ones += [f"`{name}` in `{change.path}`" for name in sorted(silent - new)]
            seen.doubts += [NEW.format(change.path, name) for name in sorted(silent & new)]
            continue
        for name in sorted(silent & new)[:SINGLY] if len(silent) > 1 else ():
            if not budget.is_over(found.tried) and not await notice({name}):
                seen.doubts.append(NEW.format(change.path, name))
    plain = {
        change.path: change.base
        for change in made
        if change.base is not None and not change.functions and change.lines and change.path not in found.files
    }
    still = bool(plain) and not budget.is_over(found.tried) and not await _fails(subject, tests, head_run, plain)
    seen.told += [FUNCTIONS.format(", ".join(silent_ones))] if silent_ones else []
    seen.told += [STATEMENTS.format(", ".join(f"`{path}`" for path in sorted(plain)))] if still else []
    return seen


def new_functions(change: FileChange) -> frozenset[str]:
    """The changed functions of a file that the base does not have, by name."""
    before = parse(change.path, change.base) if change.base is not None else None
    old = {function.name for function in functions(before)} if before is not None else set()
    return frozenset(function.name for function in change.functions if function.name not in old)


async def _notices(
    subject: Subject, tests: Collection[str], head_run: TestRun, change: FileChange, names: Collection[str]
) -> bool:
    """Whether a test fails when these functions raise; true where they cannot be made to."""
    loud = gone(change, names)
    return loud is None or await _fails(subject, tests, head_run, {change.path: loud.content})


def _silent(change: FileChange, found: Noticed) -> Iterator[str]:
    """The changed functions of a file in which no damage was noticed."""
    noticed = {damage.function for damage in found.noticed if damage.path == change.path}
    yield from (function.name for function in change.functions if function.name not in noticed)


async def _fails(subject: Subject, tests: Collection[str], head_run: TestRun, over: Mapping[str, bytes | None]) -> bool:
    """Whether a test that passes on the head does not with these files laid over it."""
    readers = readers_of(subject.change, over) if head_run.seconds < LONG_SECONDS else frozenset()
    files = {*tests, *readers}
    run = await subject.head(files, over, (), head_run.seconds)
    lost = {test for test in head_run.passed - run.passed if head_run.results[test].file in files}
    return bool(run.timed_out or run.broken_files.keys() - head_run.broken_files.keys() or lost)
