"""The agents of this machine, shown beside the board: what each of them does, and whether they are paused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.running_agents import residents
from runtime.daemon.agent_lifecycle import PAUSE_FILE
from runtime.daemon.status_file import read
from shared.scheduling.admission import pause_of


@dataclass(frozen=True, slots=True)
class Agent:
    """One running agent; `doing` is its own sentence, empty when it has said none."""

    id: str
    kind: str
    pid: int
    doing: str


@dataclass(frozen=True, slots=True)
class Machine:
    """The agents that run from one state directory; `paused` says why they begin nothing, empty when they may."""

    agents: tuple[Agent, ...] = ()
    paused: str = ""


def machine(state_dir: Path) -> Machine:
    """Return the agents of this machine; none where the state directory cannot be read."""
    try:
        found = residents(state_dir)
    except OSError:
        return Machine()
    agents = tuple(Agent(one.id, one.kind, one.pid, read(state_dir, one.id)) for one in found)
    return Machine(agents, pause_of(state_dir / PAUSE_FILE))


def lines(seen: Machine) -> Iterator[str]:
    """A line for each thing that people should know; none where nothing runs and nothing is paused."""
    if seen.agents or seen.paused:
        yield f"this machine: {seen.paused}" if seen.paused else "this machine:"
    for one in seen.agents:
        yield f"  {one.id} (process {one.pid}): {one.doing or 'it has not said yet what it does'}"


def document(seen: Machine) -> dict[str, Any]:
    """The same for programs."""
    agents = [{"id": one.id, "kind": one.kind, "pid": one.pid, "doing": one.doing or None} for one in seen.agents]
    return {"paused": seen.paused or None, "agents": agents}
