"""Free space on the disks that a process writes to, the check that pauses claims, and the error for a full disk."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from shared.errors import Transient

LEAST_FREE_BYTES = 256 * 2**20
"""Free bytes below which nothing is claimed; work in progress may still be finished, and its patch be kept."""

log = structlog.get_logger()


class DiskFull(Transient):
    """A disk is full."""


class DiskSpace:
    """The directories that one process writes to; agents claim only while each has enough space and is writable."""

    def __init__(
        self,
        places: Sequence[Path],
        *,
        least_bytes: int = LEAST_FREE_BYTES,
        free: Callable[[Path], int] | None = None,
        writable: Callable[[Path], bool] | None = None,
    ) -> None:
        """`free` returns how many bytes may still be written below a path, `writable` whether anything may be.

        Without them the disk itself is asked.
        """
        self._places = tuple(places)
        self._least = least_bytes
        self._free = free or free_bytes
        self._writable = writable or can_write
        self.lacking = ""
        """The reason why `admits` returned False the last time; empty if it returned True."""

    def admits(self, *, strict: bool = False) -> bool:
        """Return whether there is enough space for new work; asked at every tick, logged when the answer changes.

        With `strict`, raise `DiskFull` instead of returning False.
        """
        lacking = self._sentence()
        if lacking != self.lacking:
            self.lacking = lacking
            if lacking:
                log.warning("claims_paused", outcome="retrying", reason=lacking)
            else:
                log.info("claims_resumed")
        if lacking and strict:
            raise DiskFull(lacking)
        return not lacking

    def _sentence(self) -> str:
        for place in self._places:
            if not self._writable(place):
                return f"{place} cannot be written: nothing is claimed until it can."
        mounts = {mount_of(place): place for place in self._places if self._free(place) < self._least}
        if not mounts:
            return ""
        named = ", ".join(f"{mount} (for {place})" for mount, place in sorted(mounts.items()))
        return f"Less than {self._least // 2**20} MiB are free on {named}: nothing is claimed until there is more."


def free_bytes(path: Path) -> int:
    """Return the bytes that this account may still write below `path`, which need not exist yet."""
    return shutil.disk_usage(existing(path)).free


def can_write(path: Path) -> bool:
    """Return whether this account may write there; False on a file system that has become read-only, for root too."""
    return os.access(existing(path), os.W_OK)


def mount_of(path: Path) -> Path:
    """Return the mount point of the file system that holds `path`, or would hold it."""
    place = existing(path).resolve()
    return next(place for place in (place, *place.parents) if os.path.ismount(place))


def existing(path: Path) -> Path:
    """Return the path, or the nearest directory above it that exists."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())


def as_disk_full(error: OSError, place: Path | None = None) -> DiskFull | None:
    """Return a `DiskFull` if `error` says that a disk or quota is full, else None; `place` is the path written to."""
    if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
        return None
    return full(place or (Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else None))


def full(place: Path | None) -> DiskFull:
    """Return the error for a place where nothing more can be written."""
    if place is None:
        return DiskFull("No space is left on a disk: make room; agents that run go on by themselves.")
    return DiskFull(
        f"No space is left on {mount_of(place)} (for {place}): make room; agents that run go on by themselves."
    )
