"""A real agent's start with and without a collector: what it loads, and what it says when the extra is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shared.process import run

ROOT = Path(__file__).parents[3]

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


@pytest.mark.long
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
