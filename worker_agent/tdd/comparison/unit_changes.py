"""The changes of each test of one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from worker_agent.tdd.comparison.model import ComparedTest, What
from worker_agent.tdd.comparison.project import File
from worker_agent.tdd.syntax.units import TestUnit
from worker_agent.tdd.syntax.units_found import is_conditional

_SHOWN = 80
"""The most characters of a reason that are shown."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A test file on both sides, with its tests; None if it does not exist on a side."""

    path: str
    old: File | None
    new: File | None
    before: Sequence[TestUnit]
    after: Sequence[TestUnit]


def unit_entries(pair: Pair) -> Iterator[ComparedTest]:
    """Yield the entries for the tests of a file, in the order of the base, then new ones."""
    before, after = _by_name(pair.before), _by_name(pair.after)
    for key, old in before.items():
        new = after.get(key)
        if new is None:
            yield _missing_test(pair, old)
        else:
            yield from _changes(pair, old, new)
    for key, new in after.items():
        if key not in before:
            text = f"{pair.path}::{new.name}: new test"
            yield ComparedTest(pair.path, new.name, new.line, What.ADDED, text, "", _text_of(pair.new, new))


def _by_name(units: Sequence[TestUnit]) -> dict[tuple[str, int], TestUnit]:
    """Map each test by its name and its index among the tests of that name."""
    counts: Counter[str] = Counter()
    found = {}
    for unit in units:
        found[unit.name, counts[unit.name]] = unit
        counts[unit.name] += 1
    return found


def _text_of(file: File | None, unit: TestUnit) -> str:
    """Return the source of a test."""
    return "" if file is None else file.content[unit.start : unit.end].decode("utf-8", "replace")


def _missing_test(pair: Pair, old: TestUnit) -> ComparedTest:
    """Return the entry for a missing test; if its body is still there, the runner just does not find it."""
    name = f"{pair.path}::{old.name}"
    kind, said = (What.SKIPPED, "no longer collected") if _is_hidden(pair, old) else (What.REMOVED, "removed")
    text = _text_of(pair.old, old)
    return ComparedTest(pair.path, old.name, old.line, kind, f"{name}: {said}", text, "", loses=True, fewer_checks=True)


def _changes(pair: Pair, old: TestUnit, new: TestUnit) -> Iterator[ComparedTest]:
    kind, said = _verdict(pair, old, new)
    if kind is None:
        return
    yield ComparedTest(
        pair.path,
        new.name,
        new.line,
        kind,
        f"{pair.path}::{new.name}: {said}",
        _text_of(pair.old, old),
        _text_of(pair.new, new),
        loses=_loses(old, new),
        fewer_checks=new.checks < old.checks,
    )


def _verdict(pair: Pair, old: TestUnit, new: TestUnit) -> tuple[What | None, str]:
    lost = Counter(old.cases) - Counter(new.cases)
    if new.skipped and new.skipped != old.skipped:
        if is_conditional(new.skipped) and (not old.skipped or is_conditional(old.skipped)):
            return What.STEPS, f"runs only under a condition ({_shorten(new.skipped)})"
        return What.SKIPPED, f"skipped now ({_shorten(new.skipped)})"
    if old.digest != new.digest and _is_hidden(pair, old):
        return What.SKIPPED, "hidden by a later definition of the same name"
    if lost:
        return What.CASES_REMOVED, f"{len(lost)} of its cases changed or removed"
    if old.digest != new.digest:
        if Counter(old.expectations) - Counter(new.expectations):
            return What.EXPECTATIONS, "its expectation changed"
        return What.STEPS, "its steps changed; all its expectations stay"
    if old.support != new.support:
        return What.SUPPORT, f"only what it uses changed ({_changed_support(old, new)})"
    if len(new.cases) > len(old.cases):
        return What.ADDED, f"{len(new.cases) - len(old.cases)} new cases"
    return None, ""


def _shorten(text: str) -> str:
    """Return a text on one line, of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def _is_hidden(pair: Pair, old: TestUnit) -> bool:
    """Return whether the old body is still in the file, but in no test; a test may have it in a `with` or a loop."""
    places = () if pair.new is None else pair.new.bodies.get(old.body, ())
    return bool(places) and not any(unit.start <= place < unit.end for unit in pair.after for place in places)


def _changed_support(old: TestUnit, new: TestUnit) -> str:
    before, after = dict(old.reaches), dict(new.reaches)
    names = sorted({name.lstrip(".'") for name in before.keys() | after.keys() if before.get(name) != after.get(name)})
    return ", ".join(names[:4]) or "its set-up"


def _loses(old: TestUnit, new: TestUnit) -> bool:
    """Return whether a test lost something: whether the change did more than add checks."""
    if Counter(old.cases) - Counter(new.cases) or (new.skipped and new.skipped != old.skipped):
        return True
    if old.digest == new.digest:
        return old.support != new.support
    if old.statements == new.statements or old.support != new.support:
        return True
    remaining = iter(new.statements)
    is_kept = all(statement in remaining for statement in old.statements)
    added = Counter(new.statements) - Counter(old.statements)
    return not is_kept or not all(statement.startswith("check ") for statement in added)
