"""A budget that is used up: a wait in the fence that every machine sees, and whose end a person may bring about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace

import pytest
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine
from paid_scene import Priced, settled
from worker_scene import CODE, TESTS, acks, calls, claims, fence, labels, status

from config.state import StateDirectory
from lab.agents import BUILD
from lab.github.clock import LabClock
from runtime.building.assembly import Process, open_repositories
from runtime.building.budget import RepositoryBudget
from shared.budget.budgets import BudgetLimits as Budgets
from shared.budget.ledger import Ledger
from shared.github.status import StatusBoard
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Result
from shared.workflow import Role


@asynccontextmanager
async def worker(engine: Engine, state: str, budgets: Budgets) -> AsyncIterator[Loop]:
    """Yield a worker whose scripted runs cost $3 each, with these budgets."""
    settings = engine.settings(state)
    with ExitStack() as stack:
        identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
        token = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
        process = Process(settings, Role.WORKER, engine.clock, identity, token)
        async with open_repositories(process) as (parts,):
            ledger = Ledger(parts.git.fences, parts.git.mirror, parts.github.server_time, budgets, "worker")
            own = RepositoryBudget(ledger, 5.0)
            coder = own.paid(process, parts.configured, Priced(3.0, parts.coder))
            comments, claimant = parts.github.comments, parts.claimant
            board = StatusBoard(comments, Role.WORKER, claimant.accounts, claimant.keys, own.table)
            parts = replace(parts, coder=coder, budget=own, status=board)
            loop = Loop(BUILD[Role.WORKER](parts), process.clock, interval_seconds=0.05)
            async with loop.open():
                yield loop


@pytest.mark.long
async def test_an_item_without_money_waits_where_all_can_see_it_and_another_machine_goes_on(engine: Engine) -> None:
    clock = engine.clock = LabClock()
    engine.script(TESTS + CODE)
    first = engine.ready("Greet people")
    async with worker(engine, "machine-1", Budgets(day=7)) as loop:
        await engine.until(lambda: bool(loop.ended), loop)
        assert [end.result for end in loop.ended] == [Result.PARKED]
        second = engine.ready("Greet people again")
        for _ in range(3):
            await engine.tick(loop)
    seen = await fence(engine, first)
    assert seen.wait is not None
    assert seen.wait.reason == "budget"
    assert 86_000 < (seen.wait.until - seen.at).total_seconds() <= 86_400
    assert labels(engine, first) == {"status:implementing"}
    assert "leaves $4.00 of $7.00" in status(engine, first)
    assert "| 24 hours | $3.00 | $7.00 | $4.00 | 43% | 1 |" in status(engine, first)
    assert acks(engine, second) == []  # refused before the claim
    engine.lab.close(REPOSITORY, second, actor=OWNER)
    for moved in (clock, engine.lab.clock):
        moved.advance(86_500)
    async with worker(engine, "machine-2", Budgets(day=12)) as loop:
        await engine.until(lambda: calls(engine, "implement") > 0, loop)
    assert (await fence(engine, first)).wait is None


async def parked(engine: Engine) -> int:
    """Make an issue whose tests are written and for whose code the day's budget does not suffice."""
    engine.clock = LabClock()
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with worker(engine, "machine-1", Budgets(day=7)) as loop:
        await engine.until(lambda: bool(loop.ended), loop)
    assert (await fence(engine, number)).wait is not None
    return number


@pytest.mark.long
async def test_a_wait_for_money_ends_when_a_person_raises_the_limit(engine: Engine) -> None:
    number = await parked(engine)
    before = await fence(engine, number)
    async with worker(engine, "machine-2", Budgets(day=7)) as loop:
        for _ in range(3):
            await engine.tick(loop)
        assert "leaves $4.00 of $7.00" in loop.skipped[0]
    assert (await fence(engine, number)).oid == before.oid
    async with worker(engine, "machine-1", Budgets(day=12)) as loop:
        await engine.until(lambda: bool(loop.ended), loop)
        assert [end.result for end in loop.ended] == [Result.HANDED_OVER]


@pytest.mark.long
async def test_an_item_whose_own_budget_is_used_up_goes_to_a_person_once_and_calls_nothing(engine: Engine) -> None:
    number = await parked(engine)
    assert isinstance(engine.clock, LabClock)
    for moved in (engine.clock, engine.lab.clock):
        moved.advance(901)
    async with worker(engine, "machine-2", Budgets(issue=7)) as loop:
        for _ in range(5):
            await engine.tick(loop)
        assert [end.result for end in loop.ended] == [Result.FAILED]
    assert labels(engine, number) == {"status:failed", "flag:budget-exceeded"}
    assert status(engine, number).count("Raise the limit under `budgets`") == 1
    assert claims(engine, number) == 2  # one on each machine
    assert calls(engine, "implement") == 0
    assert await settled(engine.lab.at(REPOSITORY).bare) == [(3.0, "test")]
