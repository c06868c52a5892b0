"""The output of a run, read without trust: its report while it is written, its log and files when it has ended.

A named pipe gives each byte once, so nothing changes it later.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shared.filesystem.directories import open_regular
from worker_agent.tdd.runners.junit import REPORT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Runner
from worker_agent.tdd.runners.test_run import Report

_PART = 2**16
_AFTERWARDS = 2**20
"""Bytes that are still read when the run has ended: more than a pipe holds, so later writers are not heard."""

_WRITE_ONLY = 0o200
"""The pipe's mode: a program that reads all files is refused instead of waiting for ever; only root is not."""


class ReportPipe:
    """Collects the bytes that a run writes to its report; beyond the limit, just enough that readers notice it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        path.chmod(_WRITE_ONLY)
        self._ended, self._end = os.pipe()
        self._data = bytearray()
        self._thread = threading.Thread(target=self._collect, daemon=True)

    @property
    def data(self) -> bytes:
        """Everything that was written, up to one byte above the limit."""
        return bytes(self._data)

    def start(self) -> None:
        """Start reading, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Read the rest after the run has ended, and close."""
        os.close(self._end)
        self._thread.join()
        os.close(self._descriptor)
        os.close(self._ended)

    def _collect(self) -> None:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        poll.register(self._ended, select.POLLIN)
        while True:
            events = dict(poll.poll())
            if self._ended in events:
                break
            if events[self._descriptor] & select.POLLIN:
                self._take()
            else:
                self._wait_for_the_next_writer()
        left = _AFTERWARDS
        while left > 0 and (part := self._take()):
            left -= part

    def _wait_for_the_next_writer(self) -> None:
        """Wait a moment: while no program has the pipe open, poll would report that again and again."""
        only = select.poll()
        only.register(self._ended, select.POLLIN)
        only.poll(20)

    def _take(self) -> int:
        """Read once; return the number of bytes."""
        try:
            part = os.read(self._descriptor, _PART)
        except BlockingIOError:  # somebody else has the pipe open, and may have taken what was there
            return 0
        self._data += part[: REPORT_LIMIT + 1 - len(self._data)]
        return len(part)


@contextmanager
def report_pipe(path: Path) -> Iterator[ReportPipe]:
    """Create a pipe at `path` that is read until the block ends, and remove it afterwards."""
    pipe = ReportPipe(path)
    pipe.start()
    try:
        yield pipe
    finally:
        pipe.stop()
        with suppress(OSError):  # tests may have put a directory there; whoever made the room removes it
            path.unlink()


def tail(log: Path, limit: int) -> str:
    """Return the last `limit` characters of a log."""
    try:
        with open_regular(log) as output:
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - 4 * limit))  # a character takes four bytes at most
            return output.read(4 * limit).decode("utf-8", "replace")[-limit:]
    except OSError as error:
        return f"the output cannot be read: {error.strerror}"


def report(runner: Runner, path: Path, project: Project) -> Report:
    """Read one report file of a run of the project's tests."""
    try:
        with open_regular(path) as file:
            return runner.read(file.read(REPORT_LIMIT + 1), project)
    except OSError as error:
        return Report(problem=f"the test report cannot be read: {error.strerror}")
