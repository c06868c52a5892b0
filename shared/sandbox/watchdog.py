"""The watchdog of one command: measures all its processes and directories, and reports the first exceeded limit.

It needs neither root nor a cgroup. With a cgroup (`cgroup.Box`), the kernel itself enforces limits of memory and
processes between two looks, and its count of CPU time misses nothing.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.abc import Process

from shared.filesystem.directories import walk
from shared.sandbox.cgroup import Box, Delegated
from shared.sandbox.hidden_usage import Held, held
from shared.sandbox.limits import ProcessLimits, Usage, passed

if TYPE_CHECKING:
    import psutil

LOOK_SECONDS = 0.2
"""Seconds between two looks at processes."""

LAST_SECONDS = 1.0
"""Seconds to wait for processes that the kernel kills at once."""

DISK_LOOKS = 10
"""Looks at processes for each look at the directories, which takes longer."""

_TOO_DEEP = "files (directories nested too deep to be counted)"
_UNSEEN = "memory (a file system of its own that cannot be measured)"


class Watchdog:
    """Waits for a child within `limits`; `directories` are the ones it may write to, `groups` makes cgroups for it."""

    def __init__(self, limits: ProcessLimits, directories: Sequence[Path], groups: Delegated | None = None) -> None:
        self.limits = limits
        self.exceeded: str | None = None
        """The limit that `over` has returned."""
        self._directories = directories
        self._box: Box | None = None if groups is None else groups.box(limits)
        self._looks = 0
        self._on_disk = (0, 0)
        self._too_deep: str | None = None
        self._unseen: frozenset[str] = frozenset()
        self._cpu = _Cpu()

    def argv(self, command: Sequence[str]) -> tuple[str, ...]:
        """Return the argv that runs `command` in the cgroup of this watchdog, if it has one."""
        return tuple(command) if self._box is None else self._box.argv(command)

    async def over(self, child: Process) -> str | None:
        """Wait for the child's end and return None; or return the first limit that it exceeds, while it still runs."""
        try:
            self.exceeded = await self._over(child)
            return self.exceeded
        finally:
            if self._box is not None:
                with anyio.move_on_after(LAST_SECONDS, shield=True):
                    self._box.end()
                    await child.wait()
                self._box.close()

    async def _over(self, child: Process) -> str | None:
        while True:
            with anyio.move_on_after(LOOK_SECONDS):
                await child.wait()
                return await self._last()
            if limit := await to_thread.run_sync(self._look, child.pid):
                return limit

    async def _last(self) -> str | None:
        """Return a limit that the kernel enforced, or that files left on the disk exceed; the processes are gone."""
        size, files = await to_thread.run_sync(self._weigh)
        refused = None if self._box is None else self._box.passed()
        return refused or self._too_deep or passed(Usage(disk_bytes=size, files=files), self.limits)

    def _look(self, pid: int) -> str | None:
        if self._looks % DISK_LOOKS == 0:
            self._on_disk = self._weigh()
        self._looks += 1
        tree = list(_tree(pid))
        memory = sum(_resident_bytes(one) for one in tree)
        seconds = self._cpu.taken(tree)
        others = held([one.pid for one in tree])
        size, files = self._on_disk
        usage = Usage(memory + others.memory_bytes, len(tree), size + others.disk_bytes, files + others.files, seconds)
        refused = None if self._box is None else self._box.passed()
        return refused or self._report_unmeasured(others) or self._too_deep or passed(usage, self.limits)

    def _report_unmeasured(self, others: Held) -> str | None:
        """Report a file system that two looks in a row could not measure: once may be a sandbox being set up."""
        again = others.unseen & self._unseen
        self._unseen = others.unseen
        return _UNSEEN if again else None

    def _weigh(self) -> tuple[int, int]:
        """Return bytes and files in the directories; counting stops at the limit."""
        size = files = 0
        entries = chain.from_iterable(walk(one, left_out=self._left_out) for one in self._directories)
        for entry in entries:
            files += 1
            with suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_blocks * 512
            if files > self.limits.files or size > self.limits.disk_bytes:
                break
        return size, files

    def _left_out(self, error: OSError) -> None:
        if error.errno == errno.ENAMETOOLONG:
            self._too_deep = _TOO_DEEP


class _Cpu:
    """CPU time of processes, including ended ones that nobody has waited for, if a look has met them."""

    def __init__(self) -> None:
        self._own: dict[tuple[int, float], float] = {}

    def taken(self, tree: Sequence[psutil.Process]) -> float:
        """Return seconds up to now: of the living and their waited-for children, or of all ever met if more."""
        import psutil

        living = 0.0
        for one in tree:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                times = one.cpu_times()
                self._own[one.pid, one.create_time()] = times.user + times.system
                living += times.user + times.system + times.children_user + times.children_system
        return max(living, sum(self._own.values()))


def _tree(pid: int) -> Iterator[psutil.Process]:
    """Yield the leader, its descendants, and orphans of its process group."""
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


def _resident_bytes(one: psutil.Process) -> int:
    import psutil

    try:
        return int(one.memory_info().rss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
