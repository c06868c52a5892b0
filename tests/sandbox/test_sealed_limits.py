"""Commands that take more than their part: they are ended, the limit is named, the machine goes on."""

from __future__ import annotations

import os
import secrets
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.cell import NONE, SEALED, Cell, Ran, gone
from shared.sandbox.confinement import Confinement
from shared.sandbox.limits import ProcessLimits
from worker_agent.tdd.judging.judge import judge_baseline
from worker_agent.tdd.runners.report_runner import ReportRunner
from worker_agent.tdd.runners.test_bench import TestBench, Tests

MIB = 2**20
SMALL = ProcessLimits(memory_bytes=150 * MIB, processes=40, disk_bytes=20 * MIB, files=2000, cpu_seconds=1.5)

BOMB = "import os, time\nfor _ in range(7):\n    os.fork()\ntime.sleep(600)\n"
FILL = "import sys\nfile = open(sys.argv[1], 'wb', buffering=0)\nwhile True:\n    file.write(bytes(2**20))\n"
LITTER = "import pathlib, sys\nfor n in range(10**6):\n    pathlib.Path(sys.argv[1], str(n)).touch()\n"
HOG = "kept = []\nimport time\nfor _ in range(40):\n    kept.append(b'x' * 2**25); time.sleep(0.05)\ntime.sleep(600)\n"
BURN = "while True:\n    pass\n"


def on_this_machine(path: str) -> bool:
    return Path(path).exists()


@pytest.mark.fault(28)
@pytest.mark.parametrize(
    ("script", "argument", "limit"),
    [
        (BOMB, "", "processes (more than 40)"),
        (FILL, "own", "disk (more than 20.0 MiB)"),
        (FILL, "/tmp/filled", "disk (more than 20.0 MiB)"),
        (LITTER, ".", "files (more than 2,000)"),
        (LITTER, "/tmp", "files (more than 2,000)"),
        (HOG, "", "memory (more than 150.0 MiB)"),
        (BURN, "", "CPU time (more than 2 seconds)"),
    ],
    ids=["fork bomb", "full tree", "full /tmp", "many files", "many files in /tmp", "memory", "endless loop"],
)
async def test_a_limit_ends_it_and_is_named(sealed: Cell, script: str, argument: str, limit: str) -> None:
    mark = secrets.token_hex(8)
    sealed.limits = SMALL if script == BURN else replace(SMALL, cpu_seconds=60)  # so that no other limit is first
    ran = await sealed.run(script, argument, mark)
    assert ran.limit == limit
    assert await gone(mark)
    assert not on_this_machine("/tmp/filled")


ENDLESS_BOMB = """import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.1)
"""


@pytest.mark.fault(28)
async def test_a_real_fork_bomb_is_held_by_the_kernel_until_the_watchdog_comes(sealed: Cell) -> None:
    mark = secrets.token_hex(8)
    if os.getuid() == 0:  # the kernel does not count root's processes: a bomb that ends growing by itself
        ran = await sealed.run(BOMB.replace("7", "11"), mark)
    else:
        ran = await sealed.run(ENDLESS_BOMB, mark)
    assert ran.limit == "processes (more than 512)"
    assert await gone(mark)


async def test_its_own_temporary_directory_has_a_size_besides(sealed: Cell) -> None:
    sealed.limits = replace(SMALL, disk_bytes=2**40, cpu_seconds=60)
    ran = await sealed.run("import os\nprint(os.statvfs('/tmp').f_blocks * os.statvfs('/tmp').f_frsize)")
    assert int(ran.text) == 2**30


async def test_what_stays_within_the_limits_is_left_alone(sealed: Cell) -> None:
    sealed.limits = SMALL
    assert await sealed.run("print('well')") == Ran(0, None, "well")


@pytest.mark.fault(28)
@pytest.mark.parametrize("wrap", [SEALED, NONE], ids=["bubblewrap", "none"])
async def test_tests_that_pass_a_limit_fail_by_its_name(sealed: Cell, wrap: object, tmp_path: Path) -> None:
    confinement = Confinement(SEALED if wrap is SEALED else NONE, SMALL)
    bench = TestBench({"PATH": "/usr/bin:/bin"}, 60, confinement=confinement)
    (sealed.tree / "hog.py").write_text(HOG)
    run = await bench.run(
        Tests(ReportRunner("report.xml"), f"{shlex.quote(sealed.python)} hog.py"), sealed.tree, tmp_path
    )
    assert (run.finished, run.timed_out) == (False, False)
    assert run.one_line() == "tests failed: limit memory (more than 150.0 MiB)"
    assert any("limit memory" in line for line in judge_baseline(run).details)


@pytest.mark.fault(28)
async def test_tests_that_never_end_are_over_at_the_deadline_whatever_they_ignore(sealed: Cell, tmp_path: Path) -> None:
    mark = secrets.token_hex(8)
    endless = "import signal, time\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n"
    endless += "    except (OSError, ValueError): pass\ntime.sleep(600)\n"
    (sealed.tree / "endless.py").write_text(endless)
    bench = TestBench({"PATH": "/usr/bin:/bin"}, 1.0, confinement=Confinement(SEALED))
    run = await bench.run(
        Tests(ReportRunner("report.xml"), f"{shlex.quote(sealed.python)} endless.py {mark}"), sealed.tree, tmp_path
    )
    assert (run.finished, run.timed_out, run.limit) == (False, True, None)
    assert await gone(mark)


async def test_a_program_that_the_sandbox_does_not_show_is_named_with_the_key_that_shows_it(
    sealed: Cell, tmp_path: Path
) -> None:
    program = tmp_path / "toolchain" / "tester"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    bench = TestBench({"PATH": f"{program.parent}:/usr/bin:/bin"}, 20.0, confinement=Confinement(SEALED))
    run = await bench.run(Tests(ReportRunner("report.xml"), "tester"), sealed.tree, tmp_path)
    assert (run.finished, run.code) == (False, 127)
    assert f"`tester` is `{program}` on this machine" in run.output_tail
    assert "sandbox_readable" in run.output_tail
    shown = TestBench(
        {"PATH": f"{program.parent}:/usr/bin:/bin"}, 20.0, confinement=Confinement(SEALED, readable=(program.parent,))
    )
    assert (await shown.run(Tests(ReportRunner("report.xml"), "tester"), sealed.tree, tmp_path)).code == 0
