"""Every paid call passes one gate: reserved before, settled after, refused as a wait; the key stays in the daemon."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest
import structlog
from git_remote import fences_of, machine, remote_at
from paid_scene import AT, REQUEST, Priced, Told, settled, settlements

from lab.github.repositories.bare import Bare
from lab.model_server import Issuer
from shared.budget.budgeted_coder import BudgetedCoder, BudgetWait
from shared.budget.budgets import BudgetLimits as Budgets
from shared.budget.ledger import Ledger
from shared.budget.ledger_lines import RunDetails
from shared.errors import EngineError
from shared.llm.codex_login import LoginLease
from shared.llm.endpoint import Endpoint
from shared.llm.port import NOT_RUN, Coder, Ending, Request, RunOutcome, Usage
from shared.llm.role_router import RoleOverride, RoleRouter
from shared.retry.failures import Category
from shared.retry.run_errors import RunEnded


class Endless(Priced):
    """One that never ends by itself."""

    async def run(self, request: Request) -> RunOutcome:
        await super().run(request)
        await anyio.sleep_forever()
        raise AssertionError


class Borrowing:
    """One that works by a lent login, without an end."""

    name = "borrowing"

    def __init__(self, lent: LoginLease) -> None:
        self.lent = lent
        self.asked, self.begun = anyio.Event(), anyio.Event()

    async def run(self, request: Request) -> RunOutcome:
        self.asked.set()
        async with self.lent.open(request) as endpoint:
            request.usage_so_far.read = endpoint.usage
            self.begun.set()
            await anyio.sleep_forever()
        raise AssertionError


async def paid(
    tmp_path: Path,
    coder: Coder,
    budgets: Budgets,
    told: Told | None = None,
) -> tuple[BudgetedCoder, Bare]:
    """Return a budget check before `coder`, and the server with the ledger."""
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path / "a", str(remote.path))
    ledger = Ledger(fences_of(mirror), mirror, lambda: AT, budgets, "worker")
    return BudgetedCoder(coder, ledger, (told or Told()).unpriced(), NOT_RUN), remote


async def test_a_run_is_reserved_settled_and_refused_when_the_issue_has_no_money_left(tmp_path: Path) -> None:
    coder = Priced(3.0)
    gate, remote = await paid(tmp_path, coder, Budgets(issue=10))
    for _ in range(2):
        assert (await gate.run(REQUEST)).ending is Ending.COMPLETED
    with pytest.raises(RunEnded, match=r"leaves \$4.00 of \$10.00") as refused:
        await gate.run(REQUEST)
    assert refused.value.category is Category.RUN_BUDGET
    other = replace(REQUEST, item="#57", billed_to="#1")  # its pull request
    with pytest.raises(RunEnded):
        await gate.run(other)
    assert await settled(remote) == [(3.0, "test")] * 2
    assert len(set(coder.runs)) == 2


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        (400.0, (5.0, "test")),
        (float("nan"), (15.0, "unknown")),
        (float("inf"), (15.0, "unknown")),
        (-3.0, (15.0, "unknown")),
        (1e9, (15.0, "unknown")),
    ],
)
async def test_what_a_program_says_of_its_cost_is_held_by_what_was_reserved(
    tmp_path: Path, told: float, counted: tuple[float, str]
) -> None:
    coder = Priced(told)
    gate, remote = await paid(tmp_path, coder, Budgets(unknown_run=15))
    await gate.run(REQUEST)
    assert (coder.taken, len(coder.runs)) == ([], 1)
    assert await settled(remote) == [counted]


async def test_the_ledger_says_who_made_a_run_as_which_role_and_how_it_ended(tmp_path: Path) -> None:
    endless = Endless(None)
    cast = RoleRouter(Priced(1.0), {"debugger": RoleOverride(endless)})
    gate, remote = await paid(tmp_path, cast, Budgets())
    await gate.run(REQUEST)
    async with anyio.create_task_group() as group:
        group.start_soon(gate.run, replace(REQUEST, role="debugger"))
        await endless.asked.wait()
        group.cancel_scope.cancel()
    assert [entry.details for entry in await settlements(remote)] == [
        RunDetails("debugger"),
        RunDetails(REQUEST.role, "priced", "completed"),
    ]


async def test_a_run_that_is_stopped_while_it_waits_for_a_login_has_cost_nothing(tmp_path: Path) -> None:
    """A run that got the login and is cut off has an unknown cost, because nothing is known of it."""
    (tmp_path / "auth.json").write_text(Issuer().login())
    lent = LoginLease(Endpoint(None, "", login=True, file=tmp_path / "auth.json"), tmp_path / "auth.json")
    coder = Borrowing(lent)
    gate, remote = await paid(tmp_path, coder, Budgets(unknown_run=15))
    async with anyio.create_task_group() as first:
        first.start_soon(gate.run, REQUEST)
        await coder.begun.wait()
        async with anyio.create_task_group() as second:
            coder.asked = anyio.Event()
            second.start_soon(gate.run, REQUEST)
            await coder.asked.wait()
            second.cancel_scope.cancel()
        assert await settled(remote) == [(0.0, "not run")]
        first.cancel_scope.cancel()
    assert await settled(remote) == [(15.0, "unknown"), (0.0, "not run")]


async def test_a_limit_of_time_is_a_wait_with_its_end(tmp_path: Path) -> None:
    coder = Priced(3.0)
    gate, _ = await paid(tmp_path, coder, Budgets(day=7))
    await gate.run(REQUEST)
    with pytest.raises(BudgetWait) as refused:
        await gate.run(REQUEST)
    assert (refused.value.category, refused.value.reset) == ("budget", AT.replace(day=23))
    assert len(coder.runs) == 1


async def test_an_unknown_cost_counts_fifteen_dollars_and_is_told_once_per_backend_and_day(tmp_path: Path) -> None:
    told = Told()
    cast = RoleRouter(Priced(None, name="one"), {"debugger": RoleOverride(Priced(None, name="two"))})
    gate, remote = await paid(tmp_path, cast, Budgets(issue=100), told=told)
    with structlog.testing.capture_logs() as logs:
        for role in ("developer", "developer", "debugger", "developer", "debugger"):
            await gate.run(replace(REQUEST, role=role))
        told.clock.advance(86_400)
        await gate.run(REQUEST)
    assert await settled(remote) == [(15.0, "unknown")] * 6
    epochs = ["unpriced-one-2026-11-22", "unpriced-two-2026-11-22", "unpriced-one-2026-11-23"]
    assert [one.epoch for one in told.messages] == epochs
    assert {(one.kind, one.repository, one.number) for one in told.messages} == {("unpriced", "ada/directory", 0)}
    assert told.messages[1].sentence.startswith("Nobody knows what a run of two has cost: it counts $15.00. ")
    assert told.messages[1].sentence.endswith("name one under `prices` in the configuration.")
    errors = [(entry["event"], entry["backend"]) for entry in logs if entry["log_level"] == "error"]
    assert errors == [("cost_unknown", name) for name in ("one", "two", "one")]


async def test_an_unknown_cost_counts_no_less_than_what_the_run_was_allowed_to_spend(tmp_path: Path) -> None:
    gate, remote = await paid(tmp_path, Priced(None), Budgets(issue=100, unknown_run=15))
    await gate.run(replace(REQUEST, limits=replace(REQUEST.limits, budget_usd=40.0)))
    assert await settled(remote) == [(40.0, "unknown")]


async def test_of_a_run_that_was_cut_off_the_backend_of_its_role_is_named(tmp_path: Path) -> None:
    told, endless = Told(), Endless(None, name="two")
    gate, _ = await paid(tmp_path, RoleRouter(Priced(1.0), {"debugger": RoleOverride(endless)}), Budgets(), told=told)
    await gate.run(REQUEST)
    assert told.messages == []
    async with anyio.create_task_group() as group:
        group.start_soon(gate.run, replace(REQUEST, role="debugger"))
        await endless.asked.wait()
        group.cancel_scope.cancel()
    assert [one.epoch for one in told.messages] == ["unpriced-two-2026-11-22"]


async def test_a_killed_run_is_settled_by_what_the_proxy_saw(tmp_path: Path) -> None:
    coder = Endless(None, measured=Usage(cost_usd=0.75, cost_source="proxy estimate"))
    gate, remote = await paid(tmp_path, coder, Budgets())
    async with anyio.create_task_group() as group:
        group.start_soon(gate.run, REQUEST)
        await coder.asked.wait()
        group.cancel_scope.cancel()
    assert await settled(remote) == [(0.75, "proxy estimate")]
    assert coder.taken == coder.runs


class Leaving(Priced):
    """While its first run goes on, the git server goes away."""

    server: Path

    async def run(self, request: Request) -> RunOutcome:
        if not self.runs:
            self.server.rename(self.server.with_name("away"))
        return await super().run(request)


async def test_nothing_is_paid_that_cannot_be_written_down_and_nothing_is_lost_that_was(tmp_path: Path) -> None:
    coder = Leaving(2.0)
    gate, remote = await paid(tmp_path, coder, Budgets())
    coder.server = remote.path
    assert (await gate.run(REQUEST)).ending is Ending.COMPLETED  # its settling has failed, its result has not
    with pytest.raises(EngineError):
        await gate.run(REQUEST)
    assert len(coder.runs) == 1
    remote.path.with_name("away").rename(remote.path)
    await gate.run(REQUEST)
    assert await settled(remote) == [(2.0, "test")] * 2
