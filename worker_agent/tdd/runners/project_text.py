"""Text of a checkout that tests have run in: no link is followed, no pipe waited for, sizes are capped."""

from __future__ import annotations

import os
import stat

from worker_agent.tdd.runners.project import Project

SIZE_LIMIT = 2 * 2**20
"""The most bytes of one file that are read; larger ones are generated or data."""


def text(project: Project, path: str) -> str:
    """Return the beginning of a file of the checkout; empty if it does not exist, or is no regular file."""
    try:
        descriptor = os.open(project.root / path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return file.read(SIZE_LIMIT).decode("utf-8", "replace")
