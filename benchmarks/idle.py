"""An hour in which nothing happens: three agents, one repository, a clock that makes the hour pass at once."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.lab_host import AGENTS, LabHost, Stuck, house
from benchmarks.requests import script
from benchmarks.table import Row
from lab.github.clock import LabClock
from shared.github.inbox import SWEEP_SECONDS
from shared.loop.polling_loop import Loop
from shared.workflow import Role

POLL_SECONDS = 30
POLLS = 3600 // POLL_SECONDS

WARM_UP = 2
"""Number of ticks before the hour, ten minutes apart: every list is read once, and once more to meet its ETag."""

WAITING_TICKS = 10
"""Number of ticks counted while a pull request waits for CI."""


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure the idle hour, and what one pull request that waits for CI adds to each poll."""
    clock = LabClock()
    async with house(root, script("initial"), clock=clock, check_command="sleep 600") as here:
        rows, details = await _measure_hour(here, clock)
        return rows + await _measure_waiting(here), details


async def _measure_hour(here: LabHost, clock: LabClock) -> tuple[list[Row], dict[str, object]]:
    async with AsyncExitStack() as stack:
        loops = [(await stack.enter_async_context(here.agent(role)))[0] for role in AGENTS]
        for _ in range(WARM_UP):
            await _tick(loops)
            clock.advance(SWEEP_SECONDS)
        await _tick(loops)
        here.proxy.exchanges.clear()
        for _ in range(POLLS):
            clock.advance(POLL_SECONDS)
            await _tick(loops)
    counts = here.proxy.tally()
    polls = [one for one in here.proxy.exchanges if one.change_list]
    rows = [
        Row("charged in an idle hour", counts.charged, "requests", 0, f"3 agents, {POLLS} polls each"),
        Row("URLs per repository and poll", len({one.target for one in polls}), "URLs", 1),
        Row("free requests in an idle hour", counts.requests - counts.charged, "requests"),
    ]
    return rows, {"sweeps": counts.requests - len(polls)}


async def _measure_waiting(here: LabHost) -> list[Row]:
    """Implement a specification, until only CI is missing; measure the polls from then on."""
    here.ready_issue("Count users by initial")
    async with here.agent(Role.WORKER) as (loop, _):
        for _ in range(WAITING_TICKS):
            await _tick([loop])
            if any(rest.reason == "ci" for rest in loop.resting):
                break
        else:
            raise Stuck("The worker did not come to wait for CI.")
        for _ in range(WARM_UP + 1):
            await _tick([loop])
        here.proxy.exchanges.clear()
        for _ in range(WAITING_TICKS):
            await _tick([loop])
        exchanges = list(here.proxy.exchanges)  # before the lease is released
    requests = [one for one in exchanges if not one.git and not one.change_list]
    return [
        Row("more URLs per poll while a pull request waits for CI", len({one.target for one in requests}), "URLs", 2),
        Row("charged by them", sum(one.charged for one in requests), "requests", 0, f"{WAITING_TICKS} polls"),
    ]


async def _tick(loops: list[Loop]) -> None:
    for loop in loops:
        await loop.tick()
        await loop.quiet()
