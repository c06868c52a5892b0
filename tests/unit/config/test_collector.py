"""Which collector gets traces: the configuration, else the standard variables; and what is said when there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from config.collector import Collector, collector, collector_secrets
from config.observing import TelemetrySettings
from shared.errors import Misconfigured
from shared.process import run

ROOT = Path(__file__).parents[3]
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


PROGRAM = """
import sys
from worker_agent.__main__ import main

def start(config):
    sys.argv = ["worker-agent", "--config", config, "--once"]
    print("ended:", main(), bool(sys.modules.get("opentelemetry.sdk.trace")))

start("plain.yml")
sys.modules["opentelemetry"] = None
start("traced.yml")
del sys.modules["opentelemetry"]
start("traced.yml")
"""
"""An agent that is asked for no traces; one without the extra that is; one with it. GitHub is away."""


async def test_it_is_loaded_where_it_is_asked_for_and_missed_in_one_sentence(tmp_path: Path) -> None:
    plain = (
        "repositories: [{name: ada/directory, llm_backend: scripted, test_command: 'true'}]\n"
        f"state_dir: {tmp_path / 'state'}\nsandbox: none\nhealth: {{port: null}}\n"
        f"github: {{api_url: 'http://127.0.0.1:9'}}\nllm: {{scenario: {tmp_path / 'scenario.yml'}}}\n"
    )
    (tmp_path / "plain.yml").write_text(plain)
    (tmp_path / "traced.yml").write_text(f"{plain}telemetry: {{otlp_endpoint: 'http://127.0.0.1:9'}}\n")
    (tmp_path / "scenario.yml").write_text("- {call: implement, edits: []}\n")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "GITHUB_TOKEN": "t" * 20}
    done = await run((sys.executable, "-c", PROGRAM), cwd=tmp_path, env=env)
    told = [line for line in done.text.splitlines() if line.startswith("ended:")]
    assert told == ["ended: 1 False", "ended: 2 False", "ended: 1 True"], done.stderr
    said = b"telemetry.otlp_endpoint asks for traces, which need the extra: pip install 'workflow-engine[otel]'."
    assert done.stderr.count(said) == 1
