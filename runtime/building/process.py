"""One agent process, whatever the number of its repositories: its settings, secrets and telemetry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import aiohttp
import anyio

from config.credentials import webhook_secret
from config.engine import NotifySettings
from config.proxies import proxy_for
from config.settings import Settings
from config.state import AgentIdentity
from runtime.building.connections import Connections
from runtime.building.secrets import ProcessSecrets
from runtime.building.telemetry import EventLogs, ProcessTelemetry, traced, trail_of
from shared.clock import Clock
from shared.escalation.channels import Mail, Webhook
from shared.escalation.delivery import Channel, Outbox
from shared.llm.circuit_breaker import Breaker
from shared.llm.endpoint import Endpoints
from shared.outgoing.outbound_filter import Outgoing
from shared.scheduling.account_work import AccountWork
from shared.telemetry.events import EventLog
from shared.workflow import Role


@dataclass(frozen=True)
class Process:
    """The common parts of one agent process, whatever the number of its repositories."""

    settings: Settings
    role: Role
    clock: Clock
    agent: AgentIdentity
    environment: Mapping[str, str] = field(repr=False)
    roles: frozenset[str] = frozenset()
    """The roles that it is restricted to; empty means all."""
    choices: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Repository -> item -> the backend that a person has chosen for it."""
    watcher: EventLog | None = None
    """The reader of events as they come; None: nobody."""
    connections: Connections = field(default_factory=Connections)
    """The connections to GitHub, which agents that run in one process share."""

    @cached_property
    def secrets(self) -> ProcessSecrets:
        """Every secret that it is configured with."""
        return ProcessSecrets(self.settings, self.role, self.environment)

    @cached_property
    def outgoing(self) -> Outgoing:
        """The gate for all text that leaves, with every secret that this process is configured with."""
        return Outgoing(self.secrets.known(), self.settings.notify.mention)

    @cached_property
    def outbox(self) -> Outbox:
        """The outbox of messages to people beyond GitHub, which are kept until they are delivered.

        Raises `Misconfigured` for a bad secret file.
        """
        channels = tuple(_channels(self.settings.notify, self.environment))
        return Outbox(self.settings.state_dir / "outbox", channels, self.clock, self.outgoing.hide)

    @cached_property
    def telemetry(self) -> ProcessTelemetry:
        """The telemetry of this process: events, figures, signs of life."""
        traces = traced(self.settings, self.environment, self.agent.id, self._hide)
        trails = EventLogs(trail_of(self.settings), traces, self.watcher)
        return ProcessTelemetry(trails, self.agent.id, self.role, self.clock, self._hide)

    @cached_property
    def paid_runs(self) -> anyio.CapacityLimiter:
        """Limit of runs of coding backends: as many at once as items may be worked on."""
        return anyio.CapacityLimiter(self.settings.max_concurrent)

    @cached_property
    def breakers(self) -> dict[str, Breaker]:
        """The breaker of each backend: its failures in a row, over all repositories."""
        return {}

    @cached_property
    def _work(self) -> dict[int, AccountWork]:
        return {}

    @cached_property
    def endpoints(self) -> dict[str, Endpoints]:
        """Backend -> where its runs send their requests, as far as that was built."""
        return {}

    def work_of(self, account: int) -> AccountWork:
        """Return the work of an account, by its id, in all repositories of the process."""
        return self._work.setdefault(account, AccountWork(self.clock.boot))

    def _hide(self, text: str) -> str:
        """Take secrets out of a text; they are read for the first one."""
        return self.outgoing.hide(text)


def _channels(notify: NotifySettings, environment: Mapping[str, str]) -> Iterator[Channel]:
    if notify.webhook is not None:
        url = notify.webhook.get_secret_value()
        proxy = proxy_for(url, environment)
        yield Webhook(url, webhook_secret(notify), lambda: aiohttp.ClientSession(proxy=proxy))
    if notify.smtp is not None and notify.sender is not None:
        yield Mail(notify.smtp.get_secret_value(), notify.sender, notify.to)
