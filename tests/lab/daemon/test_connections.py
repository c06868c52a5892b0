"""Agents of one process at GitHub: one session, one memory of answers and one pace for each account."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from engine import ENGINE, REPOSITORY, REVIEWER, WRITES, Engine

from config.state import StateDirectory
from console.history.repository_reader import visited
from runtime.building.assembly import Process, RepositoryAdapters, open_repositories
from runtime.building.neighbours import Neighbours
from runtime.building.sign_in import pace_of
from shared.loop.real_clock import RealClock
from shared.workflow import Role

WORKER_AND_PLANNER = (Role.WORKER, Role.PLANNER)


@pytest.fixture
def reviewer_token(tmp_path: Path, engine: Engine) -> Path:
    token = tmp_path / "reviewer-token"
    token.touch(mode=0o600)
    token.write_text(engine.lab.token(REVIEWER, WRITES), encoding="ascii")
    return token


async def together(
    engine: Engine, stack: AsyncExitStack, *roles: Role
) -> tuple[list[Process], list[RepositoryAdapters]]:
    """Start agents in one process; return them in the order of their start."""
    settings, directory = engine.settings("machine-1"), StateDirectory(engine.directory / "machine-1").open()
    environment = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    processes: list[Process] = []
    for role in roles:
        agent = stack.enter_context(directory.claim_identity(role))
        fresh = Process(settings, role, RealClock(), agent, environment)
        processes.append(replace(fresh, connections=processes[0].connections) if processes else fresh)
    return processes, [(await stack.enter_async_context(open_repositories(one)))[0] for one in processes]


@pytest.mark.prompt("it counts requests")
async def test_what_one_agent_has_read_costs_the_other_nothing_and_is_news_to_it_all_the_same(engine: Engine) -> None:
    engine.scenario.write_text("[]", encoding="utf-8")
    number = engine.ready("Greet people")
    async with AsyncExitStack() as stack:
        _, (worker, planner) = await together(engine, stack, *WORKER_AND_PLANNER)
        assert [one.number for one in await worker.github.issues.recent() or ()] == [number]
        since = len(list(engine.lab.exchanges))
        assert [one.number for one in await planner.github.issues.recent() or ()] == [number]
        assert [await worker.github.issues.recent(), await planner.github.issues.recent()] == [None, None]
        assert {one.status for one in list(engine.lab.exchanges)[since:]} == {304}
    starts = [(one.path, one.status) for one in engine.lab.exchanges if one.path in {"/user", f"/repos/{REPOSITORY}"}]
    assert [status for path, status in starts if path == "/user"] == [200, 304]
    assert [status for path, status in starts if path != "/user"] == [200, 304]


async def test_each_request_names_its_agent(engine: Engine) -> None:
    engine.scenario.write_text("[]", encoding="utf-8")
    async with AsyncExitStack() as stack:
        (process,), (worker,) = await together(engine, stack, Role.WORKER)
        await worker.github.issues.recent()
    callers = {one.request_headers["User-Agent"] for one in engine.lab.exchanges}
    assert {one for one in callers if not one.startswith("git/")} == {f"workflow-engine ({process.agent.id})"}


async def test_one_pace_for_one_account_and_another_one_for_the_reviewers(engine: Engine, reviewer_token: Path) -> None:
    engine.scenario.write_text("[]", encoding="utf-8")
    api = {"api_url": engine.lab.url, "write_interval_seconds": 0.0}
    engine.more_settings |= {"github": api | {"reviewer_token_file": reviewer_token}}
    async with AsyncExitStack() as stack:
        processes, parts = await together(engine, stack, *WORKER_AND_PLANNER, Role.REVIEWER)
        worker, planner, reviewer = (pace_of(one).pacing for one in processes)
        assert worker is planner
        assert reviewer is not worker
        assert [one.github.account.login for one in parts] == [ENGINE, ENGINE, REVIEWER]


async def test_others_count_an_agent_as_long_as_it_polls_and_visits_not_at_all(engine: Engine) -> None:
    engine.scenario.write_text("[]", encoding="utf-8")
    state_dir = engine.directory / "machine-1"
    async with AsyncExitStack() as stack:
        (process, _), parts = await together(engine, stack, *WORKER_AND_PLANNER)
        points = parts[0].github.points
        assert points.polls == 2400, "every 0.05 s, for each agent"
        assert points.neighbours() == ()
        told = {place.name for place in state_dir.rglob("polls/*/*")}
        assert len(told) == 2
        for _ in range(3):  # such as `status`, which a person repeats
            async with visited(process.settings, process.environment, RealClock()) as ((here,), _):
                assert here.adapters.points.neighbours() == ()
        assert {place.name for place in state_dir.rglob("polls/*/*")} == told
        (account,) = state_dir.glob("polls/*")
    assert list(account.iterdir()) == [], "it has ended"
    assert points.polls == 0


@pytest.mark.prompt("it looks at a start")
@pytest.mark.parametrize(
    ("github", "webhook", "divides", "reads"),
    [({}, None, True, True), ({"share": 0.5}, None, False, True), ({}, 0, True, False)],
)
async def test_a_share_of_its_own_is_not_divided_and_a_webhook_needs_no_neighbours_lists(
    engine: Engine, github: dict[str, float], webhook: int | None, *, divides: bool, reads: bool
) -> None:
    engine.scenario.write_text("[]", encoding="utf-8")
    server = {"api_url": engine.lab.url, "write_interval_seconds": 0.0}
    engine.more_settings |= {"github": server | github, "webhook": {"port": webhook}}
    async with AsyncExitStack() as stack:
        (process,), _ = await together(engine, stack, Role.WORKER)
        points = pace_of(process).pacing.points
        assert (points.divides_share, points.reads_neighbours) == (divides, reads)


async def test_agents_of_one_account_know_each_other_also_by_different_tokens(engine: Engine, tmp_path: Path) -> None:
    engine.scenario.write_text("[]", encoding="utf-8")
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(engine.lab.token(ENGINE, WRITES), encoding="ascii")
    api = {"api_url": engine.lab.url, "write_interval_seconds": 0.0, "reviewer_token_file": token}
    engine.more_settings |= {"github": api}
    async with AsyncExitStack() as stack:
        _, (worker, reviewer) = await together(engine, stack, Role.WORKER, Role.REVIEWER)
        assert worker.github.points is not reviewer.github.points
        assert [one.github.points.neighbours() for one in (worker, reviewer)] == [(1200,), (1200,)]
        beside = Neighbours(engine.directory / "machine-1", f"{engine.lab.url} {worker.github.account.id}", RealClock())
        beside.join("worker-b", 1)
        assert beside.polls() == (1200, 1200)


async def test_the_gate_of_each_agent_knows_the_token_of_both(engine: Engine, tmp_path: Path) -> None:
    engine.scenario.write_text("[]", encoding="utf-8")
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(engine.lab.token(ENGINE, WRITES), encoding="ascii")
    api = {"api_url": engine.lab.url, "write_interval_seconds": 0.0, "token_file": token}
    engine.more_settings |= {"github": api}
    async with AsyncExitStack() as stack:
        _, (worker, planner) = await together(engine, stack, *WORKER_AND_PLANNER)
        for value in [value for value, known in engine.lab.world.tokens.items() if known.login == ENGINE]:
            del engine.lab.world.tokens[value]
        renewed = engine.lab.token(ENGINE, WRITES)
        token.write_text(renewed, encoding="ascii")
        await planner.github.issues.recent()
        assert renewed not in worker.process.outgoing.hide(f"it is {renewed}")
