"""One fetch at a time per mirror, among the tasks of this process and the processes of this machine."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

_RETRY_SECONDS = 0.05
"""How often a waiting thread looks whether the other process has let go."""


class FetchLock:
    """A lock on a file beside the mirror; it goes with its process, so a crash leaves nothing locked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tasks = anyio.Lock()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Wait for the lock and hold it inside the block; cancelling while waiting leaves no trace."""
        async with self._tasks:
            flock = _Flock(self._path)
            try:
                await anyio.to_thread.run_sync(flock.acquire, abandon_on_cancel=True)
                yield
            finally:
                flock.release()


class _Flock:
    """`flock` in a thread that can be abandoned: whoever abandons it also gets it closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._abandoned = threading.Event()
        self._guard = threading.Lock()
        self._descriptor: int | None = None

    def acquire(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        while not self._abandoned.is_set():
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
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
