"""A demonstration that is killed leaves no agent behind."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import anyio
import psutil
import pytest

pytestmark = pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv of util-linux is not installed")

AGENT = """
import os, pathlib, time

note = pathlib.Path("agent.pid.new")
note.write_text(str(os.getpid()))
note.rename("agent.pid")
time.sleep(120)
"""

DEMONSTRATION = """
import pathlib

import anyio

from lab.demo.agent_processes import AgentProcesses
from lab.demo.setup import Stage
from shared.loop.real_clock import RealClock

here = pathlib.Path.cwd()
variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(here)}
agents = AgentProcesses(Stage(here, here), variables, RealClock(), print)
anyio.run(agents.play, "worker-1", "sleeping_agent")
"""


async def test_agents_end_with_a_demonstration_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "sleeping_agent.py").write_text(AGENT)
    note = tmp_path / "agent.pid"
    with anyio.fail_after(60):
        async with await anyio.open_process(
            (sys.executable, "-c", DEMONSTRATION), cwd=tmp_path, env=os.environ, stdout=None, stderr=None
        ) as demonstration:
            while not note.exists():  # noqa: ASYNC110 - the other side is a process
                await anyio.sleep(0.05)
            agent = psutil.Process(int(note.read_text()))
            assert _lives(agent)
            demonstration.kill()
        while _lives(agent):  # noqa: ASYNC110
            await anyio.sleep(0.05)


def _lives(agent: psutil.Process) -> bool:
    try:
        return bool(agent.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
