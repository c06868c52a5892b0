"""The board of a repository, as a person on a machine of their own sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from engine import ENGINE, WRITES, Engine

from console.history import repository_reader
from console.history.repository_reader import OpenRepository
from console.status.gather import Looking
from console.status.row import ItemRow
from shared.budget.budgets import BudgetLimits


@asynccontextmanager
async def visited(engine: Engine, state: str = "reader") -> AsyncIterator[OpenRepository]:
    """Yield the repository on a person's machine, on which no agent has ever run."""
    environment = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    async with repository_reader.visited(engine.settings(state), environment, engine.clock) as ((visit,), _):
        yield visit


def looking(visit: OpenRepository) -> Looking:
    return Looking(visit, timeout=1800, limits=BudgetLimits(), titled=True)


async def row_of(engine: Engine, number: int) -> ItemRow:
    """Return the board's row of one item."""
    async with visited(engine) as visit:
        board = await looking(visit).look()
    (row,) = [row for row in board.rows if row.number == number]
    return row
