"""How commands of strangers are run on this machine: one wrapper, what it shows, and the limits that hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread

from shared.filesystem.directories import walk
from shared.sandbox.cgroup import Delegated
from shared.sandbox.limits import ProcessLimits
from shared.sandbox.view import FileSystemView
from shared.sandbox.watch import Watch
from shared.sandbox.wrap import Isolation, Wrap

BEHIND = ("nice", "-n", "5")
"""What the command is run behind, so that heartbeats and the watchdog go before thousands of its processes."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """`readable` are toolchains and what else a command needs; `hidden` what it must not see in there.

    With `groups` the kernel itself holds the limits.
    """

    wrap: Wrap = field(default_factory=lambda: Wrap(Isolation.TREE_BY_GROUP))
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    readable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    groups: Delegated | None = None

    def argv(self, command: Sequence[str], writable: Sequence[Path], *, network: bool = False) -> tuple[str, ...]:
        """`command`, wrapped; it may write to `writable` and, without `network`, talk to its own loopback alone.

        Only the sealed wrapper can close the network.
        """
        behind = () if self.wrap.kind is Isolation.TREE_BY_GROUP else BEHIND
        return (*behind, *self.wrap.argv(command, FileSystemView(writable, self.readable, self.hidden, network)))

    def watch(self, writable: Sequence[Path]) -> Watch:
        """A watchdog for one command, which is to be started as its `argv` says."""
        return Watch(self.limits, writable, self.groups)

    def temporary(self, own: Path) -> Path:
        """The directory for what is thrown away: the sealed /tmp, which has a size, or else `own`."""
        return Path("/tmp") if self.wrap.kind is Isolation.SANDBOX else own

    async def hand_over(self, directories: Sequence[Path]) -> None:
        """Give directories to the account that the command runs as, when it has one of its own."""
        if self.wrap.account is not None:
            await to_thread.run_sync(_chown, directories, self.wrap.account)

    async def take_back(self, directories: Sequence[Path]) -> None:
        """Make them ours again, so that no later command can change them."""
        if self.wrap.account is not None:
            await to_thread.run_sync(_chown, directories, (os.getuid(), os.getgid()))


def _chown(directories: Sequence[Path], account: tuple[int, int]) -> None:
    for path in _everything(directories):
        os.chown(path, *account, follow_symlinks=False)


def _everything(directories: Sequence[Path]) -> Iterator[Path]:
    for root in directories:
        yield root
        yield from (Path(entry.path) for entry in walk(root))
