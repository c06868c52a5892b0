"""The agents that run from a state directory: the processes that hold an identity in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import psutil

from config.health import held

CLOCK_SECONDS = 2.0
"""Seconds by which the times of processes and of files may disagree."""


@dataclass(frozen=True, slots=True)
class RunningAgent:
    """One running agent."""

    id: str
    kind: str
    pid: int


def residents(state_dir: Path) -> tuple[RunningAgent, ...]:
    """Every agent of this machine whose identity is locked, by id; raises `OSError` where that cannot be read."""
    locks = sorted((state_dir / "agents").glob("*.lock"))
    found = (_resident(lock.with_suffix(".json")) for lock in locks if held(lock))
    return tuple(one for one in found if one is not None)


def _resident(file: Path) -> RunningAgent | None:
    """Return the agent of this identity; None when its process is not found, as in another container."""
    try:
        written = file.stat().st_mtime
        content = json.loads(file.read_bytes())
        resident = RunningAgent(file.stem, str(content["kind"]), int(content["pid"]))
        began: float = psutil.Process(resident.pid).create_time()
    except (OSError, ValueError, TypeError, KeyError, psutil.Error):
        return None
    # A younger process has got the number of one that has died: it is not ours to signal.
    return resident if began <= written + CLOCK_SECONDS else None
