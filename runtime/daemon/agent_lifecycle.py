"""The life of one agent as a daemon: one generation for each configuration, until it is stopped or drained."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import anyio
import anyio.to_thread
import structlog

from config.settings import Settings
from runtime.arguments import Arguments
from runtime.building.assembly import Process
from runtime.building.sign_in import identity, with_gh_token
from runtime.daemon.configuration import Configuration
from runtime.daemon.repository_loops import RepositoryLoops, WebhookHints
from runtime.daemon.start import Job, open_usable, retry_while_transient
from runtime.signals import Orders
from shared.errors import EngineError
from shared.filesystem.disk_space import DiskSpace
from shared.process import CommandFailed
from shared.scheduling.admission import Admission, Tell
from shared.scheduling.quiet_hours import quiet
from shared.telemetry.logging import bind_agent, hide_also

log = structlog.get_logger()

PAUSE_FILE = "PAUSE"
"""The file in the state directory that keeps all agents that run from it from beginning anything."""

DRAINED = "drained: any other agent goes on from here"
CHANGED = "the configuration has changed: it goes on from here"


class AgentLifecycle:
    """One agent. A new configuration waits for the phases in work; if it does not work, the old one comes back."""

    def __init__(self, job: Job, process: Process, arguments: Arguments, orders: Orders, hints: WebhookHints) -> None:
        self.job, self._process, self._arguments, self._orders, self._hints = job, process, arguments, orders, hints
        self.agent_id = process.agent.id
        """Its id in the state directory."""
        self.live = False
        """True while it polls."""
        self.has_lived = False
        self._loops: RepositoryLoops | None = None
        self._admission = Admission()
        self._next: Settings | None = None
        self._last_agreed: Process | None = None
        self._starting = anyio.CancelScope()
        orders.on_drain.append(lambda: self._leave(DRAINED))

    @property
    def latest_settings(self) -> Settings:
        """The settings that it uses, or will use as soon as the phases in work have ended."""
        return self._next or self._process.settings

    @property
    def used(self) -> Settings | None:
        """The settings that it polls by just now; None while it does not poll."""
        return self._process.settings if self.live else None

    @property
    def held(self) -> tuple[str, ...]:
        """Items that are in work or wait, as `owner/repo#3`."""
        return self._loops.held if self.live and self._loops is not None else ()

    def renew(self, settings: Settings) -> None:
        """Use other settings as soon as the phases in work have ended."""
        self._next = settings
        self._leave(CHANGED)

    def unreadable(self, settings: Settings) -> str:
        """Return why it could not sign in with other settings, in one sentence; those before are still in use."""
        fresh = replace(self._process, settings=settings)
        if identity(fresh) == ("token", settings.github.token_env):
            return ""  # a variable, or what `gh` says, which is asked when it is time
        try:
            fresh.secrets.token()
            fresh.secrets.signing()
        except EngineError as error:
            return str(error)
        return ""

    def _leave(self, why: str) -> None:
        self._admission.shut(why)
        self._starting.cancel()

    def status(self) -> str:
        """Return what it is doing, in a few words."""
        if not self.live or self._loops is None:
            return f"{self.job.role}: starting"
        health, loops = self._process.telemetry.health, self._loops
        share = f", {health.share():.0%} of the account's limits" if health.share() < 1 else ""
        aside = f", set aside: {', '.join(health.aside)}" if health.aside else ""
        held_back = f", {why}" if (why := self._admission.holding_back) else ""
        refused = f", {next(iter(health.refused.values()))}" if health.refused else ""
        done = f"{loops.in_work} in work, {loops.waiting} waiting"
        return f"{self.job.role}: {done}{held_back}{refused}{share}{_slow_polls(*loops.slowest_poll)}{aside}"

    def stuck(self) -> str:
        """Return why it does not live, in one sentence; empty if it does."""
        return self._process.telemetry.health.stuck()

    def stuck_or_status(self) -> str:
        """Return why it does not live, else what it is doing, in one line."""
        return self.stuck() or self.status()

    async def run(self, configuration: Configuration, begun: Callable[[], None]) -> None:
        """Live; call `begun` whenever it polls. Raises what keeps the first generation from beginning."""
        bind_agent(self._process.agent.id)
        configuration.join(self)
        last_good: Process | None = None
        while True:
            try:
                lived = await self._generation(configuration, begun)
            except (EngineError, CommandFailed, OSError) as error:
                if last_good is None or self._process is last_good or self.live:
                    raise
                refused, self._process = self._process.settings, last_good
                configuration.refuse(str(error), refused)
                continue
            finally:
                self.live = False
            last_good = self._process if lived else last_good
            if self._next is None or self._orders.draining:
                return
            await self._renew(configuration)

    async def _renew(self, configuration: Configuration) -> None:
        """Take the settings that wait; if they name something that cannot be read, those before stay in force."""
        wanted, self._next = self._next, None
        if wanted is None:
            return
        if self._process.settings is configuration.settings:
            self._last_agreed = self._process
        if self._last_agreed is not None and wanted is self._last_agreed.settings:
            self._process = self._last_agreed  # with what it has read then: a file that it names may be gone
            return
        try:
            self._process = await _with_settings(self._process, wanted)
        except EngineError as error:
            configuration.refuse(str(error), wanted)

    @property
    def _ordered_away(self) -> bool:
        """True if there is no use in beginning: it is to end, or to begin with other settings."""
        return self._orders.draining or self._next is not None

    async def _generation(self, configuration: Configuration, begun: Callable[[], None]) -> bool:
        """Live with one configuration; return False if it was ordered to leave before it began to poll."""
        process, settings = self._process, self._process.settings
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(process.telemetry.served(settings.health))
            attempt = partial(open_usable, process, self._arguments, self.job.prepare)
            with anyio.CancelScope() as self._starting:
                if self._ordered_away:  # before there was a scope to cancel
                    return False
                opened, usable = await retry_while_transient(attempt, process.clock)
                await stack.enter_async_context(opened)
            if self._ordered_away:
                return False
            self._loops = loops = RepositoryLoops(self.job, process, usable, self._hints)
            self._admission = admission_of(process, loops.tell)
            await loops.open(stack, self._admission)
            log.info("started", repositories=[one.configured.name for one in usable.parts])
            loops.tell("started")
            self.live = self.has_lived = True
            configuration.used(settings)
            begun()
            await self._work(loops)
        return True

    async def _work(self, loops: RepositoryLoops) -> None:
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(self._process.outbox.run)
                await loops.run()
                beside.cancel_scope.cancel()
        finally:
            how = "drained" if self._orders.draining else "renewing" if self._next else "ended"
            state = "stopped" if self._orders.stopped_by else how
            log.info("ended", how=state)
            loops.tell(state)


def admission_of(process: Process, tell: Tell) -> Admission:
    """Return the orders that hold for all repositories of one agent; `tell` is told that they have changed."""
    settings, clock = process.settings, process.clock
    spans = [one.span() for one in settings.quiet_hours]
    return Admission(
        DiskSpace((settings.state_dir, settings.work_dir)),
        pause_file=settings.state_dir / PAUSE_FILE,
        quiet=lambda: quiet(spans, datetime.fromtimestamp(clock.now(), UTC)),
        tell=tell,
    )


async def _with_settings(process: Process, settings: Settings) -> Process:
    """Return the same agent with other settings, which may name other secrets."""
    environment = await anyio.to_thread.run_sync(with_gh_token, settings, process.environment)
    fresh = replace(process, settings=settings, environment=environment)
    hide_also(fresh.secrets.known())
    return fresh


def _slow_polls(seconds: float, configured: float) -> str:
    """Return how often it polls, for the status; empty if that is as often as configured."""
    return f", polls every {seconds:.0f} s instead of {configured:g} s" if seconds > 1.01 * configured else ""
