"""The start of an agent: what it is made of, once GitHub has been asked; a daemon waits for a GitHub that is away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.to_thread
import structlog

from config.settings import Settings
from runtime.arguments import Arguments
from runtime.building.assembly import Process, RepositoryAdapters, connect
from runtime.daemon.git_server_proof import prove, server_proof
from shared.clock import Clock
from shared.errors import Blocked, EngineError, Transient, Unauthorized
from shared.loop.polling_loop import Loop
from shared.process import CommandFailed
from shared.scheduling.admission import Admission
from shared.scheduling.agent_contract import Agent
from shared.scheduling.slots import Slots
from shared.workflow import Role

T = TypeVar("T")

log = structlog.get_logger()

Build = Callable[[RepositoryAdapters], Agent]
"""Makes an agent from the parts of one repository."""

Prepare = Callable[[RepositoryAdapters, Arguments], Awaitable[RepositoryAdapters]]
"""Does what an agent needs once, per repository, before it is built."""

FIRST_SECONDS = 1.0
"""Seconds of the first wait; each further one is twice as long."""

LONGEST_SECONDS = 300.0
"""Maximum seconds of a wait: so late an agent may notice that GitHub is back."""

AT_ONCE = 8
"""Number of repositories that are made ready side by side: most of it is waiting for GitHub and for git."""

TOLD_SECONDS = 60.0
"""Seconds between two log lines that it still waits."""


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of agent, and how it is built."""

    role: Role
    build: Build
    prepare: Prepare | None = None


async def retry_while_transient(attempt: Callable[[], Awaitable[T]], clock: Clock) -> T:
    """Return what `attempt` returns, tried again after growing waits for as long as it raises `Transient`.

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
class UsableRepositories:
    """The repositories that one process can use, and the errors of those that it cannot use just now."""

    parts: Sequence[RepositoryAdapters]
    aside: Mapping[str, Exception]
    open_one: Callable[[str], Awaitable[RepositoryAdapters]]
    """Tries a repository (full name) again; raises what keeps it from being used."""


async def open_usable(
    process: Process, arguments: Arguments, prepare: Prepare | None
) -> tuple[AsyncExitStack, UsableRepositories]:
    """Return the usable repositories of one process, which GitHub decides, and the stack that closes them again.

    A repository that cannot be used is set aside, as long as there is another one. Raises `Transient`, `Unauthorized`,
    and what is wrong with the first repository if none can be used.
    """
    configured = {one.name: one for one in process.settings.repositories}
    async with AsyncExitStack() as stack:
        parts_of = await stack.enter_async_context(connect(process))

        one_by_one = anyio.Lock()

        async def open_one(name: str) -> RepositoryAdapters:
            parts = await parts_of(configured[name])
            known = await anyio.to_thread.run_sync(server_proof(parts).counts, parts.process.clock.now())
            async with nullcontext() if known else one_by_one:  # whoever comes after the first finds its proof
                await prove([parts])
            return parts if prepare is None else await prepare(parts, arguments)

        found = await side_by_side(configured, open_one)
        usable = [one for one in found.values() if isinstance(one, RepositoryAdapters)]
        aside = {name: one for name, one in found.items() if isinstance(one, Exception)}
        if not usable:
            first = next(iter(aside.values()))
            raise first if isinstance(first, EngineError) else Blocked(str(first)) from first
        return stack.pop_all(), UsableRepositories(usable, aside, open_one)


async def side_by_side(names: Iterable[str], attempt: Callable[[str], Awaitable[T]]) -> dict[str, T | Exception]:
    """Return for each name what `attempt` returns, or its error, in the order of `names`; at most `AT_ONCE` at a time.

    An error that says nothing about one repository ends the attempt: nothing more is begun, and what is under way keeps
    what it has fetched. Raises `Transient`, `Unauthorized`, and errors that nobody expects.
    """
    found: dict[str, T | Exception] = {}
    of_all: list[Exception] = []
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def one(name: str) -> None:
        async with limiter:
            if of_all:
                return
            try:
                found[name] = await attempt(name)
            except (Transient, Unauthorized) as error:
                of_all.append(error)
            except (EngineError, CommandFailed, OSError) as error:  # git or a disk may be in its way, too
                found[name] = error
            except Exception as error:
                of_all.append(error)

    ordered = tuple(names)
    async with anyio.create_task_group() as group:
        for name in ordered:
            group.start_soon(one, name)
    if of_all:
        raise of_all[0]
    return {name: found[name] for name in ordered}


def slots_of(settings: Settings, clock: Clock) -> Slots:
    """Return the slots that the loops of one agent take turns at: together they work on `max_concurrent` items."""
    return Slots(settings.max_concurrent, clock, per_repository=settings.max_per_repository)


def loop_of(parts: RepositoryAdapters, agent: Agent, slots: Slots, admission: Admission) -> Loop:
    """Return the loop of one repository."""
    loop = Loop(
        agent,
        parts.process.clock,
        slots=slots,
        interval_seconds=parts.configured.poll_interval,
        cooldown_seconds=parts.process.settings.cooldown,
        admission=admission,
    )
    loop.stretched = parts.github.points.interval
    return loop
