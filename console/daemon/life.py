"""The life of one agent as a daemon: one generation for each configuration, until it is stopped or drained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

import anyio
import anyio.to_thread
import structlog

from config.settings import Settings
from console.arguments import Arguments
from console.assembly import Parts, Process
from console.chronicle import observed
from console.daemon.configuration import Configuration
from console.daemon.doorbells import Doorbells
from console.sign_in import completed, known_secrets
from console.signals import Orders
from console.start import Job, furnished, loops_of, patiently
from shared.admission import Admission
from shared.errors import EngineError
from shared.loop import Loop
from shared.reconcile.definitions import restore
from shared.room import Room
from shared.telemetry.events import Kind
from shared.telemetry.logging import bind_agent, hide_also

log = structlog.get_logger()

PAUSE_FILE = "PAUSE"
"""In the state directory: while it is there, no agent that runs from it begins anything."""

DRAINED = "drained: any other agent goes on from here"
CHANGED = "the configuration has changed: it goes on from here"


class Life:
    """One agent. A new configuration waits for the phases in work, and if it does not work the old one comes back."""

    def __init__(self, job: Job, process: Process, arguments: Arguments, orders: Orders, bells: Doorbells) -> None:
        self.job, self._process, self._arguments, self._orders, self._bells = job, process, arguments, orders, bells
        self.live = False
        """Whether it polls."""
        self.has_lived = False
        self._loops: Sequence[Loop] = ()
        self._admission = Admission()
        self._next: Settings | None = None
        self._starting = anyio.CancelScope()
        orders.on_drain.append(lambda: self._leave(DRAINED))

    def renew(self, settings: Settings) -> None:
        """Go on with other settings as soon as the phases in work have ended."""
        self._next = settings
        self._leave(CHANGED)

    def _leave(self, why: str) -> None:
        self._admission.shut(why)
        self._starting.cancel()

    def status(self) -> str:
        """What it is doing, in a few words."""
        if not self.live:
            return f"{self.job.role}: starting"
        working, waiting = sum(one.busy for one in self._loops), sum(len(one.resting) for one in self._loops)
        leaving = self._admission.leaving
        return f"{self.job.role}: {working} in work, {waiting} waiting" + (f", {leaving}" if leaving else "")

    def stuck(self) -> str:
        """Why it does not live, in one sentence; empty when it does."""
        return self._process.chronicle.vitals.stuck()

    async def run(self, configuration: Configuration, begun: Callable[[], None]) -> None:
        """Live; `begun` is called whenever it polls. Raises what keeps the first generation from beginning."""
        bind_agent(self._process.agent.id)
        good: Process | None = None
        while True:
            try:
                lived = await self._generation(configuration, begun)
            except EngineError as error:
                if good is None or self._process is good or self.live:
                    raise
                configuration.refuse(str(error))
                self._process = good
                continue
            finally:
                self.live = False
            good = self._process if lived else good
            if self._next is None or self._orders.draining:
                return
            await self._renew(configuration)

    async def _renew(self, configuration: Configuration) -> None:
        """Take the settings that wait; what they name and cannot be read leaves the ones before in force."""
        wanted, self._next = self._next, None
        if wanted is None:
            return
        try:
            self._process = await _renewed(self._process, wanted)
        except EngineError as error:
            configuration.refuse(str(error))

    @property
    def _ordered_away(self) -> bool:
        """Whether there is no use in beginning: it is to end, or to begin with other settings."""
        return self._orders.draining or self._next is not None

    async def _generation(self, configuration: Configuration, begun: Callable[[], None]) -> bool:
        """Live with one configuration; False when it was ordered to leave before it began to poll."""
        process, settings = self._process, self._process.settings
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(process.chronicle.served(settings.health))
            attempt = partial(furnished, process, self._arguments, self.job.prepare)
            with anyio.CancelScope() as self._starting:
                if self._ordered_away:  # before there was a scope to cancel
                    return False
                furniture, all_parts = await patiently(attempt, process.clock)
                await stack.enter_async_context(furniture)
            if self._ordered_away:
                return False
            self._admission = admission_of(process, all_parts)
            self._loops = loops_of(process, [observed(self.job.build(one), one) for one in all_parts], self._admission)
            names = [one.configured.name for one in all_parts]
            log.info("started", repositories=names)
            _tell(all_parts, "started")
            for loop in self._loops:
                await stack.enter_async_context(loop.open())
            stack.enter_context(self._bells.answered_by(dict(zip(names, self._loops, strict=True))))
            self.live = self.has_lived = True
            configuration.used(settings)
            begun()
            await self._work(all_parts)
        return True

    async def _work(self, all_parts: Sequence[Parts]) -> None:
        process = self._process
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(process.outbox.run)
                async with anyio.create_task_group() as group:
                    for parts in all_parts:
                        group.start_soon(restore, parts.labels, parts.configured.name)
                    for parts, loop in zip(all_parts, self._loops, strict=True):
                        group.start_soon(_polling, loop, parts, process.settings.max_iterations)
                beside.cancel_scope.cancel()
        finally:
            how = "drained" if self._orders.draining else "renewing" if self._next else "ended"
            state = "stopped" if self._orders.stopped_by else how
            log.info("ended", how=state)
            _tell(all_parts, state)


async def _polling(loop: Loop, parts: Parts, most_ticks: int) -> None:
    """One loop to its end; from then on nobody waits for its ticks."""
    try:
        await loop.run(anyio.Event(), most_ticks=most_ticks)
    finally:
        parts.chronicle.vitals.left(parts.configured.name)


def admission_of(process: Process, all_parts: Sequence[Parts]) -> Admission:
    """The orders that hold for all repositories of one agent."""
    settings = process.settings
    return Admission(
        Room((settings.state_dir, settings.work_dir)),
        pause_file=settings.state_dir / PAUSE_FILE,
        tell=partial(_tell, all_parts),
    )


def _tell(all_parts: Sequence[Parts], state: str, reason: str = "") -> None:
    """An event of the process stands in the trail of each of its repositories."""
    for parts in all_parts:
        parts.scribe.tell(Kind.AGENT, state=state, reason=reason or None)


async def _renewed(process: Process, settings: Settings) -> Process:
    """The same agent with other settings, which may name other secrets."""
    environment = await anyio.to_thread.run_sync(completed, settings, process.environment)
    fresh = replace(process, settings=settings, environment=environment)
    hide_also(known_secrets(fresh))
    return fresh
