"""A machine that systemd runs: booted from an image's files in a container of systemd-nspawn."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import psutil

from image.container import OPEN_PROC
from image.waiting import until

BOOT_SECONDS = 60
POWER_OFF = signal.SIGRTMIN + 4
"""The signal that tells systemd as a first process to power off."""


@dataclass(frozen=True)
class Machine:
    """A booted one: its files as the host sees them, and its first process."""

    root: Path
    first_process: int

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run one program on the machine, as its root."""
        spaces = ("--mount", "--pid", "--ipc", "--uts", "--cgroup", "--root", "--wd=/")
        words = ("nsenter", f"--target={self.first_process}", *spaces, "--", *command)
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)

    async def systemctl(self, *words: str) -> tuple[int, str]:
        """Run systemctl while this process goes on serving; return code and output."""
        done = await anyio.to_thread.run_sync(partial(self.run, "systemctl", "--no-pager", *words))
        return done.returncode, (done.stdout + done.stderr).strip()

    async def property(self, unit: str, name: str) -> str:
        """Return one property of a unit from systemd."""
        return (await self.systemctl("show", "--property", name, "--value", unit))[1]

    async def until(self, unit: str, name: str, value: str) -> None:
        """Return when a fact of a unit is this; else the test fails with its status and its journal."""
        shown = ("systemctl", "show", "--property", name, "--value", unit)
        await until(lambda: self.run(*shown).stdout.strip() == value, lambda: self.told(unit))

    def told(self, unit: str) -> str:
        """Return a unit's status and journal, for somebody who has to find a fault."""
        return self.run("systemctl", "--no-pager", "status", unit).stdout + self.journal(unit)

    def journal(self, unit: str) -> str:
        """Return the output of a unit, and systemd's messages about it."""
        return self.run("journalctl", "--no-pager", "--boot", "--output=cat", f"--unit={unit}").stdout


@contextmanager
def booted(root: Path) -> Iterator[Machine]:
    """Boot the machine while the block runs, and switch it off at the end."""
    shutil.rmtree(root / "var/lib/workflow-engine", ignore_errors=True)  # the image's; systemd makes its own
    options = ("--quiet", "--register=no", "--keep-unit", "--console=pipe", f"--directory={root}", "--boot")
    environment = {"PATH": os.defpath + ":/usr/sbin:/sbin", **OPEN_PROC}
    with subprocess.Popen(
        ("systemd-nspawn", *options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as running:
        try:
            machine = anyio.run(_up, root, running.pid)
            yield machine
            os.kill(machine.first_process, POWER_OFF)
            running.wait(BOOT_SECONDS)
        finally:
            for process in psutil.Process(running.pid).children(recursive=True) if running.poll() is None else ():
                process.kill()
            running.kill()


async def _up(root: Path, outer: int) -> Machine:
    await until(lambda: bool(psutil.Process(outer).children()), lambda: "systemd-nspawn started nothing")
    machine = Machine(root, int(psutil.Process(outer).children()[0].pid))
    asked = ("systemctl", "is-system-running")
    await until(lambda: machine.run(*asked).stdout.strip() in {"running", "degraded"}, lambda: "systemd is not up")
    return machine
