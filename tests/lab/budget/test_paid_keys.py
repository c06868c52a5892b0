"""The real key stays in the daemon: a program that looks everywhere finds another one, or none."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog
from cli_shop import Shop

from config.settings import Settings
from config.state import StateDirectory
from lab.model.script import Script, Turn
from lab.model_server import ModelServer
from runtime.building.assembly import Process
from runtime.building.backends import backend
from shared.llm.port import Ending, RunLimits
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement
from shared.workflow import Role

KEY = "sk-ant-c4n4ry-of-the-real-key-0123456789"

PROBE = """
import urllib.request
seen = {"environ": dict(os.environ), "argv": sys.argv, "parent": pathlib.Path("/proc/self/cmdline").read_text()}
pathlib.Path("seen.json").write_text(json.dumps(seen))
for turn in range(3):
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Go."}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())
    request.add_header("x-api-key", os.environ["ANTHROPIC_API_KEY"])
    request.add_header("content-type", "application/json")
    try:
        urllib.request.urlopen(request).read()
    except urllib.error.HTTPError as error:
        result(is_error=True, api_error_status=error.code, result=error.read().decode())
        sys.exit(1)
result()
"""


def contents(directory: Path) -> list[bytes]:
    """Return the content of every file below a directory."""
    return [file.read_bytes() for file in directory.rglob("*") if file.is_file()]


@pytest.mark.parametrize(("budget", "ending", "requests"), [(50.0, Ending.COMPLETED, 3), (3.2, Ending.MAX_BUDGET, 2)])
async def test_the_real_key_leaves_the_daemon_only_for_the_vendor(
    tmp_path: Path, budget: float, ending: Ending, requests: int
) -> None:
    shop = Shop(tmp_path)
    path, tree = str(shop.program(PROBE)), tmp_path / "tree"
    tree.mkdir()
    known = {
        "repositories": ({"name": "ada/directory"},),
        "state_dir": tmp_path / "state",
        "sandbox": "none",
        "claude_cli": path,
        "prices": {"m": {"input": 1000.0, "output": 10_000.0, "cached": 100.0, "written": 1250.0}},
    }
    settings = Settings.model_validate(known, strict=False)
    async with ModelServer(Script.of(Turn(say="Done."))) as server:
        environment = {"PATH": os.defpath, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        with ExitStack() as stack:
            identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
            process = Process(settings, Role.WORKER, RealClock(), identity, environment)
            logs = stack.enter_context(structlog.testing.capture_logs())
            coder = await backend(process, settings.repositories[0], Confinement())
            outcome = await coder.run(shop.request(tree=tree, run="r1", limits=RunLimits(budget_usd=budget)))
    assert (outcome.ending, len(server.journal)) == (ending, requests)
    assert {seen.token for seen in server.journal} == {KEY}
    assert outcome.usage.cost_usd == pytest.approx(1.78 * requests)
    assert outcome.usage.cost_source == "proxy"
    said = json.loads((tree / "seen.json").read_text())
    assert said["environ"]["ANTHROPIC_API_KEY"].startswith("run-")
    written = contents(tmp_path)
    assert len(written) > 2
    assert not [text for text in (*written, str(logs).encode(), str(outcome).encode()) if KEY.encode() in text]


async def test_a_subscription_runs_without_proxy_and_it_is_said_once(tmp_path: Path) -> None:
    path = str(Shop(tmp_path).program("result()"))
    repositories = ({"name": "ada/directory"}, {"name": "ada/other"})
    known = {"repositories": repositories, "state_dir": tmp_path / "state", "sandbox": "none", "claude_cli": path}
    settings = Settings.model_validate(known, strict=False)
    environment = {"PATH": os.defpath, "CLAUDE_CODE_OAUTH_TOKEN": "l0gin"}
    with ExitStack() as stack:
        identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
        process = Process(settings, Role.WORKER, RealClock(), identity, environment)
        logs = stack.enter_context(structlog.testing.capture_logs())
        for repository in settings.repositories:
            await backend(process, repository, Confinement())
    (said,) = [entry for entry in logs if entry["event"] == "model_proxy_off"]
    assert "a run is stopped at its budget by the CLI alone" in said["not_enforced"]
    assert "l0gin" not in str(logs)
