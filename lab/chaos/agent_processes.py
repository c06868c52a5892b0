"""The agents as processes: started, killed, stopped and continued, and restarted whenever they end."""

from __future__ import annotations

import random
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio.abc import Process

from lab.chaos.setup import TIMEOUT_SECONDS, TrialHost
from shared import process
from shared.clock import Clock
from shared.workflow import Role

RESTART_SECONDS = 1.0
KILL_EVERY_SECONDS = 4.0
STOP_EVERY_SECONDS = 20.0

CLOCK_ERROR_SECONDS = 900.0
"""Seconds by which a machine's clock may be wrong, either way."""

LIVED_SECONDS = 3.0
"""Seconds of life before a process is killed: a younger one has hardly started."""


@dataclass
class AgentProcesses:
    """All agents of a trial; `counts` are for the report."""

    host: TrialHost
    variables: Mapping[str, str]
    clock: Clock
    chance: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    running: dict[str, tuple[Process, float]] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)
    deaths: list[tuple[float, str]] = field(default_factory=list)
    """Kills of agents: the time by the server's clock, and the agent."""

    async def employ(self, role: Role, name: str, machine: str) -> None:
        """Run one agent for ever, until cancelled."""
        ahead = self.chance.uniform(-CLOCK_ERROR_SECONDS, CLOCK_ERROR_SECONDS)
        config = self.host.config(machine)
        command = (sys.executable, "-m", "lab.chaos.actor", str(role), "--ahead", f"{ahead:.0f}", "--verbose")
        argv = (*command, "--config", str(config), "--agent-id", name)
        while True:
            started = process.started(argv, cwd=self.host.root, env=self.variables, log=self.host.log(name))
            async with started as child:
                self.running[name] = (child, self.clock.boot())
                code = await child.wait()
                del self.running[name]
            self.counts["killed" if code == -signal.SIGKILL else f"ended by itself with {code}"] += 1
            await self.clock.sleep(RESTART_SECONDS)

    async def kill_at_random(self) -> None:
        """Kill a random agent with SIGKILL, again and again."""
        while True:
            await self.clock.sleep(KILL_EVERY_SECONDS * self.chance.uniform(0.5, 1.5))
            if victim := self._pick_victim():
                self.deaths.append((self.host.lab.clock.now(), victim))
                _send(self.running[victim][0], signal.SIGKILL)

    async def stop_at_random(self) -> None:
        """Stop a random agent with SIGSTOP for longer than the lock's timeout, then SIGCONT, again and again."""
        while True:
            await self.clock.sleep(STOP_EVERY_SECONDS * self.chance.uniform(0.5, 1.5))
            if victim := self._pick_victim():
                child = self.running[victim][0]
                self.stopped.add(victim)
                self.counts["stopped beyond the lock"] += 1
                _send(child, signal.SIGSTOP)
                try:
                    await self.clock.sleep(TIMEOUT_SECONDS * self.chance.uniform(1.1, 1.4))
                finally:
                    _send(child, signal.SIGCONT)
                    self.stopped.discard(victim)

    def _pick_victim(self) -> str | None:
        """Return a random agent that has lived a little and is not stopped; None for none."""
        now = self.clock.boot()
        old = [name for name, (_, since) in sorted(self.running.items()) if now - since > LIVED_SECONDS]
        able = [name for name in old if name not in self.stopped]
        return self.chance.choice(able) if able else None


def _send(child: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it has just ended by itself
        child.send_signal(number)


async def at_work(company: AgentProcesses, agents: Mapping[str, tuple[Role, str]]) -> None:
    """Run all agents until cancelled; `agents` are id -> role and machine."""
    async with anyio.create_task_group() as group:
        for name, (role, machine) in agents.items():
            group.start_soon(company.employ, role, name, machine)
