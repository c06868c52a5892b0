"""Real processes that start while GitHub does not answer: a daemon waits, everything else says so and ends."""

from __future__ import annotations

import json
import signal
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from engine import ENGINE, REPOSITORY, WRITES, Engine

from console.doctor.command import examined
from lab.github.fault_injection.faults import Fault, FaultKind
from shared import process

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
NOBODY = "http://127.0.0.1:9"


def configured(directory: Path, url: str) -> Path:
    """Write a configuration file for a separate process."""
    (directory / "scenario.yml").write_text("[]", encoding="utf-8")
    path = directory / "config.yml"
    settings = {
        "repositories": [{"name": REPOSITORY, "llm_backend": "scripted", "poll_interval": 0.2}],
        "state_dir": str(directory / "state"),
        "sandbox": "none",
        "github": {"api_url": url, "write_interval_seconds": 0},
        "lock": {"settle": 0},
        "llm": {"scenario": str(directory / "scenario.yml")},
    }
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


def surroundings(directory: Path, token: str) -> dict[str, str]:
    """Return the environment of an agent."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(directory), "GITHUB_TOKEN": token}


async def started_and_stopped(directory: Path, url: str, token: str, until: bytes) -> tuple[int, bytes]:
    """Run a daemon that gets SIGTERM when its log says `until`; return its exit code and its whole log."""
    log = directory / "worker.log"
    argv = (sys.executable, "-m", "worker_agent", "--config", str(configured(directory, url)))
    with anyio.fail_after(60):
        async with process.started(argv, cwd=ROOT, env=surroundings(directory, token), log=log) as child:
            while not log.exists() or until not in log.read_bytes():  # noqa: ASYNC110  # another process writes it
                await anyio.sleep(0.05)
            child.send_signal(signal.SIGTERM)
            code = await child.wait()
    return code, log.read_bytes()


@pytest.mark.fault(9)
async def test_a_daemon_without_network_waits_and_ends_at_once_by_a_signal(tmp_path: Path) -> None:
    code, log = await started_and_stopped(tmp_path, NOBODY, "canary-4711", b"start_delayed")
    assert code == 0
    assert b"Traceback" not in log
    assert b'"started"' not in log


@pytest.mark.fault(9)
async def test_a_daemon_that_starts_in_a_storm_begins_when_it_is_over(engine: Engine) -> None:
    storm = engine.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "GET", r"/user$", times=3))
    token = engine.lab.token(ENGINE, WRITES)
    code, log = await started_and_stopped(engine.directory, engine.lab.url, token, b'"started"')
    assert code == 0
    assert b"start_delayed" in log
    assert not storm.unused


@pytest.mark.fault(9)
async def test_the_doctor_says_it_and_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configured(tmp_path, NOBODY)
    environment = surroundings(tmp_path, "canary-4711")
    code = await anyio.to_thread.run_sync(partial(examined, (), config, environment, json=True))
    found = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["status"] == "fail"]
    assert [(one["subject"], one["passing"]) for one in found] == [("token", True)]
    assert "\n" not in found[0]["sentence"]
    assert code == 1
