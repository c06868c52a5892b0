"""Agents of a lab in this process: each is built as a daemon builds it, and whoever asks for it calls its ticks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from config.settings import Settings
from config.state import StateDirectory
from planner_agent.build import build as build_planner
from reviewer_agent.build import build as build_reviewer
from runtime.building.assembly import Process, RepositoryAdapters, observed, open_repositories
from shared.clock import Clock
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Agent
from shared.scheduling.slots import Slots
from shared.workflow import Role
from worker_agent.build import build as build_worker

BUILD: Mapping[Role, Callable[[RepositoryAdapters], Agent]] = {
    Role.PLANNER: build_planner,
    Role.WORKER: build_worker,
    Role.REVIEWER: build_reviewer,
}

INTERVAL_SECONDS = 0.05


@contextmanager
def process_of(
    settings: Settings,
    role: Role,
    clock: Clock,
    environment: Mapping[str, str],
    *,
    name: str | None = None,
    roles: frozenset[str] = frozenset(),
) -> Iterator[Process]:
    """One agent's process; the same settings and `name` again are the same agent restarted."""
    with StateDirectory(settings.state_dir).open().claim_identity(role, name) as identity:
        yield Process(settings, role, clock, identity, environment, roles)


@asynccontextmanager
async def at_work(
    process: Process,
    *,
    observe: bool = True,
    change: Callable[[RepositoryAdapters], RepositoryAdapters] = lambda parts: parts,
    interval_seconds: float = INTERVAL_SECONDS,
) -> AsyncIterator[tuple[Loop, Agent]]:
    """The agent of a process with one repository, and its loop; with `observe` it is recorded what happens."""
    async with open_repositories(process) as (parts,):
        agent = BUILD[process.role](change(parts))
        driven = observed(agent, parts) if observe else agent
        slots = Slots(process.settings.max_concurrent, process.clock)
        loop = Loop(driven, process.clock, slots=slots, interval_seconds=interval_seconds)
        async with loop.open(parts.side_tasks):
            yield loop, agent
