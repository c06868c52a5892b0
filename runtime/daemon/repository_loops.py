"""The repositories of one generation of an agent: each is polled in a loop of its own, wherever it can be used."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

import anyio
import structlog
from anyio.abc import TaskGroup

from runtime.building.assembly import Process, RepositoryAdapters, observed
from runtime.daemon.start import Job, UsableRepositories, loop_of, slots_of
from shared.errors import EngineError, Transient
from shared.loop.polling_loop import Loop
from shared.process import CommandFailed
from shared.reconcile.lost import restore_definitions
from shared.scheduling.admission import Admission
from shared.telemetry.events import EventKind


class WebhookHints:
    """One bell for each repository. Ringing is a hint: a loop looks at most once in a few seconds, whoever rings."""

    def __init__(self) -> None:
        self._answering: dict[str, list[Loop]] = {}

    @contextmanager
    def answered_by(self, repository: str, loop: Loop) -> Iterator[None]:
        """Let this loop answer for a repository while the block runs."""
        loops = self._answering.setdefault(repository.casefold(), [])
        loops.append(loop)
        try:
            yield
        finally:
            loops.remove(loop)

    def ring(self, repository: str) -> bool:
        """Let every loop of this repository look again; return whether there is one."""
        loops = self._answering.get(repository.casefold(), [])
        for loop in loops:
            loop.hear_of_news()
        return bool(loops)


log = structlog.get_logger()

AGAIN_SECONDS = 300.0
"""Seconds until a repository that was set aside is tried again; nobody waits for it meanwhile."""

DEFINED_SECONDS = 1.0
"""Seconds until the label definitions of the next repository are checked: hundreds are no burden to a start."""


class RepositoryLoops:
    """The loops of an agent. An unusable repository is set aside: that is logged once, and it is tried again."""

    def __init__(self, job: Job, process: Process, repositories: UsableRepositories, hints: WebhookHints) -> None:
        self._job, self._process, self._repositories, self._hints = job, process, repositories, hints
        self._slots = slots_of(process.settings, process.clock)
        self._health = process.telemetry.health
        self._health.aside.clear()
        self._polled: list[tuple[RepositoryAdapters, Loop]] = []
        self._running = 0
        self._trying = anyio.CancelScope()
        self._pausing = anyio.CancelScope()

    @property
    def in_work(self) -> int:
        """Number of items that are being worked on."""
        return sum(loop.busy for _, loop in self._polled)

    @property
    def waiting(self) -> int:
        """Number of items that are held and wait."""
        return sum(len(loop.resting) for _, loop in self._polled)

    @property
    def slowest_poll(self) -> tuple[float, float]:
        """The longest interval between two polls, in seconds, and the configured one in whose place it is."""
        wanted = [(parts.github.points, parts.configured.poll_interval) for parts, _ in self._polled]
        return max(((points.interval(seconds), seconds) for points, seconds in wanted), default=(0.0, 0.0))

    @property
    def held(self) -> tuple[str, ...]:
        """Items that are in work or wait, as `owner/repo#3`."""
        return tuple(one for _, loop in self._polled for one in loop.held)

    async def open(self, stack: AsyncExitStack, admission: Admission) -> None:
        """Get ready to poll, until `stack` is left."""
        self._admission = admission
        for parts in self._repositories.parts:
            await stack.enter_async_context(self._open_loop(parts))
        for name, error in self._repositories.aside.items():
            self._set_aside(name, error)

    async def run(self) -> None:
        """Poll until all loops have ended."""
        async with anyio.create_task_group() as group:
            for parts, loop in tuple(self._polled):
                self._running += 1
                group.start_soon(self._poll, parts, loop)
            group.start_soon(self._define_labels, [parts for parts, _ in self._polled])
            group.start_soon(self._try_again, group)

    def tell(self, state: str, reason: str = "") -> None:
        """Record an event of the process in the trail of each of its repositories."""
        tell([parts for parts, _ in self._polled], state, reason)

    @asynccontextmanager
    async def _open_loop(self, parts: RepositoryAdapters) -> AsyncIterator[Loop]:
        loop = loop_of(parts, observed(self._job.build(parts), parts), self._slots, self._admission)
        async with loop.open(parts.side_tasks):
            with self._hints.answered_by(parts.configured.name, loop):
                self._polled.append((parts, loop))
                yield loop

    async def _poll(self, parts: RepositoryAdapters, loop: Loop) -> None:
        """Poll one loop to its end; from then on nobody waits for its ticks."""
        try:
            await loop.run(anyio.Event(), most_ticks=self._process.settings.max_iterations)
        finally:
            self._health.leave(parts.configured.name)
            self._running -= 1
            if not self._running:
                self._trying.cancel()
                self._pausing.cancel()

    async def _define_labels(self, all_parts: Sequence[RepositoryAdapters]) -> None:
        """Define labels in one repository after the other; with a fixed number of polls, in all before the end."""
        for place, parts in enumerate(all_parts):
            if place and self._running:
                with anyio.CancelScope() as self._pausing:
                    await self._process.clock.sleep(DEFINED_SECONDS)
            if not (self._running or self._process.settings.max_iterations):
                return  # it was told to stop
            await restore_definitions(parts.github.labels, parts.configured.name)

    def _set_aside(self, name: str, error: Exception) -> None:
        if str(error) == self._health.aside.get(name):
            return
        self._health.aside[name] = str(error)
        log.error(
            "repository_set_aside", outcome="retrying", repo=name, error=str(error), next_try_seconds=AGAIN_SECONDS
        )
        self._process.telemetry.event_recorder(name).tell(EventKind.AGENT, state="set_aside", reason=str(error))

    async def _try_again(self, group: TaskGroup) -> None:
        """Take up what was set aside as soon as it can be used; end with the last loop."""
        with self._trying:
            while self._health.aside:
                await self._process.clock.sleep(AGAIN_SECONDS)
                for name in tuple(self._health.aside):
                    await self._try_repository(name, group)

    async def _try_repository(self, name: str, group: TaskGroup) -> None:
        try:
            parts = await self._repositories.open_one(name)
        except Transient:
            return  # it says nothing about the repository
        except (EngineError, CommandFailed, OSError) as error:  # this machine's disk may be in its way, too
            self._set_aside(name, error)
            return
        del self._health.aside[name]
        log.info("repository_taken_up", outcome="completed", repo=name)
        parts.event_recorder.tell(EventKind.AGENT, state="taken_up")
        self._running += 1
        group.start_soon(self._join, parts)

    async def _join(self, parts: RepositoryAdapters) -> None:
        async with self._open_loop(parts) as loop:
            await restore_definitions(parts.github.labels, parts.configured.name)
            await self._poll(parts, loop)


def tell(all_parts: Sequence[RepositoryAdapters], state: str, reason: str = "") -> None:
    """Record an event of the process in the trails of these repositories."""
    for parts in all_parts:
        parts.event_recorder.tell(EventKind.AGENT, state=state, reason=reason or None)
