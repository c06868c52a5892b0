"""What a wrapped command sees of the file system and the network: plain values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outlet:
    """The one way out of a command without network: what it says to `port` of its loopback reaches `socket`."""

    port: int
    socket: Path


@dataclass(frozen=True, slots=True)
class FileSystemView:
    """What a call sees of the file system: everything read-only, but `hidden` empty and `writable` writable.

    `hidden` are directories and files; `readable` is shown even where a parent of it is hidden. The
    sealed wrapper shows nothing besides `readable`, `writable` and the system's own programs. Without
    `network` there is loopback only, and what `outlet` lets through.
    """

    writable: Sequence[Path]
    readable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    network: bool = True
    outlet: Outlet | None = None


def real(paths: Iterable[Path]) -> list[Path]:
    """Links followed, parents before what lies in them."""
    return sorted({Path(os.path.realpath(path)) for path in paths}, key=lambda path: len(path.parts))
