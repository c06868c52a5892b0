"""The ledger on a real git server: machines that share nothing else never spend more than the limit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from fakes.unasked import UnaskedFences, UnaskedMirror
from git_remote import fences_of, machine, remote_at
from ledger_scene import START, Times, ledger_on, written

from runtime.building.budget import RepositoryBudget
from shared.budget.budgets import BudgetLimits, Period, Shortage
from shared.budget.ledger import REF, Ledger
from shared.budget.ledger_lines import Reservation, Settlement
from shared.errors import UnknownOutcome
from shared.git.fences import Fences
from shared.git.history import Commit
from shared.lock.port import RefUpdate


@pytest.mark.parametrize(
    ("limits", "period", "days"),
    [
        (BudgetLimits(issue=100, day=20, week=100), Period.DAY, 1),
        (BudgetLimits(issue=100, day=100, week=20), Period.WEEK, 7),
    ],
    ids=["day", "week"],
)
async def test_three_machines_at_once_never_reserve_more_than_the_limit(
    tmp_path: Path, limits: BudgetLimits, period: Period, days: int
) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    machines = [await ledger_on(tmp_path / f"m{n}", remote, times, limits) for n in range(3)]
    answers: dict[str, Shortage | None] = {}

    async def spend(ledger: Ledger, name: str) -> None:
        answers[name] = await ledger.reserve(name, f"#{name}", 5, 60)

    async with anyio.create_task_group() as group:
        for number, ledger in enumerate(machines):
            for turn in range(3):
                group.start_soon(spend, ledger, f"{number}{turn}")
    granted = [name for name, answer in answers.items() if answer is None]
    assert len(granted) == 4
    assert all(f"The budget of the last {period} leaves" in answer.sentence for answer in answers.values() if answer)
    entries = await written(remote)
    assert sorted(entry.run for entry in entries) == sorted(granted)
    # What turns out cheaper makes room for the others, whoever settles it.
    for name in granted[:2]:
        await machines[int(name[0])].settle(name, 1.0, "claude")
    assert await machines[1].reserve("more", "#7", 5, 60) is None
    assert await machines[2].reserve("too much", "#8", 5, 60) is not None
    times.at += timedelta(days=days, seconds=-1)
    assert await machines[2].reserve("too early", "#8", 5, 60) is not None
    times.at += timedelta(seconds=1)
    assert await machines[2].reserve("later", "#8", 5, 60) is None


async def test_every_line_is_a_commit_on_the_one_before_it(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    one = await ledger_on(tmp_path / "a", remote, times, BudgetLimits())
    other = await ledger_on(tmp_path / "b", remote, times, BudgetLimits(), "reviewer")
    await one.reserve("r1", "#1", 5, 60)
    await other.reserve("r2", "#57", 5, 60)
    await one.settle("r1", 0.25, "claude")
    await one.settle("r1", 0.25, "claude")
    await one.reserve("r1", "#1", 5, 60)
    entries = await written(remote)
    assert entries == [
        Reservation("r1", "worker", "#1", 5, START + timedelta(seconds=60), START),
        Reservation("r2", "reviewer", "#57", 5, START + timedelta(seconds=60), START),
        Settlement("r1", 0.25, "claude", START),
    ]
    commits = await remote.log(None, await remote.sha(REF) or "", 10)
    assert [len(commit.parents) for commit in commits] == [1, 1, 0]


async def test_a_run_that_nobody_settles_counts_as_unknown_for_every_machine(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    dead = await ledger_on(tmp_path / "a", remote, times, BudgetLimits(issue=25))
    alive = await ledger_on(tmp_path / "b", remote, times, BudgetLimits(issue=25))
    assert await dead.reserve("killed", "#1", 5, 60) is None
    assert await alive.reserve("again", "#1", 5, 60) is None  # 15 + 5
    await alive.settle("again", 5, "claude")
    times.at += timedelta(minutes=5)
    assert await alive.reserve("third", "#1", 5, 60) is None  # 15 + 5 + 5
    await alive.settle("third", 5, "claude")
    refused = await alive.reserve("fourth", "#1", 0.01, 60)
    assert refused is not None
    assert ("The budget of issue #1 leaves" in refused.sentence, refused.until) == (True, None)
    await dead.settle("killed", 0.5, "proxy estimate")
    assert await alive.reserve("fifth", "#1", 5, 60) is None


class Overtaken(UnaskedFences):
    """Fences that another machine reaches first, once, between the look and the push."""

    def __init__(self, inner: Fences, other: Ledger) -> None:
        self._inner = inner
        self._other: Ledger | None = other

    async def read(self, ref: str) -> tuple[str, str] | None:
        return await self._inner.read(ref)

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        other, self._other = self._other, None
        if other is not None:
            assert await other.reserve("faster", "#2", 5, 60) is None
        return await self._inner.advance(ref, message, expected, parents, updates)


async def test_the_last_money_taken_between_the_look_and_the_push_is_seen(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    other = await ledger_on(tmp_path / "b", remote, times, BudgetLimits(day=9))
    mirror = await machine(tmp_path / "a", str(remote.path))
    ledger = Ledger(Overtaken(fences_of(mirror), other), mirror, times, BudgetLimits(day=9), "worker")
    refused = await ledger.reserve("slower", "#1", 5, 60)
    assert refused is not None
    assert f"The budget of the last {Period.DAY} leaves" in refused.sentence
    assert [entry.run for entry in await written(remote)] == ["faster"]


class Losing(UnaskedFences):
    """Fences whose replies get lost, after the write or before it."""

    def __init__(self, inner: Fences, losses: Sequence[bool]) -> None:
        self._inner = inner
        self._losses = list(losses)

    async def read(self, ref: str) -> tuple[str, str] | None:
        return await self._inner.read(ref)

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        if not self._losses:
            return await self._inner.advance(ref, message, expected, parents, updates)
        if self._losses.pop(0):
            await self._inner.advance(ref, message, expected, parents, updates)
        raise UnknownOutcome("lost")


@pytest.mark.parametrize("losses", [(True,), (False,), (False, True), (True, False, True)])
async def test_a_lost_reply_is_neither_a_second_line_nor_none(tmp_path: Path, losses: tuple[bool, ...]) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    mirror = await machine(tmp_path / "a", str(remote.path))
    ledger = Ledger(Losing(fences_of(mirror), losses), mirror, times, BudgetLimits(), "worker")
    assert await ledger.reserve("r1", "#1", 5, 60) is None
    await ledger.settle("r1", 1, "claude")
    assert [entry.run for entry in await written(remote)] == ["r1", "r1"]


async def test_a_new_machine_reads_the_balance_and_not_what_lies_before_it(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    limits = BudgetLimits(issue=25, day=100, week=500)
    old = await ledger_on(tmp_path / "a", remote, times, limits)
    for number in range(3):
        await old.reserve(f"old{number}", "#1", 5, 60)
        await old.settle(f"old{number}", 6, "claude")
    times.at += timedelta(days=10)
    await old.reserve("balanced", "#2", 5, 60)
    assert [entry.run for entry in old._log.entries] == ["balanced"], "although nobody else has written anything"
    assert "| issue | $18.00 |" in old.table("#1")
    asked: list[int] = []
    mirror = await machine(tmp_path / "b", str(remote.path))

    class Counting(UnaskedMirror):
        async def log(self, ref: str, limit: int, *, without: str = "") -> Sequence[Commit]:
            asked.append(limit)
            return await mirror.log(ref, min(limit, 3))

    fresh = Ledger(fences_of(mirror), Counting(), times, limits, "worker")
    refused = await fresh.reserve("new", "#1", 8, 60)
    assert refused is not None
    assert "leaves $7.00 of $25.00" in refused.sentence
    assert "**Budget**" in fresh.table("#2")
    assert "| issue | $18.00 | $25.00 | $7.00 | 72% | 0 | - |" in fresh.table("#1")
    assert len(asked) == 1


async def test_claims_ask_a_purse_that_reads_seldom(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    limits = BudgetLimits(issue=25, day=8, week=100)
    here, there = [await ledger_on(tmp_path / name, remote, times, limits) for name in "ab"]
    budget_check = RepositoryBudget(there, 5)
    assert await budget_check.shortage(1) is None
    await here.reserve("r1", "#1", 5, 60)
    assert await budget_check.shortage(1) is None  # known for some seconds more
    times.at += timedelta(seconds=31)
    short = await budget_check.shortage(1)
    assert short is not None
    assert short.until == START + timedelta(days=1)
    assert "The budget of the last 24 hours leaves $3.00 of $8.00" in short.sentence
