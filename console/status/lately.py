"""Merges of the last 24 hours, and costs of the last 24 hours and 7 days: by the fences and by the ledger (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from console.status.row import Merged, Spent
from shared.budget.budgets import DAY, Books, BudgetLimits, Period, lines
from shared.lock.codec import ItemKey
from shared.lock.record import Fence
from shared.workflow import Role, Stage


def merged(fences: Mapping[ItemKey, Fence], at: datetime, titles: Mapping[int, str]) -> tuple[Merged, ...]:
    """The issues whose fences have come to `done` with a pull request in the day before `at`, newest first."""
    done = [
        fence
        for key, fence in fences.items()
        if key.kind is Role.WORKER and fence.stage is Stage.DONE and fence.pr and at - fence.at < DAY
    ]
    return tuple(
        Merged(fence.key.number, fence.pr, fence.at, titles.get(fence.key.number, ""))
        for fence in sorted(done, key=lambda fence: (fence.at, fence.key.number), reverse=True)
    )


def spent(books: Books, limits: BudgetLimits, at: datetime) -> Spent:
    """Return the amounts that count against the limits of day and week."""
    found = {line.period: line.used for line in lines(books, "", limits, at)}
    return Spent(found[Period.DAY], limits.day, found[Period.WEEK], limits.week)


def by_item(books: Books) -> dict[str, float]:
    """Return the cost of each item's runs, with items as `#42`."""
    found = dict(books.before)
    for run in books.runs:
        found[run.item] = found.get(run.item, 0.0) + run.usd
    return found
