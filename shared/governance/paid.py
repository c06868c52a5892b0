"""The one gate of every paid call: reserve, call, settle. What nobody has settled counts as unknown."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import anyio
import structlog

from shared.clock import Clock
from shared.errors import EngineError, RunFailed
from shared.governance.budgets import Refusal
from shared.governance.endings import RunEnded
from shared.governance.failures import Category
from shared.governance.ledger import Ledger
from shared.governance.ledger_lines import Played
from shared.llm.port import Coder, Outcome, Request, Usage
from shared.llm.proxy.account import Reading

log = structlog.get_logger()

GRACE_SECONDS = 3600.0
"""How long a run may wait for its slot and its settling before it counts as one of unknown cost."""

SETTLE_SECONDS = 10.0
"""How long settling a run that was cut off may take; a stop by signal has 30 seconds in all."""


class BudgetWait(RunFailed):
    """A limit of day or week leaves no room for a run; it is tried again when older runs no longer count."""

    def __init__(self, sentence: str, until: datetime) -> None:
        super().__init__(sentence, category=Category.CREDIT, reset=until)


class Paid:
    """A coder whose runs are in the ledger."""

    def __init__(
        self,
        coder: Coder,
        ledger: Ledger,
        clock: Clock,
        reading: Callable[[str], Reading | None],
    ) -> None:
        """`reading` is what the model proxy knows of a run, None without one: all there is of one that is cut off.

        It is asked once a run.
        """
        self._coder = coder
        self._ledger = ledger
        self._clock = clock
        self._reading = reading
        self._unsettled: dict[str, tuple[float, str, Played]] = {}
        self._told = ""

    @property
    def name(self) -> str:
        """The configured word."""
        return self._coder.name

    async def run(self, request: Request) -> Outcome:
        """Make one call within the limits. Raises `BudgetWait` or `RunEnded` instead of a call, and `Transient`."""
        run = secrets.token_hex(8)
        await self._catch_up()
        limits = request.limits
        item = request.account or request.item
        if item != request.item:
            self._ledger.count(request.item, item)
        refused = await self._ledger.reserve(run, item, limits.budget_usd, limits.deadline_seconds + GRACE_SECONDS)
        if refused is not None:
            raise _refusal(refused)
        try:
            outcome = await self._coder.run(replace(request, run=run))
        except BaseException:
            seen = self._reading(run)
            with anyio.move_on_after(SETTLE_SECONDS, shield=True):
                await self._settle(run, Usage() if seen is None else seen.usage, Played(request.role))
            raise
        self._reading(run)
        await self._settle(run, outcome.usage, Played(outcome.role, outcome.backend, outcome.ending))
        return outcome

    async def _settle(self, run: str, usage: Usage, played: Played) -> None:
        usd, source = usage.cost_usd, usage.cost_source
        if usd is None:
            usd, source = self._ledger.limits.unknown_run, "unknown"
            self._escalate(usage)
        self._unsettled[run] = usd, source, played
        await self._catch_up(strict=False)

    async def _catch_up(self, *, strict: bool = True) -> None:
        """Settle what is not settled yet; without `strict` what fails is left for the next call."""
        for run, (usd, source, played) in tuple(self._unsettled.items()):
            try:
                await self._ledger.settle(run, usd, source, played)
            except EngineError as error:
                if strict:
                    raise
                log.warning("run_not_settled", outcome="retrying", run=run, usd=usd, error=str(error))
                return
            self._unsettled.pop(run, None)  # another item may have done it meanwhile

    def _escalate(self, usage: Usage) -> None:
        """Say that costs are not known, once per backend and day."""
        day = f"{datetime.fromtimestamp(self._clock.now(), UTC):%Y-%m-%d}"
        if self._told != day:
            self._told = day
            log.error(
                "cost_unknown",
                backend=self.name,
                model=usage.model,
                counted_usd=self._ledger.limits.unknown_run,
                next_step="name the model's price under `prices` in the configuration",
            )


def _refusal(refused: Refusal) -> Exception:
    if refused.until is None:
        return RunEnded(refused.sentence, Category.BUDGET, "Raise the limit under `budgets`, or finish it by hand.")
    return BudgetWait(refused.sentence, refused.until)
