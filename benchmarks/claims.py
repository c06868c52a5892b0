"""The requests of a claim: won, won again, refused at the door, lost at the fence, and with rivals."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import anyio
import psutil

from benchmarks.lab_host import REPOSITORY, LabHost, house
from benchmarks.request_counts import Exchange
from benchmarks.requests import script
from benchmarks.table import Row
from runtime.building.assembly import RepositoryAdapters
from shared.lock.lease import Lease
from shared.lock.port import AdvanceFence, Operation, Port, Reply
from shared.scheduling.agent_contract import Agent, Skip
from shared.workflow import Role

T = TypeVar("T")

RIVALS = 4
"""Number of workers that want the same issue at the same moment."""

SETTLE_SECONDS = 0.5
"""Seconds for which a comment whose reply was lost is waited for."""


class StartingLine:
    """A line that lets fences move only once every rival is about to move one: nobody is refused at the door."""

    def __init__(self) -> None:
        self.drawn = False
        self._waiting = 0
        self._off = anyio.Event()

    async def cross(self) -> None:
        """Return when all rivals are here, or at once while the line is not drawn."""
        if not self.drawn:
            return
        self._waiting += 1
        if self._waiting == RIVALS:
            self._off.set()
        await self._off.wait()

    def change(self, parts: RepositoryAdapters) -> RepositoryAdapters:
        """Return an agent's parts, with the line in its way."""
        return replace(parts, port=Lined(parts.port, self))


class Lined:
    """A lock's port behind a starting line."""

    def __init__(self, port: Port, line: StartingLine) -> None:
        self._line = line
        self._port = port
        self.sleep, self.now, self.boot = port.sleep, port.now, port.boot

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Do what the port does, but move no fence before the others do."""
        if isinstance(operation, AdvanceFence):
            await self._line.cross()
        return await self._port.request(operation)


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure claims of fresh issues by workers in this process."""
    line = StartingLine()
    async with house(root, script("initial")) as here:
        here.settle = SETTLE_SECONDS
        async with AsyncExitStack() as stack:
            agents = []
            for number in range(RIVALS):
                started = here.agent(Role.WORKER, state=f"machine-{number}", change=line.change)
                agents.append((await stack.enter_async_context(started))[1])
            alone, won = await _measure_alone(here, agents)
            race = await _measure_race(here, agents)
            line.drawn = True
            return [*alone, *race, *await _measure_lost(here, agents, won)], {"load": round(psutil.getloadavg()[0], 1)}


async def _measure_alone(here: LabHost, agents: Sequence[Agent]) -> tuple[list[Row], int]:
    """Let one worker win, and another one, new here, find it taken; return rows and the requests of winning."""
    here.ready_issue("First")
    won, leases = await _claim_newest(here, agents[:1])
    lost, _ = await _claim_newest(here, agents[1:2])
    if leases != 1:
        raise RuntimeError("nobody won the free issue")
    gate = sum(_is_trust(one) for one in won)
    rows = [
        Row("a won claim", len(won) - gate, "requests", 8),
        Row("its trust gate", gate, "requests", 3),
        Row("a claim of what is held", len(lost), "requests", 4),
    ]
    return rows, len(won) - gate


async def _measure_race(here: LabHost, agents: Sequence[Agent]) -> list[Row]:
    """Let all claim at once: exactly one wins."""
    here.ready_issue("Second")
    exchanges, leases = await _claim_newest(here, agents)
    gate = sum(_is_trust(one) for one in exchanges)
    return [
        Row(f"{len(agents)} rivals: winners", leases, "leases", 1),
        Row(f"{len(agents)} rivals: requests", len(exchanges) - gate, "requests", 3 * len(agents)),
        Row(f"{len(agents)} rivals: trust gates", gate, "requests"),
    ]


async def _measure_lost(here: LabHost, agents: Sequence[Agent], won: int) -> list[Row]:
    """Let all claim at once and all move the fence: the cost of losing after passing the door."""
    here.ready_issue("Third")
    exchanges, leases = await _claim_newest(here, agents)
    requests, losers = len(exchanges) - sum(_is_trust(one) for one in exchanges), len(agents) - leases
    acks = sum(one.method == "POST" and one.path.endswith("/comments") for one in exchanges)
    return [
        Row("all past the door: comments", acks, "comments"),
        Row("all past the door: winners", leases, "leases", 1),
        Row("all past the door: requests", requests, "requests", 3 * len(agents)),
        Row(
            "a claim lost at the fence", (requests - won * leases) / max(1, losers), "requests", 4, "each of the losers"
        ),
    ]


async def _claim_newest(here: LabHost, agents: Sequence[Agent]) -> tuple[list[Exchange], int]:
    """Let each agent claim the newest issue at once; return the requests after the polls, and the number of leases."""
    newest = max(issue.number for issue in here.lab.at(REPOSITORY).issues.records.values())
    candidates = {agent: next(c for c in await agent.discover() if c.number == newest) for agent in agents}
    here.proxy.exchanges.clear()
    results: list[Lease | Skip] = []

    async def claim(agent: Agent) -> None:
        ready = await agent.prepare(candidates[agent])
        results.append(ready if isinstance(ready, Skip) else await ready())

    async with anyio.create_task_group() as group:
        for agent in agents:
            group.start_soon(claim, agent)
    requests = [exchange for exchange in here.proxy.exchanges if not exchange.git]
    return requests, sum(isinstance(result, Lease) for result in results)


def _is_trust(exchange: Exchange) -> bool:
    return exchange.path.endswith(("/events", "/permission"))
