"""Paid runs of a coder with a price, and what the ledger says of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import anyio

from lab.github.clock import LabClock
from lab.github.repositories.bare import Bare
from shared.budget import ledger_lines
from shared.budget.budgeted_coder import Unpriced
from shared.budget.ledger import REF
from shared.budget.ledger_lines import Settlement
from shared.escalation.delivery import Escalation
from shared.llm.port import Coder, CoderCall, Ending, Request, RunOutcome, Usage

AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)

REQUEST = Request(CoderCall.IMPLEMENT, "#1", "t", "developer", "p")

UNKNOWN = Usage()


class Priced:
    """A coder whose runs cost what a test says; None: nobody knows. A proxy has measured `measured` of each run."""

    def __init__(
        self,
        usd: float | None,
        inner: Coder | None = None,
        name: str = "priced",
        measured: Usage = UNKNOWN,
    ) -> None:
        self.name = name
        self.usd = usd
        self.inner = inner
        self.measured = measured
        self.runs: list[str] = []
        self.taken: list[str] = []
        self.asked = anyio.Event()

    async def run(self, request: Request) -> RunOutcome:
        def take() -> Usage:
            self.taken.append(request.run)
            return self.measured

        self.runs.append(request.run)
        request.usage_so_far.read = take
        self.asked.set()
        outcome = await self.inner.run(request) if self.inner else RunOutcome(Ending.COMPLETED, "Done.")
        return replace(outcome, usage=Usage(cost_usd=self.usd, cost_source="test"))


async def settlements(remote: Bare) -> list[Settlement]:
    """Return the ledger's settlements of runs that have ended, newest first."""
    commits = await remote.log(None, await remote.sha(REF) or "", 100)
    entries = [ledger_lines.read(commit.message.strip()) for commit in commits]
    return [entry for entry in entries if isinstance(entry, Settlement)]


async def settled(remote: Bare) -> list[tuple[float, str]]:
    """Return cost and source of each settlement in the ledger, newest first."""
    return [(entry.usd, entry.source) for entry in await settlements(remote)]


@dataclass
class Told:
    """The messages that people were sent, at noon of a day that a test moves."""

    messages: list[Escalation] = field(default_factory=list)
    clock: LabClock = field(default_factory=lambda: LabClock(AT.timestamp() - LabClock().now()))

    def put(self, escalation: Escalation) -> None:
        self.messages.append(escalation)

    def unpriced(self) -> Unpriced:
        return Unpriced(self, "ada/directory", "https://github.com/ada/directory", self.clock)
