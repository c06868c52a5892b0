"""Target of traces: the configured OpenTelemetry collector, or the one that the standard variables name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from config.observability import TelemetrySettings
from shared.errors import Misconfigured

KEY, VARIABLE, OF_TRACES = (
    "telemetry.otlp_endpoint",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
)
_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")

SPOKEN = "http/protobuf"

_TRACES = "/v1/traces"
"""The path of traces below an endpoint (https://opentelemetry.io/docs/specs/otlp/#otlphttp-request)."""

_SHORTEST_SECRET = 8
"""Shorter words of a header, as `Bearer` or the number of a tenant, are no secrets."""


@dataclass(frozen=True, slots=True)
class Collector:
    """Collector of traces: the whole URL, the headers of each request, and the setting that named it."""

    url: str
    named_by: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    service: str = "workflow-engine"


def collector(settings: TelemetrySettings, environment: Mapping[str, str]) -> Collector | None:
    """Return the collector of traces; None if none is wanted. The configuration goes before the environment.

    Raises `Misconfigured` for what is no HTTP address, and for a protocol that is not spoken.
    """
    disabled = environment.get("OTEL_SDK_DISABLED", "").strip().casefold() == "true"
    if disabled or environment.get("OTEL_TRACES_EXPORTER", "").strip().casefold() == "none":
        return None
    given = ((KEY, settings.otlp_endpoint), *((name, environment.get(name)) for name in (OF_TRACES, VARIABLE)))
    named_by, endpoint = next(((name, url.strip()) for name, url in given if url and url.strip()), ("", ""))
    if not endpoint:
        return None
    if named_by != KEY:
        _check_protocol(environment)
    url = endpoint if named_by == OF_TRACES or endpoint.endswith(_TRACES) else endpoint.rstrip("/") + _TRACES
    _check_url(url, named_by)
    service = environment.get("OTEL_SERVICE_NAME", "").strip() or "workflow-engine"
    headers = {name.casefold(): unquote(value) for one in _HEADERS for name, value in _pairs(environment.get(one, ""))}
    return Collector(url, named_by, headers, service)


def collector_secrets(environment: Mapping[str, str]) -> list[str]:
    """Return the secrets in the collector's headers, which no log may show: as written and as decoded."""
    values = [value for name in _HEADERS for _, value in _pairs(environment.get(name, ""))]
    words = [word for value in values for told in (value, unquote(value)) for word in told.split()]
    return [word for word in dict.fromkeys(words) if len(word) >= _SHORTEST_SECRET]


def _pairs(text: str) -> list[tuple[str, str]]:
    """Parse `a=b,c=d`, the specification's format of headers; parts that are no pair are left out."""
    pairs = (part.partition("=") for part in text.split(","))
    return [(name.strip(), value.strip()) for name, sign, value in pairs if sign and name.strip()]


def _check_protocol(environment: Mapping[str, str]) -> None:
    for name in _PROTOCOLS:
        if protocol := environment.get(name, "").strip():
            if protocol != SPOKEN:
                raise Misconfigured(
                    f"{name} is '{protocol}', but traces are sent as {SPOKEN}: set it so, and {VARIABLE} to the "
                    f"collector's address for it (port 4318 as a rule)."
                )
            return


def _check_url(url: str, named_by: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or "@" in url or any(character.isspace() for character in url):
        raise Misconfigured(
            f"{named_by} is not the address of a collector: write http://HOST:4318, or https://HOST, without a "
            f"password; what the collector asks for belongs into {_HEADERS[0]}."
        )
