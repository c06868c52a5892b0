"""The memory of an agent: not even processes of its own account can read it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from security.company import ROOT
from shared import process

CANARY = "github_pat_c4n4ryOfTheEnvironment012345"
BARE = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.getuid() == 0 else ()
"""Root as an ordinary account: without it root could read everything of everybody."""


def agent(place: Path) -> Sequence[str]:
    """Return the command of a worker whose GitHub is away: it waits."""
    config = place / "config.yml"
    repository = {"name": "ada/directory", "llm_backend": "scripted", "test_command": "true"}
    settings = {
        "repositories": [repository],
        "state_dir": str(place / "state"),
        "sandbox": "none",
        "github": {"api_url": "http://127.0.0.1:9"},
        "health": {"port": None},
        "llm": {"scenario": str(place / "scenario.yml")},
    }
    (place / "scenario.yml").write_text("- {call: implement, edits: []}\n", encoding="utf-8")
    config.write_text(json.dumps(settings), encoding="utf-8")
    return sys.executable, "-m", "worker_agent", "--config", str(config)


def anybody(place: Path) -> Sequence[str]:
    """Return the command of the control: a program that does not protect its memory."""
    return sys.executable, "-c", "import time; print('start_delayed', flush=True); time.sleep(600)"


@asynccontextmanager
async def running(argv: Sequence[str], place: Path) -> AsyncIterator[int]:
    """Run a process with a secret in its environment, up to its message that it waits."""
    log, env = place / "log", {"PATH": os.defpath, "HOME": str(place), "GITHUB_TOKEN": CANARY}
    async with process.started((*BARE, *argv), cwd=ROOT, env=env, log=log) as child:
        with anyio.fail_after(60):
            while b"start_delayed" not in log.read_bytes():
                assert child.returncode is None, log.read_text()
                await anyio.sleep(0.05)
        yield child.pid


@pytest.mark.parametrize(("program", "readable"), [(agent, False), (anybody, True)])
async def test_nobody_of_its_account_reads_the_environment_of_an_agent(
    tmp_path: Path, program: type, readable: bool
) -> None:
    async with running(program(tmp_path), tmp_path) as pid:
        env = {"PATH": os.defpath}
        looked = await process.run((*BARE, "cat", f"/proc/{pid}/environ"), cwd=tmp_path, env=env)
        told = await process.run((*BARE, "cat", f"/proc/{pid}/cmdline"), cwd=tmp_path, env=env)
    assert (CANARY.encode() in looked.stdout) is readable
    assert told.code == 0
    assert CANARY.encode() not in told.stdout
