"""Signals to real agent processes: what they hold is released, nothing is lost, the exit code says what happened."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import anyio
import pytest
from daemon_scene import configured, states
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine

from shared import process
from shared.lock.codec import AckState


@pytest.mark.fault(37)
@pytest.mark.parametrize(
    ("words", "number", "code"),
    [
        pytest.param((), signal.SIGTERM, 0, marks=pytest.mark.long),
        pytest.param((), signal.SIGINT, 130, marks=pytest.mark.long),
        pytest.param(("--once",), signal.SIGTERM, 143, marks=pytest.mark.long),
        (("--once",), signal.SIGINT, 130),
    ],
)
async def test_the_first_signal_releases_and_ends(
    engine: Engine, words: tuple[str, ...], number: signal.Signals, code: int
) -> None:
    issue = engine.lab.issue(
        REPOSITORY, "Add search", "AC1: it searches", author=OWNER, labels=("status:ready",)
    ).number
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    argv = (sys.executable, "-m", "worker_agent", "--config", str(configured(engine)), *words)
    root, log = Path(__file__).parents[3], engine.directory / "worker.log"
    with anyio.fail_after(60):
        async with process.started(argv, cwd=root, env=env, log=log) as child:
            while states(engine, issue) != [AckState.ACTIVE] or b"write tests" not in log.read_bytes():  # noqa: ASYNC110
                await anyio.sleep(0.1)
            child.send_signal(number)
            assert await child.wait() == code
    assert states(engine, issue) == [AckState.RELEASED]
    assert "status:implementing" in engine.issue(issue).labels, "the stage stays, so that any agent goes on"
    assert b"Traceback" not in log.read_bytes()
