"""The ledger of one repository in real git, with times that a test moves."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from git_remote import fences_of, machine

from lab.github.repositories.bare import Bare
from shared.budget import ledger_lines
from shared.budget.budgets import BudgetLimits
from shared.budget.ledger import REF, Ledger

START = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


class Times:
    """GitHub's time, moved by hand."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        return self.at


async def ledger_on(directory: Path, remote: Bare, times: Times, limits: BudgetLimits, kind: str = "worker") -> Ledger:
    """Return the ledger as one machine sees it."""
    mirror = await machine(directory, str(remote.path))
    return Ledger(fences_of(mirror), mirror, times, limits, kind)


async def written(remote: Bare) -> list[ledger_lines.Entry]:
    """Return the ledger's lines on the server, oldest first."""
    oid = await remote.sha(REF)
    commits = await remote.log(None, oid, 1000) if oid else []
    entries = [ledger_lines.read(commit.message.strip()) for commit in commits]
    return [entry for entry in reversed(entries) if entry is not None]
