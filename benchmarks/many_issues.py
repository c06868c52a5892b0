"""Ten thousand open issues that nobody may take: the cost of an idle hour among them, and the memory of a worker."""

from __future__ import annotations

from pathlib import Path

import psutil

from benchmarks.lab_host import OWNER, REPOSITORY, LabHost, house
from benchmarks.requests import script
from benchmarks.table import Row
from lab.github.clock import LabClock
from shared.workflow import Role

ISSUES = 10_000
BODY = "As a user I want to find what I am looking for.\n" * 40
"""A text of about 2,000 characters, in all more than the conditional cache takes as text."""

POLL_SECONDS = 30
POLLS = 3600 // POLL_SECONDS

START_SECONDS = 120.0


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure the hour, with a clock that makes it pass at once, and a process that has read everything."""
    clock = LabClock()
    labels = {"exclude": ["blocked"]}
    async with house(root, script("initial"), clock=clock, check_command="true", labels=labels) as here:
        for number in range(ISSUES):
            here.lab.issue(REPOSITORY, f"Story {number}", BODY, author=OWNER, labels=("status:ready", "blocked"))
        return [*await _measure_hour(here, clock), await _measure_memory(here)], {
            "load": round(psutil.getloadavg()[0], 1)
        }


async def _measure_hour(here: LabHost, clock: LabClock) -> list[Row]:
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


async def _measure_memory(here: LabHost) -> Row:
    """Measure a worker as a process, when it has swept and polled."""
    async with here.running(Role.WORKER, "worker-1", state="crowd") as pid:
        await here.polled(5, START_SECONDS)
        memory = psutil.Process(pid).memory_info().rss / 2**20
    return Row("memory of a worker that knows them all", memory, "MiB RSS")
