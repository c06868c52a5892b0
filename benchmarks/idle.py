"""An hour in which nothing happens, which a clock makes pass at once: three agents in one repository, and a worker
among ten thousand open issues that nobody may take, with the memory that it needs for them.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import psutil

from benchmarks.lab_host import AGENTS, OWNER, REPOSITORY, LabHost, Stuck, house
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

ISSUES = 10_000
BODY = "As a user I want to find what I am looking for.\n" * 40
"""A text of about 2,000 characters, in all more than the conditional cache takes as text."""

START_SECONDS = 120.0


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


async def measure_crowd(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure the hour of a worker among the issues, and a process that has read everything."""
    clock = LabClock()
    labels = {"exclude": ["blocked"]}
    async with house(root, script("initial"), clock=clock, check_command="true", labels=labels) as here:
        for number in range(ISSUES):
            here.lab.issue(REPOSITORY, f"Story {number}", BODY, author=OWNER, labels=("status:ready", "blocked"))
        return [*await _measure_crowded_hour(here, clock), await _measure_crowd_memory(here)], {
            "load": round(psutil.getloadavg()[0], 1)
        }


async def _measure_crowded_hour(here: LabHost, clock: LabClock) -> list[Row]:
    async with here.agent(Role.WORKER) as (loop, _):
        await loop.tick()
        first = here.proxy.tally()
        await loop.tick()
        here.proxy.exchanges.clear()
        for _ in range(POLLS):
            clock.advance(POLL_SECONDS)
            await loop.tick()
    hour = here.proxy.tally()
    return [
        Row(f"first sweep of {ISSUES:,} issues: charged", first.charged, "requests"),
        Row("charged in the idle hour after it", hour.charged, "requests", 0, f"{POLLS} polls, one worker"),
        Row("free requests in that hour", hour.requests - hour.charged, "requests"),
    ]


async def _measure_crowd_memory(here: LabHost) -> Row:
    """Measure a worker as a process, when it has swept and polled."""
    async with here.running(Role.WORKER, "worker-1", state="crowd") as pid:
        await here.polled(5, START_SECONDS)
        memory = psutil.Process(pid).memory_info().rss / 2**20
    return Row("memory of a worker that knows them all", memory, "MiB RSS")
