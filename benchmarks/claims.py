"""What a claim asks of GitHub: won, refused at the door, lost in a race, and with rivals."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio

from benchmarks.house import OWNER, REPOSITORY, House, house
from benchmarks.requests import script
from benchmarks.table import Row
from benchmarks.tally import Exchange
from shared.items import Agent, Skip
from shared.lock.claim import Lease
from shared.workflow import Role

RIVALS = 4
"""Workers that want the same issue at the same moment."""

SETTLE_SECONDS = 0.5
"""Long enough on loopback that every rival's ACK is there when they look."""


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Claims of fresh issues by workers in this process."""
    async with house(root, script("initial")) as here:
        here.settle = SETTLE_SECONDS
        async with AsyncExitStack() as stack:
            agents = [
                (await stack.enter_async_context(here.agent(Role.WORKER, state=f"machine-{number}")))[1]
                for number in range(RIVALS)
            ]
            return await _alone(here, agents) + await _race(here, agents), {}


async def _alone(here: House, agents: Sequence[Agent]) -> list[Row]:
    """One worker wins; then a second one, who has claimed nothing here before, finds it taken."""
    _ready(here, "First")
    won, leases = await _claims(here, agents[:1])
    lost, _ = await _claims(here, agents[1:2])
    if leases != 1:
        raise RuntimeError("nobody won the free issue")
    gate = sum(_is_trust(one) for one in won)
    return [
        Row("a won claim", len(won) - gate, "requests", 8),
        Row("its trust gate", gate, "requests", 3),
        Row("a claim of what is held", len(lost), "requests", 4),
    ]


async def _race(here: House, agents: Sequence[Agent]) -> list[Row]:
    """All at once: exactly one wins."""
    _ready(here, "Second")
    seen, leases = await _claims(here, agents)
    gate = sum(_is_trust(one) for one in seen)
    return [
        Row(f"{len(agents)} rivals: winners", leases, "leases", 1),
        Row(f"{len(agents)} rivals: requests", len(seen) - gate, "requests", 3 * len(agents)),
        Row(f"{len(agents)} rivals: trust gates", gate, "requests"),
    ]


async def _claims(here: House, agents: Sequence[Agent]) -> tuple[list[Exchange], int]:
    """Let each agent claim the newest issue at once; what was asked after the polls, and how many leases there are."""
    newest = max(issue.number for issue in here.lab.at(REPOSITORY).issues.records.values())
    candidates = {agent: next(c for c in await agent.discover() if c.number == newest) for agent in agents}
    here.proxy.exchanges.clear()
    results: list[Lease | Skip] = []

    async def one(agent: Agent) -> None:
        results.append(await agent.claim(candidates[agent]))

    async with anyio.create_task_group() as group:
        for agent in agents:
            group.start_soon(one, agent)
    asked = [exchange for exchange in here.proxy.exchanges if not exchange.git]
    return asked, sum(isinstance(result, Lease) for result in results)


def _ready(here: House, title: str) -> None:
    here.lab.issue(REPOSITORY, title, "It counts.", author=OWNER, labels=("status:ready",))


def _is_trust(one: Exchange) -> bool:
    return one.path.endswith(("/events", "/permission"))
