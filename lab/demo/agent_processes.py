"""The agents as processes of their own, started again when one dies, as a service manager would."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio
from anyio.abc import Process

from lab.demo.setup import Stage
from shared import process
from shared.clock import Clock
from shared.errors import Blocked

RESTART_SECONDS = 0.5
"""Seconds before a dead agent is restarted."""

QUICK_SECONDS = 5.0
"""Seconds of life below which an agent has not really started."""

QUICK_DEATHS = 4
"""Quick deaths in a row that are no accident."""


class NeverStarted(Blocked):
    """An agent process does not start."""


@dataclass
class AgentProcesses:
    """The running agents; `report` gets a sentence when one dies or is killed."""

    stage: Stage
    variables: Mapping[str, str]
    clock: Clock
    report: Callable[[str], None]
    running: dict[str, Process] = field(default_factory=dict)
    deaths: int = 0

    async def play(self, name: str, module: str) -> None:
        """Run one agent for ever, until cancelled; raises `NeverStarted` when it keeps dying at once."""
        quick = 0
        argv = self._argv(name, module)
        while quick < QUICK_DEATHS:
            began = self.clock.boot()
            async with process.started(
                argv, cwd=self.stage.root, env=self.variables, log=self.stage.log(name)
            ) as running:
                self.running[name] = running
                code = await running.wait()
                del self.running[name]
            self.deaths += 1
            killed = code < 0
            quick = quick + 1 if not killed and self.clock.boot() - began < QUICK_SECONDS else 0
            self.report(f"{name} ended with {code}; starting it again")
            await self.clock.sleep(RESTART_SECONDS)
        last = (await anyio.Path(self.stage.log(name)).read_text(encoding="utf-8", errors="replace")).strip()[-500:]
        raise NeverStarted(f"{name} does not start: {last}")

    def _argv(self, name: str, module: str) -> tuple[str, ...]:
        """Return the agent's command, which Linux ends when the demonstration is killed: nobody else would."""
        ended_with_us = shutil.which("setpriv", path=self.variables.get("PATH"))
        held = (ended_with_us, "--pdeathsig", "TERM", "--") if ended_with_us else ()
        return (*held, sys.executable, "-m", module, "--config", str(self.stage.config), "--agent-id", name)

    async def kill_at_random(self, every_seconds: float) -> None:
        """Kill a random agent with SIGKILL, again and again."""
        while True:
            await self.clock.sleep(every_seconds * random.uniform(0.5, 1.5))
            if self.running:
                name = random.choice(sorted(self.running))
                self.report(f"killing {name}")
                self.running[name].kill()


def parts(workers: int) -> dict[str, str]:
    """Agent id -> module: one planner, `workers` workers, one reviewer."""
    names = [f"worker-{number}" for number in range(1, workers + 1)]
    return {"planner-1": "planner_agent", **dict.fromkeys(names, "worker_agent"), "reviewer-1": "reviewer_agent"}
