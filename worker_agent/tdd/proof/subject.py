"""The change under proof, and the runs of variants of its head: damaged, with old tests, elsewhere, at another time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field

from shared.specification import Specification
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.pinned_files import pinned
from worker_agent.tdd.proof.unit_index import UnitIndex
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import ORDINARY, RunPurpose, TestId, TestRun

Run = Callable[[str, Overlay, Selection | None, float | None], Awaitable[TestRun]]
"""Runs the tests of a tree: with an overlay, of a selection (None: all), within seconds (None: the bench's own)."""

SLOWER = 4
"""The factor on the undamaged tests' time for a damaged run: a negated condition can loop for ever."""

LEAST_SECONDS = 20.0
"""The seconds that any damaged run may take."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The strictness of a proof, from the configuration: see `old_tests`, `tdd.damages` and `local_suite` there."""

    damages: int = 20
    old_tests: str = "justified"
    local_suite: str = "full"


def pinned_by(change: Change, specification: Specification) -> dict[str, bytes | None]:
    """Return the base's versions of the files that control how tests run, which no change can choose itself."""
    commands = [(suite.test_command, suite.directory) for suite in change.layout.suites]
    return pinned(change.old, change.new, commands, (*specification.files, *specification.may_change))


@dataclass(frozen=True, slots=True)
class ProofSubject:
    """A change with its runs so far. `pinned` are the base's versions of files that control the run."""

    change: Change
    run: Run
    rules: Rules = field(default_factory=Rules)
    specification: Specification = field(default_factory=lambda: Specification(""))
    pinned: Mapping[str, bytes | None] = field(default_factory=dict)
    index: UnitIndex = field(default_factory=UnitIndex)

    @classmethod
    def of(
        cls,
        change: Change,
        run: Run,
        rules: Rules,
        specification: Specification,
    ) -> ProofSubject:
        """Return the subject of a change, with its pinned files and the index of its tests on both sides."""
        index = UnitIndex(change.side(change.tests, head=True), change.support, change.old)
        return cls(change, run, rules, specification, pinned_by(change, specification), index)

    async def variant(
        self,
        files: Collection[str],
        over: Mapping[str, bytes | None] | None = None,
        tests: Collection[TestId] = (),
        alone_seconds: float | None = None,
        purpose: RunPurpose = ORDINARY,
        *,
        on_base: bool = False,
    ) -> TestRun:
        """Run the tests of `files` on the head, or `on_base`, with other files put over it.

        Only `tests` of them, if given. `alone_seconds` is their time on undamaged code; `purpose` is shown with the
        run.
        """
        limit = None if alone_seconds is None else max(LEAST_SECONDS, SLOWER * alone_seconds)
        laid = Overlay({**self.pinned, **(over or {})}, purpose=purpose)
        tree = self.change.base if on_base else self.change.head
        return await self.run(tree, laid, Selection(frozenset(files), frozenset(tests)), limit)

    async def cases(
        self, units: Mapping[str, Collection[TestId]], over: Mapping[str, bytes], alone: TestRun, purpose: RunPurpose
    ) -> TestRun:
        """Run all cases of these tests on the head with other files put over it; `alone` ran them on undamaged code."""
        tests = {test for cases in units.values() for test in cases}
        files = {test.partition("::")[0] for test in tests}
        return await self.variant(files, over, tests, alone.seconds, purpose)
