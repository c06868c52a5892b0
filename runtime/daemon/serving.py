"""The agents of one process side by side: one stop for all, one configuration, one service manager, one webhook."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio
import structlog

from config.credentials import hook_secret
from config.environment import notify
from config.settings import Settings
from runtime import memory
from runtime.building.process import Process
from runtime.daemon.agent_lifecycle import AgentLifecycle
from runtime.daemon.configuration import Configuration
from runtime.daemon.repository_loops import WebhookHints
from runtime.daemon.service_manager import ServiceManager
from runtime.daemon.status_file import StatusFile, place_of
from runtime.signals import Orders
from shared.clock import Clock

log = structlog.get_logger()

AGAIN_SECONDS = 60.0
"""Seconds until one of several agents that has failed is begun again."""


async def serve(
    agents: Sequence[AgentLifecycle],
    configuration: Configuration,
    orders: Orders,
    hints: WebhookHints,
    process: Process,
) -> None:
    """Run them until all have ended. A failure at the start of one ends all; later failures are its own."""
    manager = ServiceManager(notify(process.environment), process.clock)
    orders.on_stop.append(manager.stopping)  # not on a drain, which may take hours: a manager kills what stops

    def renew(*, anew: bool = False) -> None:
        manager.reloading()
        if settings := configuration.changed(anew=anew, flaw=partial(_unreadable, agents)):
            for agent in agents:
                agent.renew(settings)
        manager.ready()

    def begun() -> None:
        if all(agent.live for agent in agents):
            manager.ready()

    orders.on_reload.append(partial(renew, anew=True))
    async with _serve_webhook(process, hints), anyio.create_task_group() as beside:
        beside.start_soon(manager.attend, partial(_status, agents), partial(_stuck, agents))
        beside.start_soon(configuration.watch, renew, process.clock)
        beside.start_soon(_status_file(agents, process).keep, process.clock)
        beside.start_soon(memory.keep_small, process.clock)
        async with anyio.create_task_group() as group:
            for agent in agents:
                group.start_soon(_keep_running, agent, configuration, begun, process.clock, len(agents) == 1)
        beside.cancel_scope.cancel()


async def _keep_running(
    agent: AgentLifecycle, configuration: Configuration, begun: Callable[[], None], clock: Clock, alone: bool
) -> None:
    """Run one agent; if it is not alone and fails after it has begun, run it again."""
    while True:
        try:
            return await agent.run(configuration, begun)
        except Exception:
            if alone or not agent.has_lived:
                raise
            log.exception("agent_failed", outcome="retrying", role=str(agent.job.role), next_try_seconds=AGAIN_SECONDS)
        await clock.sleep(AGAIN_SECONDS)


@asynccontextmanager
async def _serve_webhook(process: Process, hints: WebhookHints) -> AsyncIterator[None]:
    """Take webhooks while the block runs, if that is configured."""
    wanted = process.settings.webhook
    if wanted.port is None:
        yield
        return
    from runtime.daemon.webhook import Webhook  # a server is more than an agent without one should load

    webhook = Webhook(hook_secret(wanted, process.environment), hints.ring, process.clock)
    async with webhook.served(wanted.host, wanted.port):
        yield


def _status_file(agents: Sequence[AgentLifecycle], process: Process) -> StatusFile:
    """Return the file of each agent's sentence, beside its lock in the state directory they were started with."""
    directory = process.settings.state_dir
    return StatusFile([(place_of(directory, agent.agent_id), agent.stuck_or_status) for agent in agents])


def _unreadable(agents: Sequence[AgentLifecycle], settings: Settings) -> str:
    return next(filter(None, (agent.unreadable(settings) for agent in agents)), "")


def _status(agents: Sequence[AgentLifecycle]) -> str:
    return "; ".join(agent.status() for agent in agents)


def _stuck(agents: Sequence[AgentLifecycle]) -> str:
    return next((sentence for agent in agents if (sentence := agent.stuck())), "")
