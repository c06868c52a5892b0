"""Every paid call passes one gate: reserved before, settled after, refused as a wait; the key stays in the daemon."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import pytest
import structlog
from cli_shop import Shop
from engine import BUILD, ENGINE, OWNER, REPOSITORY, WRITES, Engine
from git_remote import fences_of, machine, remote_at
from worker_scene import CODE, TESTS, acks, calls, fence, labels, status

from config.settings import Settings
from config.state import StateDirectory
from console.building.assembly import Process, opened
from console.building.backends import backend
from console.building.purses import Money, reading
from lab.clock import LabClock
from lab.model.issuer import Issuer
from lab.model.script import Script, Turn
from lab.model_server import ModelServer
from lab.repositories.bare import Bare
from shared.errors import EngineError
from shared.github.status import StatusBoard
from shared.governance import ledger_lines
from shared.governance.budgets import Limits as Budgets
from shared.governance.endings import RunEnded
from shared.governance.failures import Category
from shared.governance.ledger import REF, Ledger
from shared.governance.ledger_lines import Played, Settlement
from shared.governance.paid import BudgetWait, Paid
from shared.items import Result
from shared.llm.cast import Cast, Part
from shared.llm.codex_lent import Lent
from shared.llm.endpoint import Endpoint
from shared.llm.port import Call, Coder, Ending, Limits, Outcome, Request, Usage
from shared.llm.proxy.account import Reading
from shared.loop import Loop, RealClock
from shared.sandbox.confinement import Confinement
from shared.workflow import Role

AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
REQUEST = Request(Call.IMPLEMENT, "#1", "t", "developer", "p")
KEY = "sk-ant-c4n4ry-of-the-real-key-0123456789"


class Priced:
    """A coder whose runs cost what a test says; None: nobody knows."""

    name = "priced"

    def __init__(self, usd: float | None, inner: Coder | None = None) -> None:
        self.usd = usd
        self.inner = inner
        self.runs: list[str] = []
        self.asked = anyio.Event()

    async def run(self, request: Request) -> Outcome:
        self.runs.append(request.run)
        self.asked.set()
        outcome = await self.inner.run(request) if self.inner else Outcome(Ending.COMPLETED, "Done.")
        return replace(outcome, usage=Usage(cost_usd=self.usd, cost_source="test"))


class Endless(Priced):
    """One that never ends by itself."""

    async def run(self, request: Request) -> Outcome:
        await super().run(request)
        await anyio.sleep_forever()
        raise AssertionError


class Borrowing:
    """One that works by a lent login, without an end."""

    name = "borrowing"

    def __init__(self, lent: Lent) -> None:
        self.lent = lent
        self.asked, self.begun = anyio.Event(), anyio.Event()

    async def run(self, request: Request) -> Outcome:
        self.asked.set()
        async with self.lent.open(request):
            self.begun.set()
            await anyio.sleep_forever()
        raise AssertionError


async def settlements(remote: Bare) -> list[Settlement]:
    """What the ledger says of runs that have ended, newest first."""
    commits = await remote.log(None, await remote.sha(REF) or "", 100)
    entries = [ledger_lines.read(commit.message.strip()) for commit in commits]
    return [entry for entry in entries if isinstance(entry, Settlement)]


async def settled(remote: Bare) -> list[tuple[float, str]]:
    """What it says that they have cost, newest first."""
    return [(entry.usd, entry.source) for entry in await settlements(remote)]


def nothing(run: str) -> None:
    """There is no proxy."""


async def paid(
    tmp_path: Path, coder: Coder, budgets: Budgets, reading: Callable[[str], Reading | None] = nothing
) -> tuple[Paid, Bare]:
    """A gate before `coder`, and the server with the ledger."""
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path / "a", str(remote.path))
    ledger = Ledger(fences_of(mirror), mirror, lambda: AT, budgets, "worker")
    return Paid(coder, ledger, LabClock(), reading), remote


async def test_a_run_is_reserved_settled_and_refused_when_the_issue_has_no_money_left(tmp_path: Path) -> None:
    coder = Priced(3.0)
    gate, remote = await paid(tmp_path, coder, Budgets(issue=10))
    for _ in range(2):
        assert (await gate.run(REQUEST)).ending is Ending.COMPLETED
    with pytest.raises(RunEnded, match=r"leaves \$4.00 of \$10.00") as refused:
        await gate.run(REQUEST)
    assert refused.value.category is Category.BUDGET
    other = replace(REQUEST, item="#57", account="#1")  # its pull request
    with pytest.raises(RunEnded):
        await gate.run(other)
    assert await settled(remote) == [(3.0, "test")] * 2
    assert len(set(coder.runs)) == 2


async def test_the_ledger_says_who_made_a_run_as_which_role_and_how_it_ended(tmp_path: Path) -> None:
    endless = Endless(None)
    cast = Cast(Priced(1.0), {"debugger": Part(endless)})
    gate, remote = await paid(tmp_path, cast, Budgets())
    await gate.run(REQUEST)
    async with anyio.create_task_group() as group:
        group.start_soon(gate.run, replace(REQUEST, role="debugger"))
        await endless.asked.wait()
        group.cancel_scope.cancel()
    assert [entry.played for entry in await settlements(remote)] == [
        Played("debugger"),
        Played(REQUEST.role, "priced", "completed"),
    ]


async def test_a_run_that_is_stopped_while_it_waits_for_a_login_has_cost_nothing(tmp_path: Path) -> None:
    """One that was given the login and is cut off counts as unknown, because nothing is known of it."""
    (tmp_path / "auth.json").write_text(Issuer().login())
    lent = Lent(Endpoint(None, "", login=True, file=tmp_path / "auth.json"), tmp_path / "auth.json")
    coder = Borrowing(lent)
    gate, remote = await paid(tmp_path, coder, Budgets(unknown_run=15), partial(reading, (lent,)))
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


async def test_an_unknown_cost_counts_fifteen_dollars_and_is_escalated_once_a_day(tmp_path: Path) -> None:
    gate, remote = await paid(tmp_path, Priced(None), Budgets(issue=100))
    with structlog.testing.capture_logs() as logs:
        await gate.run(REQUEST)
        await gate.run(REQUEST)
    assert await settled(remote) == [(15.0, "unknown")] * 2
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["cost_unknown"]


async def test_a_killed_run_is_settled_by_what_the_proxy_saw(tmp_path: Path) -> None:
    coder = Endless(None)
    seen = Reading(Usage(cost_usd=0.75, cost_source="proxy estimate"), requests=2)
    gate, remote = await paid(tmp_path, coder, Budgets(), lambda run: seen if run == coder.runs[0] else None)
    async with anyio.create_task_group() as group:
        group.start_soon(gate.run, REQUEST)
        await coder.asked.wait()
        group.cancel_scope.cancel()
    assert await settled(remote) == [(0.75, "proxy estimate")]


class Leaving(Priced):
    """While its first run goes on, the git server goes away."""

    server: Path

    async def run(self, request: Request) -> Outcome:
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


@asynccontextmanager
async def worker(engine: Engine, state: str, budgets: Budgets) -> AsyncIterator[Loop]:
    """A worker whose scripted runs cost $3 each, of a ledger with these budgets."""
    settings = engine.settings(state)
    with ExitStack() as stack:
        identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
        token = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
        process = Process(settings, Role.WORKER, engine.clock, identity, token)
        async with opened(process) as (parts,):
            own = Money(Ledger(parts.fences, parts.mirror, parts.server_time, budgets, "worker"), 5.0)
            coder = own.paid(process, parts.configured, Priced(3.0, parts.coder))
            board = StatusBoard(parts.comments, Role.WORKER, parts.claimant.accounts, parts.keys, own.credit)
            claimant = replace(parts.claimant, purse=own.purse)
            parts = replace(parts, coder=coder, claimant=claimant, status=board)
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
    """An issue whose tests are written and for whose code the day's money does not suffice."""
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
    assert len(acks(engine, number)) == 2  # one on each machine
    assert calls(engine, "implement") == 0
    assert await settled(engine.lab.at(REPOSITORY).bare) == [(3.0, "test")]


