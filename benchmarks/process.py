"""The costs of an agent process: its start, `--help`, memory and processor time at rest, its own time per issue."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import psutil

from benchmarks.lab_host import AGENTS, OWNER, REPOSITORY, ROOT, LabHost, Stuck, house
from benchmarks.requests import script
from benchmarks.table import Row
from config.environment import child_environment
from lab.demo.outcome import scene
from runtime.building.assembly import RepositoryAdapters
from shared import process
from shared.llm.port import Coder, Request, RunOutcome
from shared.loop.real_clock import RealClock
from shared.workflow import Role

STARTS = 5
WINDOWS, POLLS = 5, 100
"""Number of windows over each of which processor time is averaged, and number of polls in each."""

START_SECONDS = 30.0

TICKS = 60
"""Rounds of ticks after which the story counts as stuck."""


class TimedCoder:
    """A coder that adds up the seconds for which it was waited for."""

    def __init__(self, coder: Coder, clock: RealClock) -> None:
        self.seconds = 0.0
        self._coder = coder
        self._clock = clock

    @property
    def name(self) -> str:
        """The configured name of the backend."""
        return self._coder.name

    async def run(self, request: Request) -> RunOutcome:
        """Pass the request on."""
        began = self._clock.boot()
        try:
            return await self._coder.run(request)
        finally:
            self.seconds += self._clock.boot() - began


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure every figure of DESIGN's rows about processes."""
    for name in ("rest", "own"):
        (root / name).mkdir()
    rows = [Row("--help", await _measure_help(root), "s", 0.25, f"median of {STARTS}")]
    async with house(root / "rest", script("initial"), poll_interval=0.02) as here:
        rows.append(Row("start to the first poll", await _measure_start(here), "s", 0.6, f"median of {STARTS}"))
        rows += await _measure_rest(here)
    return [*rows, await _measure_own_time(root / "own")], {}


async def _measure_help(root: Path) -> float:
    clock, seconds = RealClock(), []
    env = child_environment() | {"HOME": str(root), "PYTHONPATH": str(ROOT)}
    for _ in range(STARTS):
        began = clock.boot()
        await process.check((sys.executable, "-m", "worker_agent", "--help"), cwd=root, env=env)
        seconds.append(clock.boot() - began)
    return median(seconds)


async def _measure_start(here: LabHost) -> float:
    """Measure the seconds from the start of a process to its first poll; its mirror is there already."""
    seconds = []
    for number in range(STARTS + 1):
        here.proxy.exchanges.clear()
        began = here.clock.boot()
        async with here.running(Role.WORKER, f"starter-{number}"):
            await here.polled(1, START_SECONDS)
            seconds.append(here.clock.boot() - began)
    return median(seconds[1:])


async def _measure_rest(here: LabHost) -> list[Row]:
    """Measure a worker with nothing to do, polling fast."""
    async with here.running(Role.WORKER, "worker-1") as pid:
        await here.polled(50, START_SECONDS)
        agent = psutil.Process(pid)
        spent = []
        for _ in range(WINDOWS):
            before, start = _cpu(agent), here.proxy.polls
            await here.polled(POLLS, START_SECONDS)
            spent.append(1000 * (_cpu(agent) - before) / (here.proxy.polls - start))
        memory = agent.memory_info().rss / 2**20
    return [
        Row("an idle agent's memory", memory, "MiB RSS", 55),
        Row("an idle agent's processor time per poll", median(spent), "ms", 1, f"median of {WINDOWS} x {POLLS}"),
    ]


async def _measure_own_time(root: Path) -> Row:
    """Measure one issue from story to merge by three agents in this process; CI runs between their ticks."""
    clock = RealClock()
    coders: list[TimedCoder] = []
    timed = root / "tests.txt"
    command = shlex.join((sys.executable, "-m", "benchmarks.timed", str(timed), sys.executable, "-m", "pytest", "-q"))
    command = f"PYTHONPATH={shlex.quote(str(ROOT))} PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {command}"
    async with house(root, script("initial"), test_command=command) as here:
        here.lab.issue(REPOSITORY, "Count users by initial", "For a register.", author=OWNER, labels=("story",))
        spent = 0.0
        agents = [here.agent(role, change=_time_coders(coders, clock)) for role in AGENTS]
        async with agents[0] as (planner, _), agents[1] as (worker, _), agents[2] as (reviewer, _):
            for _ in range(TICKS):
                for loop in (planner, worker, reviewer):
                    began = clock.boot()
                    await loop.tick()
                    await loop.quiet()
                    spent += clock.boot() - began
                    await here.lab.idle()
                if scene(here.lab).finished(1):
                    break
            else:
                raise Stuck("The story was not merged.")
    tests = sum(float(line) for line in timed.read_text(encoding="ascii").split())
    own = spent - tests - sum(coder.seconds for coder in coders)
    return Row("the engine's own time per issue", own, "s", 2, f"the lab's share included; tests took {tests:.1f} s")


def _time_coders(coders: list[TimedCoder], clock: RealClock) -> Callable[[RepositoryAdapters], RepositoryAdapters]:
    def change(parts: RepositoryAdapters) -> RepositoryAdapters:
        coders.append(TimedCoder(parts.coder, clock))
        return replace(parts, coder=coders[-1])

    return change


def _cpu(agent: psutil.Process) -> float:
    used = agent.cpu_times()
    return float(used.user + used.system)
