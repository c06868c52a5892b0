"""Construction of one process's events, figures, health and traces from the configuration."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from config.collector import collector
from config.observability import HealthSettings
from config.settings import Settings
from shared.clock import Clock
from shared.errors import Misconfigured
from shared.github.client import GitHub
from shared.models import Issue
from shared.telemetry.event_log import NoEventLog, Written
from shared.telemetry.event_recorder import EventRecorder, Telemetry
from shared.telemetry.events import EventLog
from shared.telemetry.fold import Tallies
from shared.telemetry.health_state import HealthState
from shared.telemetry.sqlite_store import SqliteStore
from shared.workflow import UNLABELLED, Role, Stage
from shared.workflow.labels import Labels

if TYPE_CHECKING:
    from shared.telemetry.postgres_store import PostgresStore

FLUSH_SECONDS = 5.0
"""Seconds that the end of a process waits for its last events to be written; a stop by signal has 30 in all."""

EVENTS = "events.db"

_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


@dataclass(frozen=True, slots=True)
class EventLogs:
    """The takers of one process's events: the log that keeps them, the one that sends traces, and a live reader."""

    database: EventLog
    traces: EventLog
    watcher: EventLog | None = None


class ProcessTelemetry:
    """The telemetry of one process: events into a trail, figures from them, signs of life."""

    def __init__(self, event_logs: EventLogs, agent: str, role: Role, clock: Clock, hide: Callable[[str], str]) -> None:
        """Record for `agent`, an id; `hide` takes secrets out of a text."""
        self.event_log, self._traces = event_logs.database, event_logs.traces
        self.tallies = Tallies()
        self.health = HealthState(clock)
        self.health.untraced = lambda: self._traces.dropped
        every = [one for one in (event_logs.database, event_logs.traces, event_logs.watcher) if one is not None]
        self._telemetry = Telemetry(agent, role, clock, every, self.tallies, hide=hide)
        self._recorders: dict[str, EventRecorder] = {}

    def event_recorder(self, repository: str) -> EventRecorder:
        """Return the event recorder of one repository; always the same one."""
        return self._recorders.setdefault(repository, EventRecorder(self._telemetry, repository))

    def tells(self, repository: str, github: GitHub) -> EventRecorder:
        """Return a repository's event recorder, once GitHub can be asked for its time and its limits."""
        event_recorder = self.event_recorder(repository)
        event_recorder.server_time = lambda: github.server_time
        self.health.rate_limits[repository] = lambda: github.rate_limit
        return event_recorder

    @asynccontextmanager
    async def served(self, settings: HealthSettings | None) -> AsyncIterator[int]:
        """Serve health and metrics while the block runs, at the port that it gives; 0 if they are switched off.

        Raises `Misconfigured`.
        """
        if settings is None or settings.port is None:
            yield 0
            return
        from shared.telemetry.health import Health  # a server is more than an agent without one should load

        health = Health(self._telemetry.agent, self._telemetry.role, self.tallies, self.health, self.event_log)
        async with health.served(settings.host, settings.port) as port:
            yield port

    async def written(self) -> None:
        """Wait, but not long, until the events are in the trail; a stop does not cut it short."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as group:
                for trail in (self.event_log, self._traces):
                    group.start_soon(to_thread.run_sync, trail.close, FLUSH_SECONDS)


def trail_of(settings: Settings) -> EventLog:
    """Return the log that keeps events; raises as `store`."""
    return Written(store(settings), keep=timedelta(days=settings.events.retention_days))


def store(settings: Settings) -> SqliteStore | PostgresStore:
    """Return the store of events; raises `Misconfigured` for a URL that cannot be used, or without the extra."""
    if settings.events.url is None:
        return SqliteStore(settings.state_dir / EVENTS)
    if find_spec("sqlalchemy") is None or find_spec("asyncpg") is None:
        raise Misconfigured("events.url: PostgreSQL needs the extra: pip install 'workflow-engine[postgres]'.")
    from shared.telemetry.postgres_store import PostgresStore

    return PostgresStore(settings.events.url.get_secret_value())


def traced(settings: Settings, environment: Mapping[str, str], agent: str, hide: Callable[[str], str]) -> EventLog:
    """Return the log that takes events of `agent`, an id, for traces; it keeps nothing if there is no collector.

    Raises `Misconfigured` for an address that cannot be used, or without the extra.
    """
    wanted = collector(settings.telemetry, environment)
    if wanted is None:
        return NoEventLog()
    if not _exporter_is_installed():
        raise Misconfigured(
            f"{wanted.named_by} asks for traces, which need the extra: pip install 'workflow-engine[otel]'."
        )
    from shared.telemetry.otlp_store import OtlpStore  # an agent that sends none should not load it

    resource = {"service.name": wanted.service, "service.instance.id": agent}
    store = OtlpStore(wanted.url, wanted.headers, resource, hide)
    return Written(store, keep=timedelta(days=settings.events.retention_days), to="collector")


def _exporter_is_installed() -> bool:
    try:
        return find_spec(_EXPORTER) is not None
    except ModuleNotFoundError:  # what it is a part of is not there
        return False


def queue(known: Iterable[Issue], names: Labels) -> dict[str, int]:
    """Return the number of these open items at each stage; one that shows several stages counts at each."""
    counted = dict.fromkeys((str(stage) for stage in Stage if stage not in UNLABELLED), 0)
    for issue in known:
        for stage in names.read(issue.labels).stages:
            counted[str(stage)] = counted.get(str(stage), 0) + 1
    return counted