PROBE = """
import urllib.request
seen = {"environ": dict(os.environ), "argv": sys.argv, "parent": pathlib.Path("/proc/self/cmdline").read_text()}
pathlib.Path("seen.json").write_text(json.dumps(seen))
for turn in range(3):
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Go."}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())
    request.add_header("x-api-key", os.environ["ANTHROPIC_API_KEY"])
    try:
        urllib.request.urlopen(request).read()
    except urllib.error.HTTPError as error:
        result(is_error=True, api_error_status=error.code, result=error.read().decode())
        sys.exit(1)
result()
"""


def contents(directory: Path) -> list[bytes]:
    """Every file below."""
    return [file.read_bytes() for file in directory.rglob("*") if file.is_file()]


@pytest.mark.parametrize(("budget", "ending", "requests"), [(50.0, Ending.COMPLETED, 3), (3.2, Ending.MAX_BUDGET, 2)])
async def test_the_real_key_leaves_the_daemon_only_for_the_vendor(
    tmp_path: Path, budget: float, ending: Ending, requests: int
) -> None:
    shop = Shop(tmp_path)
    path, tree = str(shop.program(PROBE)), tmp_path / "tree"
    tree.mkdir()
    known = {
        "repositories": ({"name": "ada/directory"},),
        "state_dir": tmp_path / "state",
        "sandbox": "none",
        "claude_cli": path,
        "prices": {"m": {"input": 1000.0, "output": 10_000.0, "cached": 100.0, "written": 1250.0}},
    }
    settings = Settings.model_validate(known, strict=False)
    async with ModelServer(Script.of(Turn(say="Done."))) as server:
        environment = {"PATH": os.defpath, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        with ExitStack() as stack:
            identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
            process = Process(settings, Role.WORKER, RealClock(), identity, environment)
            logs = stack.enter_context(structlog.testing.capture_logs())
            coder = await backend(process, settings.repositories[0], Confinement())
            outcome = await coder.run(shop.request(tree=tree, run="r1", limits=Limits(budget_usd=budget)))
    assert (outcome.ending, len(server.journal)) == (ending, requests)
    assert {seen.token for seen in server.journal} == {KEY}
    assert outcome.usage.cost_usd == pytest.approx(1.78 * requests)
    assert outcome.usage.cost_source == "proxy"
    said = json.loads((tree / "seen.json").read_text())
    assert said["environ"]["ANTHROPIC_API_KEY"].startswith("run-")
    written = contents(tmp_path)
    assert len(written) > 2
    assert not [text for text in (*written, str(logs).encode(), str(outcome).encode()) if KEY.encode() in text]


async def test_a_subscription_runs_without_proxy_and_it_is_said_once(tmp_path: Path) -> None:
    path = str(Shop(tmp_path).program("result()"))
    repositories = ({"name": "ada/directory"}, {"name": "ada/other"})
    known = {"repositories": repositories, "state_dir": tmp_path / "state", "sandbox": "none", "claude_cli": path}
    settings = Settings.model_validate(known, strict=False)
    environment = {"PATH": os.defpath, "CLAUDE_CODE_OAUTH_TOKEN": "l0gin"}
    with ExitStack() as stack:
        identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
        process = Process(settings, Role.WORKER, RealClock(), identity, environment)
        logs = stack.enter_context(structlog.testing.capture_logs())
        for repository in settings.repositories:
            await backend(process, repository, Confinement())
    (said,) = [entry for entry in logs if entry["event"] == "model_proxy_off"]
    assert "a run is stopped at its budget by the CLI alone" in said["not_enforced"]
    assert "l0gin" not in str(logs)
