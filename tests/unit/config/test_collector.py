"""The choice of a collector for traces: the configuration, else the standard variables, or a message without either."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from config.collector import Collector, collector, collector_secrets
from config.observability import TelemetrySettings
from shared.errors import Misconfigured

KEY, ENV, TRACES = "telemetry.otlp_endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"


def found(endpoint: str | None = None, /, **environment: str) -> Collector | None:
    return collector(TelemetrySettings(otlp_endpoint=endpoint), environment)


@pytest.mark.parametrize(
    ("endpoint", "environment", "url", "named_by"),
    [
        ("http://c:4318", {}, "http://c:4318/v1/traces", KEY),
        ("http://c:4318/", {ENV: "http://other"}, "http://c:4318/v1/traces", KEY),
        ("https://c/otlp/v1/traces", {}, "https://c/otlp/v1/traces", KEY),
        (None, {ENV: "https://c/otlp"}, "https://c/otlp/v1/traces", ENV),
        (None, {ENV: "http://other", TRACES: "http://c/as-it-is"}, "http://c/as-it-is", TRACES),
    ],
)
def test_who_gets_them(endpoint: str | None, environment: dict[str, str], url: str, named_by: str) -> None:
    one = found(endpoint, **environment)
    assert one is not None
    assert (one.url, one.named_by, one.service) == (url, named_by, "workflow-engine")


@pytest.mark.parametrize(
    "environment",
    [{}, {ENV: " "}, {ENV: "http://c", "OTEL_SDK_DISABLED": "true"}, {ENV: "http://c", "OTEL_TRACES_EXPORTER": "none"}],
)
def test_nobody_gets_them(environment: dict[str, str]) -> None:
    assert found(None, **environment) is None


@pytest.mark.parametrize(
    ("endpoint", "environment", "sentence"),
    [
        ("c:4318", {}, f"{KEY} is not the address of a collector"),
        ("http://user:secret@c", {}, "without a password"),
        ("http://c:port", {}, f"{KEY} is not the address"),
        (None, {ENV: "file:///etc"}, f"{ENV} is not the address"),
        (None, {ENV: "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "sent as http/protobuf"),
    ],
)
def test_what_cannot_be_used_is_refused(endpoint: str | None, environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(Misconfigured, match=sentence) as refused:
        found(endpoint, **environment)
    assert "secret" not in str(refused.value)


def test_what_a_collector_asks_for_is_sent_and_hidden() -> None:
    environment = {
        ENV: "http://c",
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20c4n4ry%2BKey==,x-tenant=7, bad",
    }
    one = found(None, **environment, OTEL_SERVICE_NAME="ours")
    assert one is not None
    assert (one.headers, one.service) == ({"authorization": "Bearer c4n4ry+Key==", "x-tenant": "7"}, "ours")
    assert collector_secrets(environment) == ["Bearer%20c4n4ry%2BKey==", "c4n4ry+Key=="]
    assert "c4n4ry" not in repr(one)


def test_an_unknown_key_of_telemetry_is_refused() -> None:
    with pytest.raises(ValidationError, match="otlp_endpont"):
        TelemetrySettings.model_validate({"otlp_endpont": "http://c"})
