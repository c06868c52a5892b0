"""Settings of observability: the storage of events, the server of health and metrics, the target of traces."""

from __future__ import annotations

from pydantic import Field, SecretStr

from config.section import Section, Text


class EventSettings(Section):
    """Storage of events."""

    url: SecretStr | None = None
    """Database, as in `postgresql://user:password@host/database`; null means a file in `state_dir`."""
    retention_days: int = Field(90, ge=1, le=36_500)
    """Days after which events are deleted."""


class HealthSettings(Section):
    """HTTP server for metrics and health: /metrics, /healthz, /readyz."""

    host: Text = "127.0.0.1"
    """Address to listen at; beyond loopback everybody who can connect sees figures and sentences."""
    port: int | None = Field(9464, ge=0, le=65535)
    """First port to try; further agents take the next. 0 takes any, null none."""


class TelemetrySettings(Section):
    """Target of traces, for OpenTelemetry; they need the extra `otel`."""

    otlp_endpoint: Text | None = None
    """OTLP/HTTP collector, as `http://127.0.0.1:4318`; null means `$OTEL_EXPORTER_OTLP_ENDPOINT`."""
