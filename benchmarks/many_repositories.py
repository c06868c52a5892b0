"""A worker for two hundred repositories: seconds until each was polled, and requests of a start to GitHub and git."""

from __future__ import annotations

from pathlib import Path

import psutil

from benchmarks.lab_host import OWNER, LabHost, house, label_as_init
from benchmarks.table import Row
from lab import target_project
from lab.__main__ import ENGINE, REVIEWER
from shared.workflow import Role

REPOSITORIES = 200
POLL_SECONDS = 30.0

COLD_SECONDS = 30.0
"""The goal in seconds for a start on a quiet machine of two cores; ten times as long counts as stuck."""

IDLE_SECONDS = 60.0
"""Seconds for which the processor time is measured at rest."""

WORKER = "worker-1"


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure a start with nothing known, one after that, and a minute at rest."""
    async with house(root, "[]", check_command="true", poll_interval=POLL_SECONDS) as here:
        names = [f"{OWNER}/service-{number:03}" for number in range(REPOSITORIES)]
        for name in names:
            people = {ENGINE: "write", REVIEWER: "write"}
            await here.lab.repository(name, target_project.files(), collaborators=people, check_command="true")
            label_as_init(here.lab, name)
        config = _write_config(here, names)
        rows = await _measure_start(here, config, "cold")
        warm = await _measure_start(here, config, "warm")
        return [*rows, *warm], {"repositories": REPOSITORIES, "load": round(psutil.getloadavg()[0], 1)}


def _write_config(here: LabHost, names: list[str]) -> Path:
    """Return the configuration of a machine that polls them all."""
    settings = here.configuration(
        {}, state="many", github={"api_url": here.proxy.url, "share": 1}, lock={"settle": 0.2}
    )
    keys = {"poll_interval": POLL_SECONDS, "llm_backend": "scripted", "test_command": "true"}
    return here.configured("many", {**settings, "repositories": [{"name": name, **keys} for name in names]})


async def _measure_start(here: LabHost, config: Path, kind: str) -> list[Row]:
    """Measure one start of a process, to its first poll of the last repository."""
    here.proxy.exchanges.clear()
    began = here.clock.boot()
    async with here.started(Role.WORKER, WORKER, config) as pid:
        complaint = f"Not every repository was polled after {10 * COLD_SECONDS:.0f} s"
        await here.until(lambda: _all_polled(here), 10 * COLD_SECONDS, lambda: complaint, pause_seconds=0.1)
        seconds, counts = here.clock.boot() - began, here.proxy.tally()
        rest = await _measure_rest(here, pid) if kind == "warm" else []
    return [
        Row(f"{kind} start: every repository was polled", seconds, "s", COLD_SECONDS, f"{REPOSITORIES} repositories"),
        Row(f"{kind} start: charged requests per repository", counts.charged / REPOSITORIES, "requests"),
        Row(f"{kind} start: git exchanges per repository", counts.git / REPOSITORIES, "requests"),
        *rest,
    ]


def _all_polled(here: LabHost) -> bool:
    return len({exchange.path for exchange in here.proxy.exchanges if exchange.change_list}) >= REPOSITORIES


async def _measure_rest(here: LabHost, pid: int) -> list[Row]:
    """Measure memory, and the share of one core."""
    process = psutil.Process(pid)
    before = process.cpu_times()
    await here.clock.sleep(IDLE_SECONDS)
    after = process.cpu_times()
    used = (after.user + after.system - before.user - before.system) / IDLE_SECONDS
    return [
        Row("at rest: memory", process.memory_info().rss / 2**20, "MiB RSS"),
        Row("at rest: share of one core", used * 100, "%", note=f"a poll every {POLL_SECONDS:.0f} s"),
    ]
