"""The ledger of one repository: a git ref that all agents, wherever they run, advance by compare-and-swap.

Costs are reserved before a call and settled after it, so parallel agents never overshoot.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import anyio
import structlog

from shared.budget import budgets, ledger_lines
from shared.budget.budgets import Books, BudgetLimits, Shortage
from shared.budget.ledger_lines import NO_DETAILS, Entry, Reservation, RunDetails, Settlement
from shared.errors import Transient
from shared.git.append_only_log import AppendOnlyLog
from shared.git.ports import Fences, Mirror
from shared.newest import Newest

log = structlog.get_logger()

REF = "refs/ack/ledger"

TRIES = 40
"""Lost races in a row until a write is put off; in each round some writer wins."""

FRESH = timedelta(seconds=30)
"""Age up to which the lines read last may refuse a claim; a call always reads the ledger anew."""


UPGRADE = timedelta(hours=1)
"""Delay of a run that was refused because this agent is outdated: longer than a pause that keeps its lease."""

OUTDATED = (
    f"The ledger of costs ({REF}) has lines of version {{version}}, and this agent reads version {{known}}: "
    "it begins no paid run, because it would count too little. Upgrade this agent."
)


class Ledger:
    """The record of what the agents of one repository have spent, and the limits on it."""

    def __init__(
        self, fences: Fences, history: Mirror, server_time: Callable[[], datetime], limits: BudgetLimits, kind: str
    ) -> None:
        """`kind` is the word of the agent that writes: planner, worker or reviewer."""
        self.limits = limits
        self._now = server_time
        self._kind = kind
        self._log: AppendOnlyLog[Entry] = AppendOnlyLog(
            REF, fences, history, ledger_lines.read, ledger_lines.VERSION, ledger_lines.until_balanced
        )
        self._read_at: datetime | None = None
        self._warned: Newest[tuple[str, str], None] = Newest()
        self._billed_to: Newest[str, str] = Newest()
        self._writing = anyio.Lock()

    def count(self, item: str, billed_to: str) -> None:
        """Count the runs for `item` to `billed_to`, another item."""
        self._billed_to[item] = billed_to

    async def reserve(self, run: str, item: str, usd: float, seconds: float) -> Shortage | None:
        """Reserve `usd` for a run that ends within `seconds`; return the refusal if a limit forbids it.

        Raises `Transient` if it cannot be recorded: then nothing may be paid.
        """
        async with self._writing:
            for _ in range(TRIES):
                await self._read()
                now = self._now()
                if any(entry.run == run for entry in self._log.entries):
                    return None  # an earlier write whose reply was lost
                refused = self._outdated_refusal(now) or budgets.refusal(self._books(now), item, usd, self.limits, now)
                if refused is not None:
                    return refused
                until = now + timedelta(seconds=seconds)
                due = ledger_lines.balance_due(self._log.entries, now, self.limits.unknown_run)
                if await self._append(Reservation(run, self._kind, item, usd, until, now, due)):
                    self._warn(item, usd)
                    return None
        raise Transient("The ledger of costs is written by many at once; the run is put off.")

    async def settle(self, run: str, usd: float, source: str, details: RunDetails = NO_DETAILS) -> None:
        """Record what a run has cost. Raises `Transient`; a repeated call does no harm."""
        async with self._writing:
            for _ in range(TRIES):
                await self._read()
                if any(isinstance(entry, Settlement) and entry.run == run for entry in self._log.entries):
                    return
                if await self._append(Settlement(run, usd, source, self._now(), details)):
                    return
        raise Transient("The ledger of costs is written by many at once; a run is settled later.")

    async def refusal(self, item: str, usd: float) -> Shortage | None:
        """Return the refusal of `usd` for `item`, or None, by lines up to `FRESH` old. Raises `Transient`."""
        async with self._writing:
            if self._read_at is None or not timedelta() <= self._now() - self._read_at < FRESH:
                await self._read()
        now, billed_to = self._now(), self._billed_to.get(item, item)
        return self._outdated_refusal(now) or budgets.refusal(self._books(now), billed_to, usd, self.limits, now)

    async def spent(self, item: str) -> float:
        """Return the US dollars that all runs for `item` have cost, each as it was settled. Raises `Transient`."""
        async with self._writing:
            await self._read()
        now, billed_to = self._now(), self._billed_to.get(item, item)
        return budgets.limit_states(self._books(now), billed_to, self.limits, now)[0].used

    def table(self, item: str) -> str:
        """Return the budget table for people, by the lines read last; empty before the first read."""
        if self._read_at is None:
            return ""
        now = self._now()
        books = self._books(now)
        states = budgets.limit_states(books, self._billed_to.get(item, item), self.limits, now)
        found = budgets.table(states, self.limits, now)
        outdated = self._outdated_refusal(now)
        if outdated is not None:
            return f"{found}\n\n{outdated.sentence}"
        unknown = sum(run.source == "unknown" for run in books.runs)
        if not unknown:
            return found
        each = f"${self.limits.unknown_run:.2f} each, or their budget if that is more"
        return f"{found}\n\nRuns whose cost nobody knows: {unknown}, counted as {each}."

    def _books(self, now: datetime) -> Books:
        return ledger_lines.books(self._log.entries, now, self.limits.unknown_run)

    def _outdated_refusal(self, now: datetime) -> Shortage | None:
        """Return a refusal if the ledger has lines that this agent cannot read: it would count too little.

        An upgraded agent does not have to wait for `until`: such a wait only informs.
        """
        if not self._log.newer:
            return None
        return Shortage(OUTDATED.format(version=self._log.newer, known=ledger_lines.VERSION), now + UPGRADE)

    async def _append(self, entry: Entry) -> bool:
        """Append an entry; return whether that is known to have worked. If not, the next read shows it.

        Lines that its balance covers are dropped: where nobody else writes, no reading would ever do it.
        """
        if not await self._log.append(ledger_lines.write(entry), entry):
            return False
        if isinstance(entry, Reservation) and entry.balance is not None:
            self._log.entries = ledger_lines.needed(self._log.entries)
        return True

    async def _read(self) -> None:
        """Read the lines from the server; lines that the newest balance covers are dropped."""
        if await self._log.renew():
            self._log.entries = ledger_lines.needed(self._log.entries)
        self._read_at = self._now()

    def _warn(self, item: str, usd: float) -> None:
        now = self._now()
        for state in budgets.warnings(self._books(now), item, self.limits, now, usd):
            warning = (state.period, item if state.period is budgets.Period.ISSUE else f"{now:%Y-%m-%d}")
            if warning not in self._warned:
                self._warned[warning] = None
                log.warning(
                    "budget_nearly_used_up",
                    period=str(state.period),
                    used_usd=round(state.used, 2),
                    limit_usd=state.limit,
                    item=item,
                )
