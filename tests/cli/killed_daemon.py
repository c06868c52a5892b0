"""A daemon that is ended while its coder runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
from anyio.abc import Process

from cli.coding import Desk, related, search_path
from shared import process
from shared.sandbox.confinement import Isolation

FAMILY = "sleep 601 & setsid sleep 602 & nohup sleep 603 >/dev/null 2>&1 & (trap '' TERM; sleep 604) & touch begun; "
"""Children of every kind: plain, in a session of its own, deaf to HUP, deaf to TERM."""


def a_daemon(desk: Desk, kind: Isolation) -> AbstractAsyncContextManager[Process]:
    """Start a daemon that makes one call on the desk's tree."""
    here = Path(__file__).parent
    what = (desk.backend, desk.server.url, str(desk.root), str(desk.executable), kind)
    env = {**search_path(), "PYTHONPATH": os.pathsep.join((str(here.parent), str(here.parents[1])))}
    return process.started((sys.executable, str(here / "daemon.py"), *what), cwd=here, env=env, log=desk.root / "log")


async def until(done: Callable[[], bool]) -> None:
    """Wait for something that happens in other processes."""
    with anyio.fail_after(60):
        while not done():  # noqa: ASYNC110 - what is waited for is another process's doing
            await anyio.sleep(0.05)


def programs_of(desk: Desk) -> list[int]:
    """Return the process ids of the CLI itself, without its wrapper and its tools."""
    program = str(desk.executable.resolve())
    told = [text.partition(" ") for text in related(desk.root)]
    found = [int(pid) for pid, _, rest in told if rest.startswith(f"{program} ")]  # the path may have spaces
    assert found, told
    return found
