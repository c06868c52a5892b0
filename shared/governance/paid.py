"""The one gate of every paid call: reserve, call, settle. What nobody has settled counts as unknown."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import anyio
import structlog

from shared.errors import EngineError, Transient, Waiting
from shared.governance.budgets import Refusal
from shared.governance.endings import RunEnded
from shared.governance.ledger import Ledger
from shared.llm.port import Coder, Ending, Outcome, Request, Usage
from shared.llm.proxy.account import Reading
from shared.workflow import Flag

log = structlog.get_logger()

GRACE_SECONDS = 900.0
"""How long after its deadline a run may still be settled before it counts as one of unknown cost."""

SETTLE_SECONDS = 10.0
"""How long settling a run that was cut off may take; a stop by signal has 30 seconds in all."""

LATER = frozenset({Ending.OVERLOADED, Ending.USAGE_LIMIT})
"""Endings to which the reset that the proxy has seen belongs."""


class BudgetWait(Waiting):
    """A limit of day or week leaves no room for a run; it goes on when older runs no longer count."""

    def __init__(self, refused: Refusal, until: datetime) -> None:
        super().__init__("budget", until, refused.sentence)


class Paid:
    """A coder whose runs are in the ledger."""

    def __init__(
        self, coder: Coder, ledger: Ledger, server_day: Callable[[], datetime], reading: Callable[[str], Reading | None]
    ) -> None:
        """`reading` is what the model proxy knows of a run, None without one; it is asked once a run."""
        self._coder = coder
        self._ledger = ledger
        self._now = server_day
        self._reading = reading
        self._unsettled: dict[str, tuple[float, str]] = {}
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
        refused = await self._ledger.reserve(run, item, limits.budget_usd, limits.deadline_seconds + GRACE_SECONDS)
        if refused is not None:
            raise _refusal(refused)
        try:
            outcome = await self._coder.run(replace(request, run=run))
        except BaseException:
            with anyio.move_on_after(SETTLE_SECONDS, shield=True):
                await self._settle(run, _known(Usage(), self._reading(run)))
            raise
        seen = self._reading(run)
        outcome = _judged(outcome, seen)
        await self._settle(run, outcome.usage)
        return outcome

    async def _settle(self, run: str, usage: Usage) -> None:
        usd, source = usage.cost_usd, usage.cost_source
        if usd is None:
            usd, source = self._ledger.limits.unknown_run, "unknown"
            self._escalate(usage)
        self._unsettled[run] = usd, source
        await self._catch_up(strict=False)

    async def _catch_up(self, *, strict: bool = True) -> None:
        """Settle what is not settled yet; without `strict` what fails is left for the next call."""
        for run, (usd, source) in tuple(self._unsettled.items()):
            try:
                await self._ledger.settle(run, usd, source)
            except (Transient, EngineError) as error:
                if strict:
                    raise
                log.warning("run_not_settled", outcome="retrying", run=run, usd=usd, error=str(error))
                return
            del self._unsettled[run]

    def _escalate(self, usage: Usage) -> None:
        """Say that costs are not known, once per backend and day."""
        day = f"{self._now():%Y-%m-%d}"
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
        return RunEnded(refused.sentence, Flag.BUDGET_EXCEEDED)
    return BudgetWait(refused, refused.until)


def _judged(outcome: Outcome, seen: Reading | None) -> Outcome:
    """The outcome with what only the proxy knows: the cost, a budget used up, the end of a limit."""
    outcome = replace(outcome, usage=_known(outcome.usage, seen))
    if seen is None:
        return outcome
    if seen.refused and outcome.ending is not Ending.COMPLETED:
        return replace(outcome, ending=Ending.MAX_BUDGET, text="the budget of the run was used up", answer=None)
    if outcome.ending in LATER and outcome.retry_at is None and seen.retry_at is not None:
        return replace(outcome, ending=Ending.USAGE_LIMIT, retry_at=seen.retry_at)
    return outcome


def _known(usage: Usage, seen: Reading | None) -> Usage:
    """Money as the CLI reports it, else as the proxy has reckoned it; never less than the proxy has seen."""
    if seen is None:
        return usage
    if usage.cost_usd is None:
        return seen.usage
    more = seen.usage.cost_usd is not None and seen.usage.cost_usd > usage.cost_usd
    return replace(usage, cost_usd=seen.usage.cost_usd, cost_source=seen.usage.cost_source) if more else usage
