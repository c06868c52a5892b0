"""The start of an agent: what it is made of, once GitHub has been asked; a daemon waits for a GitHub that is away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar

import structlog

from config.settings import Settings
from runtime.arguments import Arguments
from runtime.building.assembly import Parts, Process, reached
from runtime.building.git_server_check import prove
from shared.admission import Admission
from shared.clock import Clock
from shared.errors import Blocked, EngineError, Transient, Unauthorized
from shared.items import Agent
from shared.loop import Loop
from shared.process import CommandFailed
from shared.slots import Slots
from shared.workflow import Role

T = TypeVar("T")

log = structlog.get_logger()

Build = Callable[[Parts], Agent]
"""Makes an agent from the parts of one repository."""

Prepare = Callable[[Parts, Arguments], Awaitable[Parts]]
"""What an agent does once, per repository, before it is built."""

FIRST_SECONDS = 1.0
"""The first wait; each further one is twice as long."""

LONGEST_SECONDS = 300.0
"""No wait is longer: that is how late an agent may notice that GitHub is back."""

TOLD_SECONDS = 60.0
"""The log says at most once in so many seconds that it still waits."""


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of agent, and how it is built."""

    role: Role
    build: Build
    prepare: Prepare | None = None


async def patiently(attempt: Callable[[], Awaitable[T]], clock: Clock) -> T:
    """What `attempt` returns, tried again after growing waits for as long as it raises `Transient`.

    Everything else it raises is raised at once: wrong credentials and a wrong configuration do not pass.
    """
    pause, told = FIRST_SECONDS, float("-inf")
    while True:
        try:
            return await attempt()
        except Transient as error:
            if clock.boot() - told >= TOLD_SECONDS:
                told = clock.boot()
                log.warning("start_delayed", outcome="retrying", error=str(error), next_try_seconds=pause)
        await clock.sleep(pause)
        pause = min(2 * pause, LONGEST_SECONDS)


@dataclass(frozen=True, slots=True)
class Site:
    """What one process works with: the repositories that can be used, and why others cannot be used just now."""

    parts: Sequence[Parts]
    aside: Mapping[str, Exception]
    furnish: Callable[[str], Awaitable[Parts]]
    """Try a repository (full name) again; raises what keeps it from being used."""


async def furnished(process: Process, arguments: Arguments, prepare: Prepare | None) -> tuple[AsyncExitStack, Site]:
    """What one process works with, as far as GitHub has a say in it, and what closes it again.

    A repository that cannot be used is set aside, as long as there is another one. Raises `Transient`, `Unauthorized`,
    and what is wrong with the first repository where none can be used.
    """
    configured = {one.name: one for one in process.settings.repositories}
    usable: list[Parts] = []
    aside: dict[str, Exception] = {}
    async with AsyncExitStack() as stack:
        parts_of = await stack.enter_async_context(reached(process))

        async def furnish(name: str) -> Parts:
            parts = await parts_of(configured[name])
            await prove([parts])
            return parts if prepare is None else await prepare(parts, arguments)

        for name in configured:
            try:
                usable.append(await furnish(name))
            except (Transient, Unauthorized):
                raise
            except (EngineError, CommandFailed, OSError) as error:  # git or a disk may be in its way, too
                aside[name] = error
        if not usable:
            first = next(iter(aside.values()))
            raise first if isinstance(first, EngineError) else Blocked(str(first)) from first
        return stack.pop_all(), Site(usable, aside, furnish)


def slots_of(settings: Settings) -> Slots:
    """The slots that the loops of one agent take turns at: together they work on `max_concurrent` items."""
    return Slots(settings.max_concurrent, per_loop=settings.max_per_repository)


def loop_of(parts: Parts, agent: Agent, slots: Slots, admission: Admission) -> Loop:
    """The loop of one repository."""
    return Loop(
        agent,
        parts.clock,
        slots=slots,
        interval_seconds=parts.configured.poll_interval,
        cooldown_seconds=parts.settings.cooldown,
        admission=admission,
    )
