"""Room on disks: what is free where a process writes, claims only while there is enough, and the error when not."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from shared.errors import Transient

LEAST_FREE_BYTES = 256 * 2**20
"""With less, nothing new is begun; what is in work may still be finished, and its patch be kept."""

log = structlog.get_logger()


class DiskFull(Transient):
    """A disk is full."""


class DiskSpace:
    """The places that one process writes to; agents claim only while all of them have room."""

    def __init__(
        self,
        places: Sequence[Path],
        *,
        least_bytes: int = LEAST_FREE_BYTES,
        free: Callable[[Path], int] | None = None,
        writable: Callable[[Path], bool] | None = None,
    ) -> None:
        """`free` tells how many bytes may still be written below a path, `writable` whether anything may.

        Unless given, the disk's own answers.
        """
        self._places = tuple(places)
        self._least = least_bytes
        self._free = free or free_bytes
        self._writable = writable or can_write
        self.lacking = ""
        """What was in the way when `admits` was last asked."""

    def admits(self, *, strict: bool = False) -> bool:
        """Whether there is room for new work; asked at every tick, logged when the answer changes.

        With `strict` raises `DiskFull` instead of answering no.
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
    """What this account may still write below `path`, which need not exist yet."""
    return shutil.disk_usage(existing(path)).free


def can_write(path: Path) -> bool:
    """Whether this account may write there; no on a file system that has become read-only, for root too."""
    return os.access(existing(path), os.W_OK)


def mount_of(path: Path) -> Path:
    """Where the file system is mounted that holds `path` or will hold it."""
    place = existing(path).resolve()
    return next(place for place in (place, *place.parents) if os.path.ismount(place))


def existing(path: Path) -> Path:
    """The path itself, or the nearest directory above it that exists."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())


def no_room(error: OSError, place: Path | None = None) -> DiskFull | None:
    """The error as `DiskFull` when it says that a disk or a quota is full, else None; `place` is what was written."""
    if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
        return None
    return full(place or (Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else None))


def full(place: Path | None) -> DiskFull:
    """The error for a place where nothing more can be written."""
    if place is None:
        return DiskFull("No space is left on a disk: make room; it goes on by itself.")
    return DiskFull(f"No space is left on {mount_of(place)} (for {place}): make room; it goes on by itself.")
