"""`workflow-engine run`: three agents in one process, woken by a webhook, stopped by one signal."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import signal
import sys
from pathlib import Path

import aiohttp
import anyio
import pytest
from daemon_scene import configured, line, lines
from engine import ENGINE, REPOSITORY, WRITES, Engine

from shared import process

pytestmark = pytest.mark.long

SECRET = "a-secret-of-the-webhook"
ROOT = Path(__file__).parents[3]


async def deliver(port: int) -> int:
    """Deliver a webhook about the repository, and return the status."""
    body = json.dumps({"repository": {"full_name": REPOSITORY}}).encode()
    headers = {"X-Hub-Signature-256": f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{port}/webhook", data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status


async def test_three_agents_in_one_process(engine: Engine) -> None:
    config = configured(engine)
    settings = json.loads(config.read_text(encoding="utf-8")) | {"webhook": {"port": 0}, "health": {"port": 0}}
    settings["repositories"][0]["poll_interval"] = 600
    config.write_text(json.dumps(settings), encoding="utf-8")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    env["WORKFLOW_ENGINE_WEBHOOK_SECRET"] = SECRET
    argv = (sys.executable, "-m", "console", "run", REPOSITORY, "--config", str(config))
    log = engine.directory / "run.log"

    def agents(event: str) -> set[str]:
        return {one.get("agent", "").partition("-")[0] for one in lines(log) if one["event"] == event}

    with anyio.fail_after(90):
        async with process.started(argv, cwd=ROOT, env=env, log=log) as child:
            while agents("started") != {"planner", "worker", "reviewer"}:  # noqa: ASYNC110  # another process writes it
                await anyio.sleep(0.1)
            assert len({one["port"] for one in lines(log) if one["event"] == "health_served"}) == 3
            port = (await line(log, "webhook_served"))["port"]
            await anyio.sleep(0.5)  # each has looked once by now, and would look again in ten minutes
            number = engine.ready("Greet people")
            assert await deliver(port) == 202
            assert (await line(log, "step"))["issue"] == number
            child.send_signal(signal.SIGTERM)
            assert await child.wait() == 0
    assert agents("ended") == {"planner", "worker", "reviewer"}
    assert engine.held_locks() == []
    assert b"Traceback" not in log.read_bytes()
    assert SECRET.encode() not in log.read_bytes()
