"""The tests that notice damage of the code, and the time that damaged runs may take."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import anyio
import structlog
from anyio import to_thread

from worker_agent.tdd.damage.code import chosen, damages, of_file
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.proof.affected import readers_of
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import PurposeKind, RunPurpose, TestId, TestRun

log = structlog.get_logger()

SHARE = 0.25
"""The share of the other runs' time, for suites that take longer than `SHORT_SECONDS`."""

SHORT_SECONDS = 60.0
"""A suite that takes no longer is run as a whole to see whether it notices a file: names tell little about reach."""

SHORT_SUITE_SECONDS = 180.0
"""The seconds that damaged runs may take if the suite is quick."""

AT_LEAST = 3
"""The number of damages that are tried however long they take."""

_TAKEN_BACK = RunPurpose(PurposeKind.TAKEN_BACK)

Units = Mapping[str, tuple[TestId, ...]]
"""Each test with its cases."""


@dataclass
class Noticed:
    """The results of the damages: the tests that noticed each. Damages that break the build are in neither list."""

    tried: int = 0
    by_unit: dict[str, Damage] = field(default_factory=dict)
    noticed: list[Damage] = field(default_factory=list)
    unnoticed: list[Damage] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    """Files of which any damage was noticed in any way."""
    crashes: set[str] = field(default_factory=set)
    """The words for damages with which a test failed, though not by an assertion of its own."""
    crashed: set[str] = field(default_factory=set)
    """The tests that failed with a quiet damage, though not by an assertion of their own."""
    asserted: set[str] = field(default_factory=set)
    """The tests that failed by an assertion of their own with any damage."""
    seen: int = 0
    """Number of damages with which any test failed in any way."""
    silent: list[Damage] = field(default_factory=list)
    """Damages with which none failed, though all were run: only these may be reported as unnoticed.

    Tests that have noticed a damage are not run again, so that nothing is known about damages with which only the
    others were run.
    """
    cut_short: bool = False
    """True if the time was over before every test had noticed a damage."""
    untried: int = 0
    """Number of damages that were not tried because of the limit."""
    suite_seconds: float = 0.0
    """The time that base, red and head took, of which all damaged runs together may take a share."""
    begun: float = field(default_factory=anyio.current_time)

    def is_waited_for(self, unit: str, idle: Collection[str]) -> bool:
        """Return whether more damage shows more of a test."""
        return unit not in self.by_unit or (unit in idle and unit not in self.asserted)

    def is_time_over(self) -> bool:
        """Return whether no further damage may be tried."""
        seconds = SHARE * self.suite_seconds if self.suite_seconds > SHORT_SECONDS else SHORT_SUITE_SECONDS
        return self.tried >= AT_LEAST and anyio.current_time() - self.begun > seconds


async def noticing(
    subject: ProofSubject, proven: Units, alone: TestRun, suite_seconds: float, idle: Collection[str] = ()
) -> Noticed:
    """Damage the changed code, one place at a time, until each test has noticed a quiet damage.

    `alone` is a run of the tests' files on the undamaged head, `suite_seconds` is the time of the runs before. A test
    notices by an assertion, or by any failure when a piece of the change is taken back; of the `idle`, whose own checks
    could not be damaged, an assertion is waited for. A change without code is damaged in its documents and data.
    """
    found = Noticed(suite_seconds=suite_seconds)
    change = subject.change
    paths = change.code or change.changed - change.tests
    made = await to_thread.run_sync(damages, change.side(paths, head=False), change.side(paths, head=True))
    found.untried = max(0, len(made) - subject.rules.damages)
    tried = chosen(made, subject.rules.damages)
    for number, damage in enumerate(tried, 1):
        wanted = {unit: cases for unit, cases in proven.items() if found.is_waited_for(unit, idle)}
        if not wanted:
            break
        if found.is_time_over():
            found.cut_short = not proven.keys() <= found.by_unit.keys()
            break
        purpose = RunPurpose(PurposeKind.DAMAGE, number, len(tried))
        run = await subject.cases(wanted, {damage.path: damage.content}, alone, purpose)
        _note_result(found, damage, run, wanted, all_ran=len(wanted) == len(proven))
    return found


