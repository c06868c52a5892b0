"""How the engine is observed: where events are kept, where health and metrics are answered, where traces go."""

from __future__ import annotations

from pydantic import Field, SecretStr

from config.section import Section, Text


class EventSettings(Section):
    """Where the engine's events are kept."""

    url: SecretStr | None = None
    """Database URL, as in `postgresql://user:password@host/database`; null means a file in the state directory."""
    retention_days: int = Field(90, ge=1)
    """Days after which events are deleted."""


class HealthSettings(Section):
    """Where metrics and health are answered over HTTP: /metrics, /healthz, /readyz."""

    host: Text = "127.0.0.1"
    """Address to listen at; at another one than loopback whoever can connect sees figures and sentences."""
    port: int | None = Field(9464, ge=0, le=65535)
    """First port to try; agents of one machine take the next free ones. 0 takes any, null answers nothing."""


class TelemetrySettings(Section):
    """Where traces go, for OpenTelemetry; they need the extra `otel`."""

    otlp_endpoint: Text | None = None
    """Address of an OTLP/HTTP collector, as `http://127.0.0.1:4318`; null: what `$OTEL_EXPORTER_OTLP_ENDPOINT` says."""
