"""A check that the new tests mean what they say: their expectations are damaged, and each must go red."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from anyio import to_thread

from worker_agent.tdd.damage.expectations import (
    ExpectationDamage,
    ExpectationEdit,
    damaged_expectations,
    expected_tests,
    near_expectations,
    untouched,
)
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import PurposeKind, RunPurpose, TestId, TestRun


async def unmoved(
    subject: ProofSubject, proven: Mapping[str, tuple[TestId, ...]], alone: TestRun
) -> tuple[dict[str, str], frozenset[str]]:
    """Return tests that stay green although their expectations were damaged, with the kind; those without any.

    All tests are damaged at once, one run for each kind. A damage with which a file is not built proves nothing.
    """
    wanted = by_file(proven)
    files = subject.change.side(wanted, head=True)
    found: dict[str, str] = {}
    damages = await to_thread.run_sync(damaged_expectations, files, wanted)
    for number, damage in enumerate(damages, 1):
        purpose = RunPurpose(PurposeKind.EXPECTATIONS, number, len(damages))
        green = await _green_tests(subject, proven, alone, damage, purpose)
        found |= {unit: str(damage.kind) for unit in green - found.keys()}
    return found, frozenset(f"{path}::{name}" for path, name in untouched(damages, wanted))


async def tolerant(subject: ProofSubject, proven: Mapping[str, tuple[TestId, ...]], alone: TestRun) -> frozenset[str]:
    """Return the tests that stay green if a number that they expect is half as large again."""
    wanted = by_file(proven)
    files = subject.change.side(wanted, head=True)
    damage = near_expectations(files, wanted)
    if damage is None:
        return frozenset()
    return frozenset(await _green_tests(subject, proven, alone, damage, RunPurpose(PurposeKind.EXPECTATIONS)))


def of_failures(subject: ProofSubject, proven: Collection[str]) -> frozenset[str]:
    """Return the tests that expect only that something fails."""
    wanted = by_file(proven)
    files = subject.change.side(wanted, head=True)
    touched = defaultdict(frozenset, {one.kind: one.touched for one in damaged_expectations(files, wanted)})
    others = touched[ExpectationEdit.NEGATE_FIRST] | touched[ExpectationEdit.NEGATE_LAST]
    return frozenset(f"{path}::{name}" for path, name in touched[ExpectationEdit.EXCEPTION] - others)


def texts(subject: ProofSubject, path: str, names: Collection[str]) -> dict[str, str]:
    """Return the text of each of these tests of a changed file, with its decorators."""
    return {test.name: test.text for test in expected_tests(subject.change.new, {path: names})}


def by_file(units: Collection[str]) -> dict[str, set[str]]:
    """Return the names of tests (units) by their file."""
    wanted: dict[str, set[str]] = {}
    for unit in units:
        file, _, name = unit.partition("::")
        wanted.setdefault(file, set()).add(name)
    return wanted


async def _green_tests(
    subject: ProofSubject,
    proven: Mapping[str, tuple[TestId, ...]],
    alone: TestRun,
    damage: ExpectationDamage,
    purpose: RunPurpose,
) -> set[str]:
    """Run all tests of the damaged files; return the damaged tests all of whose cases still pass."""
    tests = {test for cases in proven.values() for test in cases}
    run = await subject.variant(damage.files.keys(), damage.files, tests, alone.seconds, purpose)
    touched = {f"{path}::{name}" for path, name in damage.touched} & proven.keys()
    passed: set[str] = set()
    other: set[str] = set()
    for test, result in run.results.items():
        (passed if test in run.passed else other).add(subject.index.of(result))
    return touched & passed - other
