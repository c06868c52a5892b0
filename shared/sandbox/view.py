"""A wrapped command's view of the file system and the network: plain values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outlet:
    """The only way out of a command without network: connections to `port` of its loopback reach `socket`."""

    port: int
    socket: Path


@dataclass(frozen=True, slots=True)
class FileSystemView:
    """A command's view of the file system and the network; `hidden` are directories and files.

    In the sandbox (`SANDBOX`), `readable` is the list of what is shown, beside `writable` and the system's own
    programs; what lies in a hidden directory is shown only if `readable` names it.
    By `TREE_BY_BUBBLEWRAP`, everything is shown read-only except what is `hidden`; `readable` are the exceptions from
    that, and `writable` can be written. The other ways hide nothing.
    Without `network` there is loopback only, and the connections of `outlet`; only the sandbox can close it.
    """

    writable: Sequence[Path]
    readable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    network: bool = True
    outlet: Outlet | None = None


def real(paths: Iterable[Path]) -> list[Path]:
    """Return the paths with links resolved, parents before their entries."""
    return sorted({Path(os.path.realpath(path)) for path in paths}, key=lambda path: len(path.parts))
