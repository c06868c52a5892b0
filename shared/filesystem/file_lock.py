"""The lock on a file: one holder at a time among the tasks of this process and the processes of this machine."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import anyio.to_thread

_RETRY_SECONDS = 0.05
"""Seconds between two attempts of a waiting thread to take the lock."""


class FileLock:
    """A lock on a file beside its object; the kernel drops it with its process, so a crash leaves nothing locked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tasks = anyio.Lock()

    @asynccontextmanager
    async def held(self, waits: Callable[[], object] = lambda: None) -> AsyncIterator[None]:
        """Wait for the lock and hold it inside the block; cancelling while waiting leaves no trace.

        `waits` is called, perhaps often and in a thread, while another task or process has the lock. Raises `OSError`.
        """
        if self._tasks.locked():
            waits()
        async with self._tasks:
            flock = _Flock(self._path, waits)
            try:
                await anyio.to_thread.run_sync(flock.acquire, abandon_on_cancel=True)
                yield
            finally:
                flock.release()

    @contextmanager
    def at_once(self) -> Iterator[bool]:
        """Hold the lock inside the block if it is free now, and yield whether it was. Raises `OSError`."""
        descriptor = _open_lock(self._path)
        try:
            free = True
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                free = False
            yield free
        finally:
            os.close(descriptor)


def _open_lock(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


class _Flock:
    """`flock` in a thread that may be abandoned: its descriptor is closed then too."""

    def __init__(self, path: Path, waits: Callable[[], object]) -> None:
        self._path = path
        self._waits = waits
        self._abandoned = threading.Event()
        self._guard = threading.Lock()
        self._descriptor: int | None = None

    def acquire(self) -> None:
        descriptor = _open_lock(self._path)
        while not self._abandoned.is_set():
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._waits()
                self._abandoned.wait(_RETRY_SECONDS)
                continue
            with self._guard:
                if not self._abandoned.is_set():
                    self._descriptor = descriptor
                    return
        os.close(descriptor)

    def release(self) -> None:
        with self._guard:
            self._abandoned.set()
            descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
