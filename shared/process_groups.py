"""The process groups that this process has started and not ended yet: a signal to one, the end of all."""

from __future__ import annotations

import os
import signal

RUNNING: set[int] = set()
"""By the number of their leader; `shared.process` keeps it."""


def send(group: int, number: int) -> None:
    """Send a signal to every process of a group; one that is gone is fine."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def kill_all() -> None:
    """Kill every group that was started here, without waiting: for a process that is about to end itself."""
    for group in tuple(RUNNING):
        send(group, signal.SIGKILL)
