"""The wrapper of tests and coding CLIs: its end, or the death of the daemon itself, ends all that they started.

CLIs start their tools in sessions of their own, so killing a process group does not reach them; a
process namespace does, and so does a reaper of another OS user. `SANDBOX` and `OS_USER` are sandboxes,
the modes `bubblewrap` and `container`; the others only hold a process tree together, as far as they can.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import structlog

from shared import process
from shared.sandbox import bubblewrap_sandbox, reaper, system_calls
from shared.sandbox.limits import PROCESSES
from shared.sandbox.view import FileSystemView, real

log = structlog.get_logger()

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
