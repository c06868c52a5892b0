"""The watchdog of one command: looks at all its processes and directories, and ends it above a limit.

It needs neither root nor a cgroup. Where the daemon itself runs in a cgroup with limits, those hold on top.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.abc import Process

from shared.sandbox.limits import Limits, Usage, passed

if TYPE_CHECKING:
    import psutil

LOOK_SECONDS = 0.2
"""Between two looks at processes."""

DISK_LOOKS = 10
"""So many looks at processes for one at the directories, which takes longer."""


class Watch:
    """Waits for a child within `limits`; `directories` are what it may write to."""

    def __init__(self, limits: Limits, directories: Sequence[Path]) -> None:
        self.limits = limits
        self._directories = directories
        self._looks = 0
        self._on_disk = (0, 0)

    async def over(self, child: Process) -> str | None:
        """Wait for its end: None; or for the first limit that it passes, which is returned: then it still runs."""
        while True:
            with anyio.move_on_after(LOOK_SECONDS):
                await child.wait()
                return await self._last()
            usage = await to_thread.run_sync(self._look, child.pid)
            if limit := passed(usage, self.limits):
                return limit

    async def _last(self) -> str | None:
        """What it has left on the disk; its processes are gone."""
        size, files = await to_thread.run_sync(self._weigh)
        return passed(Usage(disk_bytes=size, files=files), self.limits)

    def _look(self, pid: int) -> Usage:
        if self._looks % DISK_LOOKS == 0:
            self._on_disk = self._weigh()
        self._looks += 1
        tree = list(_tree(pid))
        temporary = max((_temporary(one.pid) for one in tree[1:3]), default=(0, 0))
        memory, seconds = _taken(tree)
        size, files = (sum(both) for both in zip(self._on_disk, temporary, strict=True))
        return Usage(memory, len(tree), size, files, seconds)

    def _weigh(self) -> tuple[int, int]:
        """Bytes and files in the directories; looking ends where the limit is passed."""
        size = files = 0
        for entry in _entries(self._directories):
            files += 1
            size += entry.stat(follow_symlinks=False).st_blocks * 512 if _there(entry) else 0
            if files > self.limits.files or size > self.limits.disk_bytes:
                break
        return size, files


def _tree(pid: int) -> Iterator[psutil.Process]:
    """The leader, its descendants, and orphans of its process group."""
    import psutil  # only where tests run: an idle agent does not need it

    with suppress(psutil.NoSuchProcess):
        leader = psutil.Process(pid)
        yield leader
        below = leader.children(recursive=True)
        yield from below
        known = {pid, *(one.pid for one in below)}
        for other in psutil.pids():
            with suppress(ProcessLookupError, PermissionError, psutil.NoSuchProcess):
                if other not in known and os.getpgid(other) == pid:
                    yield psutil.Process(other)


def _taken(tree: Sequence[psutil.Process]) -> tuple[int, float]:
    import psutil

    memory, seconds = 0, 0.0
    for one in tree:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            memory += one.memory_info().rss
            times = one.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
    return memory, seconds


def _temporary(pid: int) -> tuple[int, int]:
    """Bytes and files in the /tmp of a sealed command, which is its own; elsewhere nothing is counted."""
    try:
        root = Path(f"/proc/{pid}/root")
        if not (root / "tmp").is_mount() or (root / "tmp").stat().st_dev == Path("/tmp").stat().st_dev:
            return 0, 0
        found = os.statvfs(root / "tmp")
    except OSError:
        return 0, 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree


def _entries(directories: Sequence[Path]) -> Iterator[os.DirEntry[str]]:
    waiting = [str(directory) for directory in directories]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _there(entry: os.DirEntry[str]) -> bool:
    try:
        entry.stat(follow_symlinks=False)  # the answer is remembered by the entry
    except OSError:
        return False
    return True
