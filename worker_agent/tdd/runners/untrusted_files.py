"""What a run left on disk, read without trust: a link is not followed, a pipe not waited for, sizes are capped."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from worker_agent.tdd.runners.cases import Report
from worker_agent.tdd.runners.junit import REPORT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Runner

_NOT_SOURCE = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"})
_DEPTH = 32
"""Directories below each other that are looked at; packages need far fewer."""


def tail(log: Path, limit: int) -> str:
    """The last `limit` characters of a log."""
    try:
        with _regular(log) as output:
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - 4 * limit))  # a character takes four bytes at most
            return output.read(4 * limit).decode("utf-8", "replace")[-limit:]
    except OSError as error:
        return f"the output cannot be read: {error.strerror}"


def report(runner: Runner, path: Path, project: Project) -> Report:
    """One report file of a run of the project's tests."""
    try:
        with _regular(path) as file:
            return runner.read(file.read(REPORT_LIMIT + 1), project)
    except OSError as error:
        return Report(problem=f"the test report cannot be read: {error.strerror}")


def paths(where: Path, limit: int) -> list[str]:
    """The files of a checkout, at most about `limit`, without what is no source."""
    found: list[str] = []
    for directory, below, files in os.walk(where):
        place = Path(directory).relative_to(where)
        below[:] = sorted(set(below) - _NOT_SOURCE) if len(place.parts) < _DEPTH else []
        found += [(place / file).as_posix() for file in files]
        if len(found) >= limit:
            break
    return found


def _regular(path: Path) -> BinaryIO:
    """Open a file that tests may have replaced: a link is not followed, a pipe not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb")
