"""Construction of one repository's budget: its ledger, and the check that every paid run passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from runtime.building.sign_in import git_server
from shared.budget.budgeted_coder import BudgetedCoder, Unpriced
from shared.budget.budgets import BudgetLimits, Shortage
from shared.budget.ledger import Ledger
from shared.llm import cli_spec
from shared.llm.endpoint import UNSEEN
from shared.llm.port import NOT_RUN
from shared.llm.proxy.server import ModelProxy

if TYPE_CHECKING:
    from config.repository import RepositorySettings
    from runtime.building.process import Process
    from shared.git.fences import Fences
    from shared.git.mirror import Mirror
    from shared.llm.port import Coder


@dataclass(frozen=True, slots=True)
class RepositoryBudget:
    """The budget of a repository's runs; satisfies `BudgetCheck`.

    `ledger` None: they cost nothing, and nothing is written down.
    """

    ledger: Ledger | None
    run_usd: float

    async def shortage(self, number: int) -> Shortage | None:
        """Return why no run for an item could be paid for now; None if one could: claims ask first."""
        return None if self.ledger is None else await self.ledger.refusal(f"#{number}", self.run_usd)

    def table(self, number: int) -> str:
        """Return the budget table for an item's status comment."""
        return "" if self.ledger is None else self.ledger.table(f"#{number}")

    async def spent(self, number: int) -> float | None:
        """Return what an issue has cost; None if nothing is written down."""
        return None if self.ledger is None else await self.ledger.spent(f"#{number}")

    def paid(self, process: Process, configured: RepositorySettings, coder: Coder) -> Coder:
        """Return `coder`, each of whose runs is reserved and settled; unknown costs are told to the outbox."""
        if self.ledger is None:
            return coder
        page = f"{git_server(process.settings.github.api_url)}/{configured.name}"
        unpriced = Unpriced(process.outbox, configured.name, page, process.clock)
        by_key = all(isinstance(one, ModelProxy) for one in process.endpoints.values())
        return BudgetedCoder(coder, self.ledger, unpriced, UNSEEN if by_key else NOT_RUN)


def repository_budget(
    process: Process,
    configured: RepositorySettings,
    fences: Fences,
    mirror: Mirror,
    server_time: Callable[[], datetime],
) -> RepositoryBudget:
    """Return the budget of one repository as it is configured; a backend that is no program costs nothing."""
    own = process.settings.budgets
    limits = BudgetLimits(own.issue, own.day, own.week, own.warn, own.unknown_run)
    costs = any(cli_spec(name) for name in process.settings.backends(configured))
    return RepositoryBudget(Ledger(fences, mirror, server_time, limits, process.role) if costs else None, own.run)
