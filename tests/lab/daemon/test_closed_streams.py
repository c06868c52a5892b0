"""Nobody listens: an agent whose output cannot be written does its work and ends with its usual exit code."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path

import anyio
import pytest
from daemon_scene import configured, states
from engine import ENGINE, WRITES, Engine

from shared import process
from shared.lock.codec import AckState

pytestmark = [pytest.mark.long, pytest.mark.fault(49)]

ROOT = Path(__file__).parents[3]


def shell(engine: Engine, words: str, redirection: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the command and the environment of a worker whose streams a shell has redirected."""
    command = shlex.join((sys.executable, "-m", "worker_agent", "--config", str(configured(engine))))
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    return ("/bin/sh", "-c", f"exec {command} {words} {redirection}"), env


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", "2>&-", ">&- 2>&-"])
async def test_once_ends_quietly(engine: Engine, redirection: str) -> None:
    argv, env = shell(engine, "--once", redirection)
    done = await process.run(argv, cwd=ROOT, env=env)
    assert done.code == 3
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


async def test_a_daemon_goes_on_and_is_stopped_as_ever(engine: Engine) -> None:
    number = engine.ready("Greet people")
    argv, env = shell(engine, "", ">&- 2>&-")
    with anyio.fail_after(60):
        async with process.started(argv, cwd=ROOT, env=env, log=engine.directory / "log") as child:
            while not any(engine.directory.glob("state/workspaces/*/issue-*/tree/directory/store.py")):  # noqa: ASYNC110  # another process does it
                await anyio.sleep(0.1)
            child.send_signal(signal.SIGTERM)
            assert await child.wait() == 0
    assert states(engine, number) == [AckState.RELEASED]
