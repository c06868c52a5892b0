"""Test-first cycles: red, then green, each judged by machine on committed trees only."""

from __future__ import annotations

from shared.errors import Blocked
from shared.github.ports import StatusComments
from shared.lock.hold import Held
from shared.models import Issue
from worker_agent.phase_tools import PhaseTools
from worker_agent.tdd.phases.activation_phase import ActivationPhase
from worker_agent.tdd.phases.green_phase import GreenPhase
from worker_agent.tdd.phases.plain_phase import PlainPhase
from worker_agent.tdd.phases.quality_fix import QualityFix
from worker_agent.tdd.phases.red_phase import RedPhase
from worker_agent.tdd.tree_verification import TreeVerification

RETRIES = 5
"""Retries of a call whose result is refused for a reason that uses no attempt."""


class Cycle:
    """Tests first, then the code: for all criteria together, or for one criterion after the other.

    `test_retries`: for tests that do not compile, do not collect or prove nothing; `regression_retries`: for
    implementations that break tests which passed before.
    """

    def __init__(
        self,
        tools: PhaseTools,
        status: StatusComments,
        quality_fix: QualityFix | None = None,
        *,
        test_retries: int = RETRIES,
        regression_retries: int = RETRIES,
    ) -> None:
        verification = TreeVerification(tools)
        self._activation = ActivationPhase(tools, status, verification)
        self._plain = PlainPhase(tools, status, verification)
        self._red = RedPhase(tools, status, verification, test_retries)
        self._green = GreenPhase(tools, status, verification, quality_fix or QualityFix(tools), regression_retries)

    async def write_tests(self, held: Held, issue: Issue) -> tuple[str, ...]:
        """Do the red phase of the next cycle; see `RedPhase.write_tests`, and for a pending test `ActivationPhase`."""
        if await self._plain.begin(held, issue) or await self._activation.begin(held, issue):
            return ()
        return await self._red.write_tests(held, issue)

    async def implement(self, held: Held, issue: Issue, limit: int) -> None:
        """Make one attempt of the green phase; see `GreenPhase.implement`."""
        if not await self._plain.implement(held, issue, limit):
            await self._green.implement(held, issue, limit)

    def attempts_used_up(self, held: Held, limit: int) -> Blocked:
        """Return the error that ends a cycle whose attempts are used up."""
        return self._plain.used_up(held, limit) or self._green.attempts_used_up(held, limit)
