"""The start of an agent: what it is made of, once GitHub has been asked; a daemon waits for a GitHub that is away.

Before, each git server proves that it keeps what the lock relies on; that proof is valid for a day.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import anyio
import anyio.to_thread
import structlog

from config.settings import Settings
from config.state import VERSION
from runtime.arguments import Arguments
from runtime.building.assembly import Process, RepositoryAdapters, connect
from shared.clock import Clock
from shared.errors import Blocked, EngineError, Transient, Unauthorized
from shared.filesystem import directories
from shared.filesystem.file_lock import FileLock
from shared.git.probe import try_repository, try_server
from shared.lock.write_permit import OperatorPermit
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

        made = await side_by_side(own_order(tuple(configured), process.agent.id), open_one)
        found = {name: made[name] for name in configured}
        usable = [one for one in found.values() if isinstance(one, RepositoryAdapters)]
        aside = {name: one for name, one in found.items() if isinstance(one, Exception)}
        if not usable:
            first = next(iter(aside.values()))
            raise first if isinstance(first, EngineError) else Blocked(str(first)) from first
        return stack.pop_all(), UsableRepositories(usable, aside, open_one)


def own_order(names: Sequence[str], agent_id: str) -> Sequence[str]:
    """Return the names from a place on that depends on the agent, the skipped ones last.

    Agents of one token that start together then seldom read the same repository at the same moment, for which each
    would be charged: what another one has read before is free.
    """
    first = crc32(agent_id.encode()) % len(names) if names else 0
    return (*names[first:], *names[:first])


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


TRUSTED_SECONDS = 24 * 3600.0
"""Seconds for which a proof counts: a server's software changes rarely, and agents start often."""

ORDER = OperatorPermit("prove the git server")


async def prove(all_parts: Iterable[RepositoryAdapters]) -> None:
    """Prove that the git server of every repository is fit; raises `UnfitServer`, or as `Git.push`.

    What was proved less than a day ago, from this state directory, is not tried again. How the server decides between
    two pushes is proved in one repository for all of an owner's; whether it takes the lock's refs, in each.
    """
    for parts in all_parts:
        repository_proof = Proof(parts.process.settings.state_dir / "proofs", parts.git.mirror.url)
        if await anyio.to_thread.run_sync(repository_proof.counts, parts.process.clock.now()):
            continue
        async with _one_at_a_time(parts):
            await _prove_anew(parts, repository_proof)


async def _prove_anew(parts: RepositoryAdapters, repository_proof: Proof) -> None:
    server, url, now = server_proof(parts), parts.git.mirror.url, parts.process.clock.now()
    if await anyio.to_thread.run_sync(repository_proof.counts, now):
        return  # another agent of this machine has proved it meanwhile
    if await anyio.to_thread.run_sync(server.counts, now):
        await try_repository(parts.git.fences)
    else:
        await try_server(parts.git.mirror.git, url, parts.git.identity, ORDER)
        await anyio.to_thread.run_sync(server.write, now)
    await anyio.to_thread.run_sync(repository_proof.write, now)
    log.info("git_server_proved", url=url)


@asynccontextmanager
async def _one_at_a_time(parts: RepositoryAdapters) -> AsyncIterator[None]:
    """Let agents that start together on one machine prove a repository once; if no file can be locked, each does."""
    lock = FileLock(parts.git.mirror.git.git_dir.with_suffix(".proof.lock"))
    async with AsyncExitStack() as stack:
        with suppress(OSError):
            await stack.enter_async_context(lock.held())
        yield


def server_proof(parts: RepositoryAdapters) -> Proof:
    """Return the note about the server, for all repositories of an owner."""
    return Proof(parts.process.settings.state_dir / "proofs", parts.git.mirror.url.rpartition("/")[0])


class Proof:
    """The note that the git server was fit, for one repository or an owner's; it may be deleted at any time."""

    def __init__(self, directory: Path, url: str) -> None:
        self._file = directory / f"{url.partition('://')[2].replace('/', '__')}.json"
        self._url = url

    def counts(self, now: float) -> bool:
        """Return whether it is there, of this layout, and younger than a day.

        `now` is local seconds since the epoch.
        """
        try:
            content = json.loads(self._file.read_bytes())
            known = (content["version"], content["url"]) == (VERSION, self._url)
            return known and 0 <= now - float(content["at"]) < TRUSTED_SECONDS
        except (OSError, ValueError, TypeError, KeyError):
            return False

    def write(self, now: float) -> None:
        """Write the note; if it cannot be written, the next start tries again, and nothing else follows."""
        content = json.dumps({"version": VERSION, "url": self._url, "at": now}) + "\n"
        fresh = self._file.with_name(f".{secrets.token_hex(4)}")
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            directories.write(fresh, content.encode())
            fresh.replace(self._file)
