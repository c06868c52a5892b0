"""The directory of one call: a HOME of its own, outside the work tree, removed when the call is over.

A lock file beside each directory tells that of a running call from one that a killed daemon left.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from shared.filesystem import directories


@dataclass(frozen=True, slots=True)
class CallDirectory:
    """`home` is the CLI's HOME, `temporary` its TMPDIR, `empty` the working directory of a call without a tree."""

    path: Path

    @property
    def home(self) -> Path:
        return self.path / "home"

    @property
    def temporary(self) -> Path:
        return self.path / "tmp"

    @property
    def empty(self) -> Path:
        return self.path / "empty"

    @property
    def events(self) -> Path:
        """File with the CLI's whole standard output: beside the directory, where the call cannot write."""
        return self.path.with_suffix(".events")


@asynccontextmanager
async def opened(root: Path) -> AsyncIterator[CallDirectory]:
    """Make a call directory (mode 0700) under `root`; removed at the end, whatever is in it."""
    await anyio.to_thread.run_sync(lambda: root.mkdir(mode=0o700, parents=True, exist_ok=True))
    name = f"call-{secrets.token_hex(6)}"
    descriptor = os.open(root / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        call = CallDirectory(root / name)
        for directory in (call.path, call.home, call.temporary, call.empty):
            directory.mkdir(mode=0o700)
        yield call
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_remove, root / name)
        (root / f"{name}.lock").unlink(missing_ok=True)
        os.close(descriptor)


def lives(call: Path) -> bool:
    """Return whether the call with this directory is still running, in whichever process."""
    with suppress(OSError):
        descriptor = os.open(call.with_name(f"{call.name}.lock"), os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False


def sweep(root: Path, *, spared: Collection[Path] = ()) -> int:
    """Remove the directories of calls whose daemon is gone, except those with a path of `spared`; return how many.

    Raises nothing: a path that cannot be removed is renamed, and tried again with the next sweep.
    """
    removed = 0
    directories.retry(root)
    for lock in sorted(root.glob("call-*.lock")):
        call = lock.with_suffix("").resolve()
        if any(path.is_relative_to(call) for path in spared):
            continue
        with suppress(OSError):
            removed += _sweep_call(lock)
    return removed


def _sweep_call(lock: Path) -> bool:
    descriptor = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not lock.with_suffix("").exists():
            return False  # just being made, or just removed by its owner
        _remove(lock.with_suffix(""))
        lock.unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)


def _remove(directory: Path) -> None:
    directories.remove(directory)
    directories.remove(CallDirectory(directory).events)
