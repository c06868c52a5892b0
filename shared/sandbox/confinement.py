"""The confinement of untrusted commands on this machine: one wrapper, the view that it gives, and the limits."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread

from shared.filesystem.directories import walk
from shared.sandbox.cgroup import Delegated
from shared.sandbox.limits import ProcessLimits
from shared.sandbox.view import FileSystemView, Outlet
from shared.sandbox.watchdog import Watchdog
from shared.sandbox.wrap import Isolation, Wrap

BEHIND = ("nice", "-n", "5")
"""Prefix of wrapped commands, so that heartbeats and the watchdog run before thousands of their processes."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """`readable` are toolchains and other paths that a command needs; `hidden` are paths that it must not see.

    With `groups` the kernel itself enforces the limits.
    """

    wrap: Wrap = field(default_factory=lambda: Wrap(Isolation.TREE_BY_GROUP))
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    readable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    groups: Delegated | None = None

    def argv(self, command: Sequence[str], writable: Sequence[Path], *, network: bool = False) -> tuple[str, ...]:
        """Wrap `command`; it may write to `writable` and, without `network`, connect to its own loopback alone.

        Only the sandbox (`SANDBOX`) can close the network.
        """
        behind = () if self.wrap.kind is Isolation.TREE_BY_GROUP else BEHIND
        return (*behind, *self.wrap.argv(command, self.view(writable, network=network)))

    def view(
        self, writable: Sequence[Path], readable: Sequence[Path] = (), *, network: bool, outlet: Outlet | None = None
    ) -> FileSystemView:
        """Return the view of a command that is shown `readable` besides what all commands are shown."""
        return FileSystemView(writable, (*readable, *self.readable), self.hidden, network, outlet)

    def watchdog(self, writable: Sequence[Path]) -> Watchdog:
        """Return a watchdog for one command, which has to be started with the watchdog's `argv`."""
        return Watchdog(self.limits, writable, self.groups)

    def temporary(self, directory: Path) -> Path:
        """Return the directory for temporary files: the sandbox's /tmp, which has a size limit, or else `directory`."""
        return Path("/tmp") if self.wrap.kind is Isolation.SANDBOX else directory

    async def hand_over(self, directories: Sequence[Path]) -> None:
        """Give directories to the OS user that the command runs as, if it has one of its own."""
        if self.wrap.os_user is not None:
            await to_thread.run_sync(_chown, directories, self.wrap.os_user)

    async def take_back(self, directories: Sequence[Path]) -> None:
        """Make directories ours again, so that no later command can change them."""
        if self.wrap.os_user is not None:
            await to_thread.run_sync(_chown, directories, (os.getuid(), os.getgid()))


def _chown(directories: Sequence[Path], os_user: tuple[int, int]) -> None:
    for path in _everything(directories):
        os.chown(path, *os_user, follow_symlinks=False)


def _everything(directories: Sequence[Path]) -> Iterator[Path]:
    for root in directories:
        yield root
        yield from (Path(entry.path) for entry in walk(root))
