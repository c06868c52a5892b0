"""The wrapper of a coding CLI: one SIGKILL, or the death of the daemon itself, ends everything that it started.

CLIs start their tools in sessions of their own, so killing a process group does not reach them; a
process namespace does. With bubblewrap the file system is read-only besides what is named, and /tmp
is the call's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import structlog

from shared import process

log = structlog.get_logger()

_MASKED = (Path("/tmp"), Path("/var/tmp"))
"""Directories that a call sees empty, and its own."""


class Kind(StrEnum):
    """What holds the process tree together."""

    BUBBLEWRAP = "bwrap"
    UNSHARE = "unshare"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class View:
    """What a call sees of the file system: everything read-only, but `hidden` empty and `writable` writable.

    `hidden` are directories and files; `readable` is shown even where a parent of it is hidden.
    """

    writable: Sequence[Path]
    readable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Wrap:
    """One way to wrap a command; only `bwrap` restricts the view of the file system."""

    kind: Kind
    own_user: bool = False

    def argv(self, command: Sequence[str], view: View) -> tuple[str, ...]:
        """`command`, wrapped. Send KILL to end it at once: `unshare` ignores TERM."""
        match self.kind:
            case Kind.BUBBLEWRAP:
                return ("bwrap", *_bubblewrap(view), "--", *command)
            case Kind.UNSHARE:
                user = ("--user", "--map-current-user") if self.own_user else ()
                space = ("unshare", *user, "--pid", "--fork", "--kill-child=KILL", "--mount-proc")
                return (*_WITH_PARENT, *space, "--", *command)
            case Kind.GROUP:
                return tuple(command)


_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")
"""`unshare` would outlive a killed daemon; with this the kernel ends it, and so its child."""

_WAYS = (Wrap(Kind.BUBBLEWRAP), Wrap(Kind.UNSHARE), Wrap(Kind.UNSHARE, own_user=True))


async def probe(environment: Mapping[str, str], *, ways: Iterable[Wrap] = _WAYS) -> Wrap:
    """The first way that works on this machine; `GROUP`, with a warning, when none does.

    `environment` needs a PATH.
    """
    refused: list[str] = []
    for way in ways:
        try:
            argv = way.argv(("true",), View(()))
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
    return Wrap(Kind.GROUP)


def _bubblewrap(view: View) -> Iterator[str]:
    yield from ("--die-with-parent", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    hidden = (*_MASKED, *_real(view.hidden))
    masked = [path for path in hidden if path.is_dir()]
    for path in masked:
        yield from ("--tmpfs", str(path))
    for path in hidden:
        if path.is_file() and not any(mask in path.parents for mask in masked):
            yield from ("--ro-bind", "/dev/null", str(path))
    for path in _real(view.readable):
        if path.exists() and any(mask in path.parents for mask in masked):
            yield from ("--ro-bind", str(path), str(path))
    for path in _real(view.writable):
        yield from ("--bind", str(path), str(path))


def _real(paths: Iterable[Path]) -> list[Path]:
    """Links followed, parents before what lies in them."""
    return sorted({Path(os.path.realpath(path)) for path in paths}, key=lambda path: len(path.parts))
