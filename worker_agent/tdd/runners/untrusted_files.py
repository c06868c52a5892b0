"""A reader of files that a run left, without trust: it follows no link, waits for no pipe, and caps sizes."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from worker_agent.tdd.runners.junit import REPORT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.raw_report import Report
from worker_agent.tdd.runners.runner import Runner

_NOT_SOURCE = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"})
_DEPTH = 32
"""The most nested directories that are read; packages need far fewer."""


def tail(log: Path, limit: int) -> str:
    """Return the last `limit` characters of a log."""
    try:
        with _regular(log) as output:
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - 4 * limit))  # a character takes four bytes at most
            return output.read(4 * limit).decode("utf-8", "replace")[-limit:]
    except OSError as error:
        return f"the output cannot be read: {error.strerror}"


def report(runner: Runner, path: Path, project: Project) -> Report:
    """Read one report file of a run of the project's tests."""
    try:
        with _regular(path) as file:
            return runner.read(file.read(REPORT_LIMIT + 1), project)
    except OSError as error:
        return Report(problem=f"the test report cannot be read: {error.strerror}")


def paths(checkout: Path, limit: int) -> list[str]:
    """Return the files of a checkout, at most about `limit`, without those that are no source."""
    found: list[str] = []
    for directory, below, files in os.walk(checkout):
        place = Path(directory).relative_to(checkout)
        below[:] = sorted(set(below) - _NOT_SOURCE) if len(place.parts) < _DEPTH else []
        found += [(place / file).as_posix() for file in files]
        if len(found) >= limit:
            break
    return found


def _regular(path: Path) -> BinaryIO:
    """Open a file that tests may have replaced: no link is followed, no pipe waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb")
