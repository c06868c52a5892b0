"""The confinement of untrusted commands, which are tests and coding CLIs: their wrapper, their view, and their limits.

The end of a wrapper, or the death of the daemon itself, ends all that was started in it. CLIs start their tools in
sessions of their own, so killing a process group does not reach them; a process namespace does, and so does a reaper of
another OS user. `SANDBOX` and `OS_USER` are sandboxes, the modes `bubblewrap` and `container`; the others only hold a
process tree together, as far as they can.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import structlog
from anyio import to_thread

from shared import process
from shared.filesystem.directories import walk
from shared.sandbox import bubblewrap_sandbox, reaper, system_calls
from shared.sandbox.bubblewrap_sandbox import FileSystemView, Outlet, real
from shared.sandbox.cgroup import Delegated
from shared.sandbox.limits import PROCESSES, ProcessLimits
from shared.sandbox.watchdog import Watchdog

log = structlog.get_logger()

BEHIND = ("nice", "-n", "5")
"""Prefix of wrapped commands, so that heartbeats and the watchdog run before thousands of their processes."""

_MASKED = (Path("/tmp"), Path("/var/tmp"))
"""Directories of which a command sees an empty copy of its own."""


class Isolation(StrEnum):
    """The mechanism that holds the process tree together; the first two also keep it away from everything else."""

    SANDBOX = "sandbox"
    OS_USER = "account"
    TREE_BY_BUBBLEWRAP = "bwrap"
    TREE_BY_UNSHARE = "unshare"
    TREE_BY_GROUP = "group"


@dataclass(frozen=True, slots=True)
class Wrap:
    """One way to wrap a command; `SANDBOX` and, for writing, `TREE_BY_BUBBLEWRAP` restrict the view of the file system.

    `os_user` are the ids of user and group that `OS_USER` runs commands as.
    """

    kind: Isolation
    own_user: bool = False
    os_user: tuple[int, int] | None = None

    def argv(self, command: Sequence[str], view: FileSystemView) -> tuple[str, ...]:
        """Wrap `command`. TERM ends it, but only KILL ends `unshare`; `OS_USER` has to be ended by TERM."""
        match self.kind:
            case Isolation.SANDBOX:
                return tuple(bubblewrap_sandbox.arguments(command, view))
            case Isolation.OS_USER:
                return (*system_calls.RESTRICTED, *self._reaper(), *command)
            case Isolation.TREE_BY_BUBBLEWRAP:
                return ("bwrap", *_bubblewrap(view), "--", *command)
            case Isolation.TREE_BY_UNSHARE:
                user = ("--user", "--map-current-user") if self.own_user else ()
                space = ("unshare", *user, "--pid", "--fork", "--kill-child=KILL", "--mount-proc")
                return (*_WITH_PARENT, *space, "--", *command)
            case Isolation.TREE_BY_GROUP:
                return (*(_WITH_PARENT if _SETPRIV else ()), *command)

    def _reaper(self) -> tuple[str, ...]:
        if self.os_user is None:
            raise ValueError("an account to run as belongs to Isolation.OS_USER")
        ids = (str(number) for number in (*self.os_user, PROCESSES))
        return (sys.executable, "-I", "-S", reaper.__file__, *ids, "--")


_SETPRIV = next((path for path in ("/usr/bin/setpriv", "/bin/setpriv") if os.access(path, os.X_OK)), "")
"""Part of util-linux, so only Linux has it."""

_WITH_PARENT = (_SETPRIV or "setpriv", "--pdeathsig", "KILL", "--")
"""Prefix of commands that would outlive a killed daemon: the kernel ends them with it, and with `unshare` their tree.

A test run whose reader is gone would wait for ever: opening its report, a named pipe, takes a reader.
"""

_WAYS = (
    Wrap(Isolation.TREE_BY_BUBBLEWRAP),
    Wrap(Isolation.TREE_BY_UNSHARE),
    Wrap(Isolation.TREE_BY_UNSHARE, own_user=True),
)


async def probe(environment: Mapping[str, str], *, ways: Iterable[Wrap] = _WAYS) -> Wrap:
    """Return the first way that works on this machine; `TREE_BY_GROUP`, with a warning, if none does.

    `environment` needs a PATH.
    """
    refused: list[str] = []
    for way in ways:
        try:
            argv = way.argv(("true",), FileSystemView(()))
            finished = await process.run(argv, cwd=Path("/"), env=environment)
        except OSError as error:
            refused.append(f"{way.kind}: {error.strerror}")
            continue
        if finished.code == 0:
            return way
        refused.append(f"{way.kind}: {finished.stderr.decode('utf-8', 'replace').strip()[-200:]}")
    log.warning(
        "process_tree_not_held",
        tried=refused,
        consequence="what a coding CLI leaves in the background, or a killed daemon leaves, runs on",
        next_step="install bubblewrap, or allow user namespaces to this account",
    )
    return Wrap(Isolation.TREE_BY_GROUP)


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


def _bubblewrap(view: FileSystemView) -> Iterator[str]:
    yield from ("--die-with-parent", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    hidden = (*_MASKED, *real(view.hidden))
    masked = [path for path in hidden if path.is_dir()]
    for path in masked:
        yield from ("--tmpfs", str(path))
    for path in hidden:
        if path.is_file() and not any(mask in path.parents for mask in masked):
            yield from ("--ro-bind", "/dev/null", str(path))
    for path in real(view.readable):
        if path.exists() and any(mask in path.parents for mask in masked):
            yield from ("--ro-bind", str(path), str(path))
    for path in real(view.writable):
        yield from ("--bind", str(path), str(path))


def _chown(directories: Sequence[Path], os_user: tuple[int, int]) -> None:
    for root in directories:
        os.chown(root, *os_user, follow_symlinks=False)
        for entry in walk(root):
            os.chown(entry.path, *os_user, follow_symlinks=False)
