"""Construction of one process's traces, if they are wanted: a second trail of the same events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from importlib.util import find_spec

from config.collector import collector
from config.settings import Settings
from shared.errors import Misconfigured
from shared.telemetry.event_log import NoEventLog, Written
from shared.telemetry.events import EventLog

_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


def traced(settings: Settings, environment: Mapping[str, str], agent: str, hide: Callable[[str], str]) -> EventLog:
    """Return the log that takes events of `agent`, an id, for traces; it keeps nothing if there is no collector.

    Raises `Misconfigured` for an address that cannot be used, or without the extra.
    """
    wanted = collector(settings.telemetry, environment)
    if wanted is None:
        return NoEventLog()
    if not _installed():
        raise Misconfigured(
            f"{wanted.named_by} asks for traces, which need the extra: pip install 'workflow-engine[otel]'."
        )
    from shared.telemetry.otlp_store import OtlpStore  # an agent that sends none should not load it

    resource = {"service.name": wanted.service, "service.instance.id": agent}
    store = OtlpStore(wanted.url, wanted.headers, resource, hide)
    return Written(store, keep=timedelta(days=settings.events.retention_days), to="collector")


def _installed() -> bool:
    try:
        return find_spec(_EXPORTER) is not None
    except ModuleNotFoundError:  # what it is a part of is not there
        return False
