"""Recent merges and costs, by fences and ledger: older entries and fences without a merge do not count."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from console.status.gather import cost_by_item, merged_lately, spent_lately
from console.status.row import Merged, Spent
from shared.budget.budgets import Books, BudgetLimits, Run
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.workflow import Role, Stage

NOW = datetime(2026, 11, 26, 8, 30, tzinfo=UTC)


def run(item: str, hours: float, usd: float) -> Run:
    return Run(f"{item}-{hours}", item, NOW - timedelta(hours=hours), usd)


BOOKS = Books((run("#1", 1, 2.0), run("#1", 30, 3.0), run("#2", 2, 0.5)), {"#1": 10.0, "#9": 1.0})


def test_day_and_week_are_counted_against_their_limits() -> None:
    assert spent_lately(BOOKS, BudgetLimits(day=100, week=500), NOW) == Spent(2.5, 100, 5.5, 500)


def test_each_item_counts_what_it_cost_ever() -> None:
    assert cost_by_item(BOOKS) == {"#1": 15.0, "#2": 0.5, "#9": 1.0}


def fence(number: int, hours: float, *, kind: Role = Role.WORKER, stage: Stage = Stage.DONE, pr: int = 9) -> Fence:
    return Fence(ItemKey(kind, number), 1, "a" * 32, "worker-a", stage, NOW - timedelta(hours=hours), pr=pr)


@pytest.mark.parametrize(
    ("found", "counted"),
    [
        (fence(1, 23.9), True),
        (fence(1, 24), False),
        (fence(1, 1, stage=Stage.WITHDRAWN), False),
        (fence(1, 1, stage=Stage.REVIEWING), False),
        (fence(1, 1, pr=0), False),
        (fence(1, 1, kind=Role.REVIEWER), False),
        (fence(1, 1, kind=Role.PLANNER), False),
    ],
)
def test_a_merge_counts_for_a_day(found: Fence, counted: bool) -> None:
    told = merged_lately({found.key: found}, NOW, {1: "Search"})
    assert told == ((Merged(1, 9, found.at, "Search"),) if counted else ())


def test_the_newest_merge_comes_first() -> None:
    found = [fence(1, 5), replace(fence(2, 1), pr=10)]
    assert [one.number for one in merged_lately({one.key: one for one in found}, NOW, {})] == [2, 1]
