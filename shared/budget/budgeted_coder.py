"""The gate that every paid call passes: reserve, call, settle. A run that was never settled counts as unknown cost."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime

import anyio
import structlog

from shared.budget.budgets import Shortage
from shared.budget.ledger import Ledger
from shared.budget.ledger_lines import RunDetails
from shared.clock import Clock
from shared.errors import EngineError, RunFailed
from shared.escalation.delivery import Escalation
from shared.escalation.notifier import Sink
from shared.llm.endpoint import ESTIMATED, METERED
from shared.llm.port import Coder, Request, RunOutcome, Usage, UsageSoFar, plausible_usd
from shared.llm.role_router import RoleRouter
from shared.retry.failures import Category
from shared.retry.run_errors import RunEnded
from shared.text import one_line

log = structlog.get_logger()

GRACE_SECONDS = 3600.0
"""Seconds beyond its deadline that a run may wait for a slot and for settling, before its cost counts as unknown."""

SETTLE_SECONDS = 10.0
"""Seconds that settling a cancelled run may take; a stop by signal has 30 seconds in all."""


class BudgetWait(RunFailed):
    """A limit of day or week leaves no room for a run; it is tried again when older runs no longer count."""

    def __init__(self, sentence: str, until: datetime) -> None:
        super().__init__(sentence, category=Category.PERIOD_BUDGET, reset=until)


class BudgetedCoder:
    """A coder whose runs are recorded in the ledger."""

    def __init__(self, coder: Coder, ledger: Ledger, unpriced: Unpriced, unbegun: Usage) -> None:
        """`unbegun` is the usage of a run that ended while it waited for its turn: no endpoint was opened for it."""
        self.name = coder.name
        """The coder's name in the configuration."""
        self._coder = coder
        self._ledger = ledger
        self._unpriced = unpriced
        self._unbegun = unbegun
        self._unsettled: dict[str, tuple[float, str, RunDetails]] = {}

    async def run(self, request: Request) -> RunOutcome:
        """Make one call within the limits. Raises `BudgetWait` or `RunEnded` instead of a call, and `Transient`."""
        run = secrets.token_hex(8)
        await self._catch_up()
        limits = request.limits
        item = request.billed_to or request.item
        if item != request.item:
            self._ledger.count(request.item, item)
        refused = await self._ledger.reserve(run, item, limits.budget_usd, limits.deadline_seconds + GRACE_SECONDS)
        if refused is not None:
            raise _refusal(refused)
        usage_so_far = UsageSoFar(lambda: self._unbegun)
        try:
            outcome = await self._coder.run(replace(request, run=run, usage_so_far=usage_so_far))
        except BaseException:
            backend = self._coder.backend_of(request) if isinstance(self._coder, RoleRouter) else self.name
            cost = self._cost(backend, usage_so_far.read(), limits.budget_usd)
            with anyio.move_on_after(SETTLE_SECONDS, shield=True):
                await self._settle(run, cost, RunDetails(request.role))
            raise
        cost = self._cost(outcome.backend or self.name, outcome.usage, limits.budget_usd)
        details = RunDetails(outcome.role, outcome.backend, outcome.ending, outcome.rung, outcome.resumed)
        await self._settle(run, cost, details)
        return outcome

    def _cost(self, backend: str, usage: Usage, reserved: float) -> tuple[float, str]:
        """Return the cost that a run counts, and its source. Only the proxy may report more than was reserved."""
        told = plausible_usd(usage.cost_usd)
        if told is not None:
            return told if usage.cost_source in {METERED, ESTIMATED} else min(told, reserved), usage.cost_source
        usd = max(self._ledger.limits.unknown_run, reserved)
        self._unpriced.tell(backend, usage.model, usd)
        return usd, "unknown"

    async def _settle(self, run: str, cost: tuple[float, str], details: RunDetails) -> None:
        usd, source = cost
        self._unsettled[run] = usd, source, details
        await self._catch_up(strict=False)

    async def _catch_up(self, *, strict: bool = True) -> None:
        """Settle every run not settled yet; without `strict`, a failure is logged and left for the next call."""
        for run, (usd, source, details) in tuple(self._unsettled.items()):
            try:
                await self._ledger.settle(run, usd, source, details)
            except EngineError as error:
                if strict:
                    raise
                log.warning("run_not_settled", outcome="retrying", run=run, usd=usd, error=str(error))
                return
            self._unsettled.pop(run, None)  # another item may have done it meanwhile


def _refusal(refused: Shortage) -> Exception:
    if refused.until is None:
        return RunEnded(refused.sentence, Category.RUN_BUDGET, "Raise the limit under `budgets`, or finish it by hand.")
    return BudgetWait(refused.sentence, refused.until)


SENTENCE_CHARS = 500


class Unpriced:
    """Reports runs of unknown cost, in the log and in a message to people; no thread, because no item is concerned."""

    def __init__(self, sink: Sink, repository: str, page: str, clock: Clock) -> None:
        """`page` is the repository's web page."""
        self._sink = sink
        self._repository = repository
        self._page = page
        self._clock = clock
        self._reported: dict[str, str] = {}

    def tell(self, backend: str, model: str, usd: float) -> None:
        """Report that a run of `backend` has unknown cost and counts as `usd`; once per backend and day (UTC)."""
        day = f"{datetime.fromtimestamp(self._clock.now(), UTC):%Y-%m-%d}"
        if self._reported.get(backend) == day:
            return
        self._reported[backend] = day
        used = f" with the model {model}" if model else ""
        sentence = one_line(
            f"Nobody knows what a run of {backend}{used} has cost: it counts ${usd:.2f}. It was cut off, or its model "
            "has no price: then name one under `prices` in the configuration.",
            SENTENCE_CHARS,
        )
        # The id is made of these, so that a restart and another machine send no second message of the day.
        one = Escalation(self._repository, 0, f"unpriced-{backend}-{day}", "unpriced", sentence, self._page)
        log.error("cost_unknown", backend=backend, model=model, counted_usd=usd, sentence=sentence, id=one.id)
        self._sink.put(one)
