"""The process groups that this process has started and not yet ended, and the signals to them."""

from __future__ import annotations

import os
import signal

RUNNING: set[int] = set()
"""Process group ids; `shared.process` maintains them."""


def send(group: int, number: int) -> None:
    """Send a signal to every process of a group; ignore a group that no longer exists."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def kill_all() -> None:
    """Kill every running group without waiting: for a process that is about to end itself."""
    for group in tuple(RUNNING):
        send(group, signal.SIGKILL)
