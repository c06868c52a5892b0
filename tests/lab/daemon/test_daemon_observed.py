"""A real agent process as an operator sees it: its port, its figures, its log lines, and what it told at its end."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import aiohttp
import anyio
import pytest
from daemon_scene import configured, line
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine

from shared import process
from shared.telemetry.events import EventKind, Query
from shared.telemetry.sqlite_store import SqliteStore


async def ask(port: int, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.status, await answer.text()


@pytest.mark.long
async def test_a_daemon_can_be_watched_and_its_end_stands_in_the_trail(engine: Engine) -> None:
    issue = engine.lab.issue(REPOSITORY, "Add search", "AC1: it searches", author=OWNER, labels=("status:ready",))
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    argv = (sys.executable, "-m", "worker_agent", "--config", str(configured(engine)))
    log = engine.directory / "worker.log"
    with anyio.fail_after(60):
        async with process.started(argv, cwd=Path(__file__).parents[3], env=env, log=log) as child:
            port = (await line(log, "health_served"))["port"]
            step = await line(log, "step")
            assert {"agent", "repo", "issue", "run"} <= step.keys()
            assert await ask(port, "/readyz") == (200, "ready\n")
            assert await ask(port, "/healthz") == (200, "alive\n")
            status, figures = await ask(port, "/metrics")
            assert status == 200
            assert f'workflow_engine_started_total{{kind="worker",repository="{REPOSITORY}"}} 1.0' in figures
            assert f'workflow_engine_queue_depth{{repository="{REPOSITORY}",stage="implementing"}}' in figures
            child.send_signal(signal.SIGTERM)
            await child.wait()
    told = [row.event for row in SqliteStore(engine.directory / "state" / "events.db").read(Query(), 1000)]
    assert {one.run for one in told if one.issue == issue.number and one.run} == {step["run"]}
    ends = [one.data["status"] for one in told if one.kind is EventKind.ENDED]
    assert ends == ["stopped"]
    assert [one.data["event"] for one in told if one.kind is EventKind.LOCK] == ["won", "asked", "released"]
    assert engine.lab.token(ENGINE, WRITES) not in str([one.document() for one in told])