async def unnoticed_files(
    subject: ProofSubject, tests: Collection[str], head_run: TestRun, found: Noticed
) -> tuple[str, ...]:
    """Return the changed files with functions whose change no test notices.

    The test files that the change concerns notice a file if they fail when its changed functions raise. The remaining
    files are then taken back together to their base versions, and any test of a short suite, or one that names them,
    may notice that.
    """
    base, head = subject.change.code_sides
    asked = {path: loud for path in sorted(head) if path not in found.files and (loud := of_file(base, head, path))}
    missing = []
    for number, (path, loud) in enumerate(asked.items(), 1):
        purpose = RunPurpose(PurposeKind.DAMAGE, number, len(asked))
        run = await subject.variant(tests, {path: loud.content}, (), head_run.seconds, purpose)
        if not (run.timed_out or run.failed & head_run.passed or run.broken_files):
            missing.append(path)
    needed = [path for path in missing if path in base]
    if needed and await _are_needed(subject, {path: base[path] for path in needed}, head_run):
        return tuple(path for path in missing if path not in base)
    return tuple(missing)


async def _are_needed(subject: ProofSubject, before: Mapping[str, bytes], head_run: TestRun) -> bool:
    """Return whether some test fails with these changed files as they were on the base."""
    change = subject.change
    files = _witnesses(subject, before, head_run)
    files |= {test for test in change.tests if test in change.new and test in change.support}
    if not files:
        return False
    usual, run = await subject.variant(files), await subject.variant(files, before, purpose=_TAKEN_BACK)
    return bool(run.broken_files.keys() - usual.broken_files.keys() or (run.failed - usual.failed))


def _witnesses(subject: ProofSubject, paths: Collection[str], head_run: TestRun) -> frozenset[str]:
    """Return the test files that may notice these files: all of a short suite, else those that name one of them."""
    if head_run.seconds <= SHORT_SECONDS:
        return frozenset(result.file for result in head_run.results.values() if result.file)
    return readers_of(subject.change, paths)


def _note_result(found: Noticed, damage: Damage, run: TestRun, wanted: Units, *, all_ran: bool) -> None:
    """Note what a run of the tests `wanted` on damaged code shows; `all_ran`: these are all new tests."""
    found.tried += 1
    if run.broken_files or (not run.finished and not run.results):
        log.debug("damage_breaks_the_build", path=damage.path, line=damage.line, kind=str(damage.kind))
        return
    failing = _failures(run, wanted)
    if failing:
        found.files.add(damage.path)
        found.seen += 1
    elif all_ran:
        found.silent.append(damage)
    by = [unit for unit, tests in failing.items() if damage.quiet and _notices(run, tests, damage)]
    (found.noticed if by else found.unnoticed).append(damage)
    found.crashed.update(unit for unit in failing if damage.quiet)
    found.asserted.update(unit for unit, tests in failing.items() if any(run.results[test].asserted for test in tests))
    if failing and not by:
        found.crashes.add(damage.what)
    found.by_unit.update({unit: damage for unit in by if unit not in found.by_unit})


def noticing_of(run: TestRun, units: Units) -> frozenset[str]:
    """Return the tests that failed in a run, for any reason."""
    return frozenset(_failures(run, units))


def _failures(run: TestRun, units: Units) -> dict[str, tuple[TestId, ...]]:
    """Return the tests that failed, with their failed cases."""
    return {unit: failed for unit, cases in units.items() if (failed := tuple(t for t in cases if t in run.failed))}


def _notices(run: TestRun, tests: Collection[TestId], damage: Damage) -> bool:
    return damage.kind is DamageKind.HUNK or any(run.results[test].asserted for test in tests)
