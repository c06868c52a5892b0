"""Questions to the person who merges: no run can decide them, and no honest change should be refused for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from worker_agent.tdd.comparison.model import Comparison
from worker_agent.tdd.damage import (
    answers_formula,
    answers_verbatim,
    code_equality,
    code_lookups,
    code_parameters,
    code_stubs,
    code_unread,
    environment_awareness,
    test_awareness,
    unchecked,
    untried_kinds,
)
from worker_agent.tdd.damage.code import chosen, damages, gone
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_other_values import otherwise
from worker_agent.tdd.damage.expectations_tolerance import wide
from worker_agent.tdd.damage.model import DamageKind
from worker_agent.tdd.proof import damaged_expectations
from worker_agent.tdd.proof.damage_detection import Noticed, Units, noticing_of
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.proof.unit_index import UnitIndex
from worker_agent.tdd.runners.test_run import PurposeKind, RunPurpose, TestRun

_DAMAGE = RunPurpose(PurposeKind.DAMAGE)

TRIED = 8
"""The most damages that are tried on tests that did not notice other values."""

_OF_PRESENCE = frozenset({DamageKind.NONE, DamageKind.RET, DamageKind.HUNK})
"""Damages noticed even by a test that checks no value: nothing is returned, or a name is missing."""

_LOUD_OR_EMPTY = frozenset({DamageKind.NONE, DamageKind.HUNK, DamageKind.GONE, DamageKind.RAISE})

_NOTHING = re.compile(
    r"became `\(?(?:None|null|nil|undefined|''|\"\"|b''|0|0\.0|\[\]|\{\}|\(\)|set\(\)|\*new\(.*\)"
    r"|(?:\w+\()?Default::default\(\)\)?)(?: as any)?\)?`$"
)
"""A damage that replaces a value by nothing, or by the zero value."""

TOLERANT = "{}: its tolerance is wide: it passes when a number that it expects is half as large again"
CRASHES = "{}: it only fails when the damaged code crashes, and not for another result"
UNCHECKED = "{}: no damage made any of its checks fail: they may be caught, or not awaited"
CASES = "{}: it stood on the base, and its new cases noticed none of the damages that were tried"
QUIET = "{}: it passed with every damage that was tried, beside tests that noticed some, and fails when the code raises"
PRESENCE = "{}: it notices that there is a result, and not which: it passes with other values of the same type"

_READS = re.compile(
    r"\.__code__\b|\bco_(?:consts|names|varnames|code)\b|\bgetsource(?:lines)?\(|\bdis\.(?:dis|Bytecode|get_instructions)\("
    r"|\bast\.parse\(|\bRubyVM::\w+|\.source_location\b|\bmethod_source\b"
)
"""Code of a test that reads the text or the instructions of code."""

UNRUN = (
    "{}: it noticed damage inside of `{}`, and passes when that raises: it looks at the code and not at what it does"
)
READS = "{}: it looks at the code (`{}`), and not at what it does"


def read(subject: ProofSubject, proven: Units) -> tuple[str, ...]:
    """Return the doubts from reading: verbatim results, unused parameters, a look at callers, open criteria."""
    change = subject.change
    base, head = change.code_sides
    beside = change.side(change.changed - change.tests, head=True)
    wanted = {path: names for path, names in damaged_expectations.by_file(proven).items() if path in change.new}
    tests, criteria = change.side(wanted, head=True), subject.specification.criteria
    cases = {path: {name: len(proven[f"{path}::{name}"]) for name in names} for path, names in wanted.items()}
    return (
        *answers_verbatim.verbatim_answers(change.old, {**beside, **head}, tests, wanted),
        *code_parameters.unused(base, head),
        *code_unread.unread(base, head, (*change.new.values(), *change.support.values(), *change.reached.values())),
        *answers_formula.fitted(base, head),
        *test_awareness.looking(base, head, change.side(change.tests, head=True)),
        *environment_awareness.surrounded(base, head, tests, wanted),
        *code_equality.deciding(base, head),
        *code_parameters.guarded(base, head),
        *code_lookups.asking(base, head, tests, [one.text for one in criteria]),
        *code_stubs.unfinished(base, head),
        *unchecked.unasked(criteria, change.new.values()),
        *unchecked.unchecked(criteria, tests, cases),
        *untried_kinds.untried(criteria, tests),
        *untried_kinds.of_bytes(criteria, tests, base, head),
    )


async def of_tolerance(subject: ProofSubject, proven: Units, alone: TestRun) -> tuple[str, ...]:
    """Return a sentence for each test that would pass with results half as large again."""
    wanted = damaged_expectations.by_file(proven)
    read_ones = wide(subject.change.side(wanted, head=True), wanted)
    return tuple(
        TOLERANT.format(unit)
        for unit in sorted(read_ones | await damaged_expectations.tolerant(subject, proven, alone))
    )


async def of_blind(
    subject: ProofSubject,
    proven: Units,
    expecting_something: Collection[str],
    alone: TestRun,
    found: Noticed,
    comparison: Comparison,
) -> dict[str, str]:
    """Return the tests that noticed nothing by an assertion and may be honest nevertheless, each with the doubt.

    They expect something (a damaged expectation turned them red), and a damage made them crash; or most other tests
    noticed something, and they fail when all changed functions raise: a case in which nothing is the right result.
    Tests of the base with new cases are as their authors wanted them.
    """
    every = {unit: cases for unit, cases in proven.items() if unit not in found.by_unit}
    doubts = {unit: CASES.format(unit) for unit in _old_units(subject, comparison, every)}
    blind = {unit: cases for unit, cases in every.items() if unit in expecting_something and unit not in doubts}
    doubts |= {unit: CRASHES.format(unit) for unit in blind if unit in found.crashed}
    left = {unit: cases for unit, cases in blind.items() if unit not in doubts}
    if not left or 2 * len(found.by_unit) < len(proven):
        return doubts
    altered = changes(*subject.change.code_sides)
    loud = {change.path: damage.content for change in altered if (damage := gone(change)) is not None}
    run = await subject.cases(left, loud, alone, _DAMAGE)
    return doubts | {unit: QUIET.format(unit) for unit in noticing_of(run, left)}


def _old_units(subject: ProofSubject, comparison: Comparison, units: Collection[str]) -> list[str]:
    """Return those tests that the base has: under their names, or under others if only cases were added."""
    index, now = UnitIndex(subject.change.old), UnitIndex(subject.change.new)
    pairs = [(index.unit(entry.name), now.unit(entry.now), entry.now) for entry in comparison.changed if entry.now]
    renamed = {name for old, new, name in pairs if old and new and old.digest == new.digest and not old.skipped}
    return [unit for unit in units if unit in renamed or index.has(unit)]


def of_unchecked(idle: Collection[str], found: Noticed) -> tuple[str, ...]:
    """Return a sentence for each of these tests, whose checks could not be damaged, that noticed only by a crash."""
    return tuple(UNCHECKED.format(unit) for unit in sorted(found.by_unit.keys() & set(idle) - found.asserted))


async def of_presence(subject: ProofSubject, proven: Units, alone: TestRun, found: Noticed) -> tuple[str, ...]:
    """Return a sentence for each test that only notices that something is returned.

    Among the tests that noticed no more than that, those count that stay green when every changed function returns
    another value of the same type, whatever else is damaged then. Tests that expect a failure check no result.
    """
    noticing_little = [unit for unit, damage in found.by_unit.items() if damage.kind in _OF_PRESENCE]
    failures = damaged_expectations.of_failures(subject, noticing_little)
    suspects = {unit: proven[unit] for unit in noticing_little if unit not in failures}
    other = _other_values(subject)
    if not suspects or not other or found.is_time_over():
        return ()
    run = await subject.cases(suspects, other, alone, _DAMAGE)
    if run.broken_files or run.timed_out or not run.results:
        return ()
    blind = {unit: cases for unit, cases in suspects.items() if all(test in run.passed for test in cases)}
    tried = {(damage.path, damage.what) for damage in found.noticed + found.unnoticed if damage.kind in _LOUD_OR_EMPTY}
    of_values = [
        damage
        for damage in damages(*subject.change.code_sides)
        if damage.kind not in _LOUD_OR_EMPTY and _NOTHING.search(damage.what) is None
    ]
    for damage in chosen([damage for damage in of_values if (damage.path, damage.what) not in tried], TRIED):
        if not blind or found.is_time_over():
            break
        run = await subject.cases(blind, {damage.path: damage.content}, alone, _DAMAGE)
        noticing = noticing_of(run, blind)
        blind = {unit: cases for unit, cases in blind.items() if unit not in noticing}
    return tuple(PRESENCE.format(unit) for unit in sorted(blind))


def _other_values(subject: ProofSubject) -> dict[str, bytes]:
    altered = changes(*subject.change.code_sides)
    return {change.path: content for change in altered if (content := otherwise(change)) is not None}


async def of_readers(subject: ProofSubject, proven: Units, alone: TestRun, found: Noticed) -> tuple[str, ...]:
    """Return a sentence for each test that noticed damage inside of functions and does not need them to run.

    These functions raise at their beginning, and the rest of their text is unchanged: one run for all tests. Tests that
    expect a failure are left out. A test that reads instructions fails then as well, and is found by its text.
    """
    read = _reading_tests(subject, proven)
    inside = {unit: damage for unit, damage in found.by_unit.items() if damage.function and unit not in read}
    failures = damaged_expectations.of_failures(subject, inside)
    suspects = {unit: damage for unit, damage in inside.items() if unit not in failures}
    names = {(damage.path, damage.function) for damage in suspects.values()}
    over: dict[str, bytes] = {}
    for change in changes(*subject.change.code_sides):
        loud = gone(change, {name for path, name in names if path == change.path})
        over |= {change.path: loud.content} if loud is not None else {}
    told = [READS.format(unit, how) for unit, how in sorted(read.items())]
    if not over or found.is_time_over():
        return tuple(told)
    run = await subject.cases({unit: proven[unit] for unit in suspects}, over, alone, _DAMAGE)
    if run.timed_out or run.broken_files or not run.finished:
        return tuple(told)
    still = sorted(unit for unit in suspects if all(test in run.passed for test in proven[unit]))
    return (*told, *(UNRUN.format(unit, suspects[unit].function) for unit in still if suspects[unit].path in over))


def _reading_tests(subject: ProofSubject, proven: Units) -> Mapping[str, str]:
    """Return the tests whose text reads code, each with that part."""
    wanted = damaged_expectations.by_file(proven)
    return {
        f"{path}::{name}": seen[0]
        for path, names in wanted.items()
        for name, text in damaged_expectations.texts(subject, path, names).items()
        if (seen := _READS.search(text)) is not None
    }
