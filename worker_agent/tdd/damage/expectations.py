"""Damaged expectations: the new tests expect something else, so that each of them must go red."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from tree_sitter import Node

from worker_agent.tdd.damage import (
    expectations_classes,
    expectations_go,
    expectations_javascript,
    expectations_python,
    expectations_ruby,
    expectations_rust,
)
from worker_agent.tdd.damage.expectations_edits import Check, Edit, Edits, Flow, Group, edited, fits
from worker_agent.tdd.damage.expectations_flow import Reader, flow
from worker_agent.tdd.syntax.source import SCRIPTS, Language, Source, parse
from worker_agent.tdd.syntax.units import found_in
from worker_agent.tdd.syntax.units_found import FoundTest, is_conditional

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")

Touched = tuple[str, str]
"""Path and name of a test."""


class ExpectationEdit(StrEnum):
    """The kind of damage to an expectation."""

    NEGATE_FIRST = "negate_first"
    NEGATE_LAST = "negate_last"
    LITERAL = "literal"
    EXCEPTION = "exception"
    NEAR = "near"
    """A number is half as large again: no reason for a refusal, because tolerances are honest."""


@dataclass(frozen=True, slots=True)
class ExpectationDamage:
    """One run: the damaged files by path, and the tests that must fail with them.

    For the tests in `partly` it is not known whether each of their cases reaches a damaged check: at least one case
    must fail. They are among `touched`.
    """

    kind: ExpectationEdit
    files: dict[str, bytes]
    touched: frozenset[Touched]
    partly: frozenset[Touched] = frozenset()


_READERS: dict[Language, Callable[[Source, frozenset[int]], Reader]] = {
    Language.PYTHON: expectations_python.reader_of,
    **dict.fromkeys(SCRIPTS, expectations_javascript.reader_of),
    Language.GO: expectations_go.reader_of,
    Language.RUST: expectations_rust.reader_of,
    **dict.fromkeys((Language.JAVA, Language.PHP, Language.CSHARP), expectations_classes.reader_of),
    Language.RUBY: expectations_ruby.reader_of,
}


@dataclass
class _Run:
    """The edits of one kind, by file, with their tests."""

    edits: dict[str, set[Edit]] = field(default_factory=dict)
    touched: set[Touched] = field(default_factory=set)
    partly: set[Touched] = field(default_factory=set)


def damaged_expectations(
    files: Mapping[str, bytes], test_names: Mapping[str, Collection[str]]
) -> tuple[ExpectationDamage, ...]:
    """Return at most one damage of each kind, for all wanted tests at once.

    `files` are test files of the head, `test_names` the names of tests by file, as `TestUnit` has them. A test in which
    nothing can be damaged is in no `touched`: see `untouched`. Line numbers stay the same.
    """
    runs: dict[ExpectationEdit, _Run] = {kind: _Run() for kind in ExpectationEdit if kind is not ExpectationEdit.NEAR}
    for source, found, checks in _flows(files, test_names):
        _add_damages(runs, (source.path, found.name), checks)
    return tuple(_as_damage(kind, run, files) for kind, run in runs.items() if run.touched)


def near_expectations(
    files: Mapping[str, bytes], test_names: Mapping[str, Collection[str]]
) -> ExpectationDamage | None:
    """Return the first number that each wanted test expects, half as large again; None if no test expects one.

    A test that stays green has a tolerance as wide as that.
    """
    run = _Run()
    for source, found, checks in _flows(files, test_names):
        near = partial(_near_number, source.content)
        _add_edits(run, (source.path, found.name), _first_edits(checks, checks.sure, near))
    return _as_damage(ExpectationEdit.NEAR, run, files) if run.touched else None


def _near_number(content: bytes, check: Check) -> Edits:
    """Return the expected number of a check, half as large again; empty if it is no number."""
    edits = check.literal
    if len(edits) != 1 or not _NUMBER.fullmatch(edits[0].by.strip()):
        return ()
    text = content[edits[0].start : edits[0].end].decode("utf-8", "replace")
    if not _NUMBER.fullmatch(text):
        return ()
    number = float(text) if "." in text or "e" in text.lower() else int(text)
    other = number * 1.5 + (not number) if isinstance(number, float) else number + max(1, abs(number) // 2)
    return (replace(edits[0], by=repr(other)),)


def untouched(damages: Collection[ExpectationDamage], test_names: Mapping[str, Collection[str]]) -> frozenset[Touched]:
    """Return the wanted tests in which no expectation can be damaged."""
    every = {(path, name) for path, names in test_names.items() for name in names}
    return frozenset(every.difference(*(damage.touched for damage in damages)))


@dataclass(frozen=True, slots=True)
class ExpectedTest:
    """A test that can be read: its node, with its decorators, and the offsets of the results that its checks expect."""

    source: Source
    name: str
    node: Node
    places: tuple[int, ...]

    @property
    def text(self) -> str:
        """The text of the test."""
        return self.source.text(self.node)


def expected_tests(files: Mapping[str, bytes], test_names: Mapping[str, Collection[str]]) -> Iterator[ExpectedTest]:
    """Yield the wanted tests of these files that can be read; `test_names` as for `damaged_expectations`."""
    for source, found, checks in _flows(files, test_names):
        above = found.node.parent
        node = above if above is not None and above.type == "decorated_definition" else found.node
        places = tuple(edit.start for check in checks.demoted() for edit in check.literal)
        yield ExpectedTest(source, found.name, node, places)


def _as_damage(kind: ExpectationEdit, run: _Run, files: Mapping[str, bytes]) -> ExpectationDamage:
    damaged = {path: edited(files[path], edits) for path, edits in sorted(run.edits.items())}
    return ExpectationDamage(kind, damaged, frozenset(run.touched), frozenset(run.partly))


def _flows(
    files: Mapping[str, bytes], test_names: Mapping[str, Collection[str]]
) -> Iterator[tuple[Source, FoundTest, Flow]]:
    """Yield the wanted tests that are not skipped, each with its file and its checks."""
    for path in sorted(files.keys() & test_names.keys()):
        source = parse(path, files[path])
        every = found_in(source) if source is not None else ()
        if source is None or not every:
            continue
        reader = _READERS[source.language](source, frozenset(found.node.start_byte for found in every))
        for found in every:
            runs = not found.skipped or is_conditional(found.skipped)
            if found.name in test_names[path] and found.body is not None and runs:
                ends = reader.ended_by(found)
                yield source, found, flow(reader, found.body) if ends is None else ends


def _add_damages(runs: Mapping[ExpectationEdit, _Run], test: Touched, checks: Flow) -> None:
    exception = _first_edits(checks, checks.sure, lambda check: check.exception)
    first = _first_edits(checks, checks.sure, _negation)
    last = _first_edits(checks, checks.sure[::-1], _negation)
    if first != exception:
        _add_edits(runs[ExpectationEdit.NEGATE_FIRST], test, first)
    if last not in {first, exception}:
        _add_edits(runs[ExpectationEdit.NEGATE_LAST], test, last)
    _add_edits(runs[ExpectationEdit.LITERAL], test, _first_edits(checks, checks.sure, lambda check: check.literal))
    _add_edits(runs[ExpectationEdit.EXCEPTION], test, exception)


def _negation(check: Check) -> Edits:
    return check.negate or check.exception


def _first_edits(checks: Flow, groups: list[Group], edits_of: Callable[[Check], Edits]) -> tuple[Edits, bool]:
    """Return the edits of the first group whose checks all have some; else of all checks that may run, if all do."""
    for group in groups:
        if all(edits_of(check) for check in group):
            return tuple(edit for check in group for edit in edits_of(check)), False
    if not checks.sure and all(edits_of(check) for check in checks.maybe):
        return tuple(edit for check in checks.maybe for edit in edits_of(check)), True
    return (), False


def _add_edits(run: _Run, test: Touched, damage: tuple[Edits, bool]) -> None:
    edits, is_partly = damage
    present = run.edits.get(test[0], set())
    if not edits or not fits(edits, present):
        return
    run.edits[test[0]] = present | set(edits)
    run.touched.add(test)
    if is_partly:
        run.partly.add(test)
