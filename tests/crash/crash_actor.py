"""One agent as a real process of its own, forked from a warm server so that a life costs milliseconds to begin."""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Protocol

import anyio

from config.loading import load
from lab.agents import at_work, process_of
from runtime.building.assembly import RepositoryAdapters
from shared.llm.port import Coder, Request, RunOutcome
from shared.outgoing.credentials import credentials
from shared.telemetry.logging import bind_agent, configure
from shared.workflow import Role

TICK_SECONDS = 0.02

JUMP_SECONDS = 60.0
"""Sleeps shorter than this make everybody's time jump; longer ones (heartbeats) wait for a jump."""

LOOK_SECONDS = 0.01

WARM = (
    "anyio._backends._asyncio",
    "shared.llm.scripted",
    "sqlite3",
    "worker_agent.actions",
    "xml.etree.ElementTree",
)
"""Modules that an agent loads on demand; loading them would cost every life a quarter of a second."""

for _name in WARM:
    import_module(_name)
tuple(credentials("nothing"))  # loads the detectors
gc.freeze()  # what is here now stays: a life need not look through it, and its memory is not copied


class Shared(Protocol):
    """A number that several processes see (`multiprocessing.RawValue`)."""

    value: float


class VirtualClock:
    """The machine's clocks ahead by an offset that all agents and the lab share."""

    def __init__(self, offset: Shared) -> None:
        self._offset = offset

    def now(self) -> float:
        """Return the wall clock's time."""
        return time.time() + self._offset.value

    def boot(self) -> float:
        """Return the boot clock's time."""
        return time.monotonic() + self._offset.value

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass: by a jump, or when somebody else makes time jump.

        After a jump others run for a moment: who waits for his turn sleeps until they have finished.
        """
        end = self.boot() + seconds
        if LOOK_SECONDS < seconds <= JUMP_SECONDS:
            self._offset.value += seconds
            await anyio.sleep(LOOK_SECONDS)
        while (left := end - self.boot()) > 0:  # noqa: ASYNC110  # the number is moved by another process
            await anyio.sleep(min(left, LOOK_SECONDS))


@dataclass(frozen=True, slots=True)
class Part:
    """The agent of one process, and the paid call inside which it dies, if any: `dies` is the call's word, then
    `before` or `after` it did its edits.
    """

    role: Role
    name: str
    config: Path
    journal: Path
    log: Path
    dies: tuple[str, str] = ("", "")


class Journal:
    """A coder that writes down each paid call as it begins and as it ends, in a file that outlives the process."""

    def __init__(self, coder: Coder, part: Part) -> None:
        self._coder = coder
        self._part = part

    @property
    def name(self) -> str:
        """The configured word."""
        return self._coder.name

    async def run(self, request: Request) -> RunOutcome:
        """Make one call."""
        self._note("begin", request)
        call, when = self._part.dies
        if (call, when) == (str(request.call), "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        outcome = await self._coder.run(request)
        if (call, when) == (str(request.call), "after"):
            os.kill(os.getpid(), signal.SIGKILL)
        self._note("end", request)
        return outcome

    def _note(self, event: str, request: Request) -> None:
        key = f"{request.call} {request.item} attempt {request.attempt} round {request.round} retry {request.retry}"
        line = {"event": event, "pid": os.getpid(), "call": key, "at": time.monotonic()}
        with self._part.journal.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line)}\n")


def act(part: Part, offset: Shared) -> None:
    """Run one agent until it is killed. The entry of the forked process."""
    descriptor = os.open(part.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 2)
    configure(json=True, verbose=True, secrets=[])
    bind_agent(part.name)
    anyio.run(_act, part, VirtualClock(offset))


async def _act(part: Part, clock: VirtualClock) -> None:
    environment: Mapping[str, str] = {"HOME": str(part.config.parent)}
    settings = load(part.config, repository=None, environment=environment)

    def journalled(parts: RepositoryAdapters) -> RepositoryAdapters:
        return replace(parts, coder=Journal(parts.coder, part))

    with process_of(settings, part.role, clock, environment, name=part.name) as process:
        async with at_work(process, change=journalled, interval_seconds=TICK_SECONDS) as (loop, _):
            await loop.run(anyio.Event())
