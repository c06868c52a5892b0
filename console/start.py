"""The start of an agent: what it is made of, once GitHub has been asked; a daemon waits for a GitHub that is away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar

import structlog

from console.arguments import Arguments
from console.assembly import Parts, Process, opened
from console.fitness import prove
from shared.admission import Admission
from shared.clock import Clock
from shared.errors import Transient
from shared.items import Agent
from shared.loop import Loop
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


async def furnished(
    process: Process, arguments: Arguments, prepare: Prepare | None
) -> tuple[AsyncExitStack, Sequence[Parts]]:
    """What one process works with, as far as GitHub has a say in it, and what closes it again."""
    async with AsyncExitStack() as stack:
        all_parts: Sequence[Parts] = await stack.enter_async_context(opened(process))
        await prove(all_parts)
        if prepare is not None:
            all_parts = [await prepare(parts, arguments) for parts in all_parts]
        return stack.pop_all(), all_parts


def loops_of(process: Process, agents: Sequence[Agent], admission: Admission) -> list[Loop]:
    """A loop for each repository; together they work on `max_concurrent` items."""
    settings = process.settings
    slots = Slots(settings.max_concurrent, per_loop=settings.max_per_repository)
    return [
        Loop(
            agent,
            process.clock,
            slots=slots,
            interval_seconds=repository.poll_interval,
            cooldown_seconds=settings.cooldown,
            admission=admission,
        )
        for agent, repository in zip(agents, settings.repositories, strict=True)
    ]
