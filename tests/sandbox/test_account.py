"""Mode `container`: a second account and a reaper, where no namespace is to be had. Root is needed to try it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from sandbox.cell import CANARY, Cell, appeared, gone
from shared import process
from shared.sandbox.limits import ProcessLimits
from shared.sandbox.self_test import reaches

LEAVE = """import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]])
    os._exit(0)
time.sleep(0.3)
"""

LOOK = """import os, pathlib, sys
print(os.getuid(), os.getgroups())
for name in sys.argv[1:]:
    try:
        print(pathlib.Path(name).read_text())
    except OSError as error:
        print(type(error).__name__)
pathlib.Path("own").write_text("written")
"""


@pytest.fixture
async def neighbour(tmp_path: Path) -> AsyncIterator[int]:
    """Run a process of the daemon's account."""
    async with process.piped(("cat",), cwd=tmp_path, env={"KEY": CANARY}, log=tmp_path / "log") as child:
        yield child.pid


async def test_it_runs_as_another_account_and_reads_no_secret(shared_cell: Cell, neighbour: int) -> None:
    ran = await shared_cell.run(LOOK, shared_cell.secret, f"/proc/{neighbour}/environ", "/etc/shadow")
    assert ran.text.splitlines() == ["65534 []", *["PermissionError"] * 3]
    assert (shared_cell.tree / "own").read_text() == "written"


async def test_neither_the_mirror_nor_the_daemon_can_be_touched(shared_cell: Cell, neighbour: int) -> None:
    touch = "import os, sys\nfor act in (lambda: open(sys.argv[1], 'w'), lambda: os.kill(int(sys.argv[2]), 9),\n"
    touch += "            lambda: os.kill(os.getppid(), 9), lambda: os.setuid(0)):\n"
    touch += "    try:\n        act()\n        print('done')\n    except PermissionError:\n        print('refused')\n"
    ran = await shared_cell.run(touch, shared_cell.state / "pack", neighbour)
    assert ran.text.split() == ["refused"] * 4


@pytest.mark.fault(27)
async def test_a_grandchild_in_a_session_of_its_own_is_ended_with_it(shared_cell: Cell) -> None:
    mark = secrets.token_hex(8)
    assert (await shared_cell.run(LEAVE, mark)).code == 0
    assert await gone(mark)


@pytest.mark.fault(27)
async def test_all_of_it_is_ended_when_it_is_stopped(shared_cell: Cell) -> None:
    mark = secrets.token_hex(8)
    wait = LEAVE.replace("time.sleep(0.3)", "open('left', 'w').close(); time.sleep(600)")
    async with anyio.create_task_group() as group:
        group.start_soon(shared_cell.run, wait, mark)
        assert await appeared(shared_cell.tree / "left")
        group.cancel_scope.cancel()
    assert await gone(mark)


async def test_the_kernel_counts_its_processes_and_the_exit_code_is_its_own(shared_cell: Cell) -> None:
    count = "import resource\nprint(resource.getrlimit(resource.RLIMIT_NPROC)[0])\nraise SystemExit(3)\n"
    ran = await shared_cell.run(count)
    assert (ran.code, ran.text) == (3, "1024")


@pytest.mark.fault(28)
async def test_limits_hold_here_too(shared_cell: Cell) -> None:
    mark = secrets.token_hex(8)
    shared_cell.limits = ProcessLimits(processes=40)
    ran = await shared_cell.run("import os, time\nfor _ in range(7):\n    os.fork()\ntime.sleep(600)\n", mark)
    assert ran.limit == "processes (more than 40)"
    assert await gone(mark)


async def test_a_work_directory_that_the_account_cannot_reach_is_told(shared_cell: Cell) -> None:
    known = {"PATH": "/usr/bin:/bin"}
    assert await reaches(shared_cell.wrap, known, shared_cell.root / "work")
    shared_cell.root.chmod(0o700)
    assert not await reaches(shared_cell.wrap, known, shared_cell.root / "work")
