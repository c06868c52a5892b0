"""`workflow-engine drain`, `pause` and `resume`: orders to the agents that run from one state directory."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from config.engine import DEFAULT_STATE_DIR
from config.loading import read, source
from config.running_agents import RunningAgent, residents
from config.state import replace_file
from runtime.daemon.agent_lifecycle import PAUSE_FILE
from runtime.exit_codes import FAILED, NOTHING_TO_DO, OK, complain
from runtime.output import say
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured

LOOK_SECONDS = 1.0
"""Seconds between two checks whether they have ended; an agent that has just begun may have missed the order."""


@dataclass(frozen=True, slots=True)
class ControlOptions:
    """The agents that an order is for."""

    config: Path | None = None
    state_dir: Path | None = None
    agents: tuple[str, ...] = ()
    """Ids; empty means all."""


def drain(options: ControlOptions, environment: Mapping[str, str], clock: Clock, *, seconds: float | None) -> int:
    """Let agents end when the phases in work have ended; wait for that at most `seconds` (None: for ever).

    Exit code 0 if all have ended, 1 if some still work, 2 for an unusable configuration, 3 if none runs.
    """
    try:
        place = state_of(options, environment)
        meant = _chosen_agents(place, options.agents)
        if not meant:
            say(f"No agent runs from {place}.")
            return NOTHING_TO_DO
        for one in meant:
            say(f"draining {one.id} (process {one.pid})")
        left = anyio.run(_drain_agents, place, meant, clock, seconds)
    except EngineError as error:
        return complain(error)
    for one in left:
        say(f"{one.id} still works; it ends by itself when its phase has ended")
    return FAILED if left else OK


def pause(options: ControlOptions, environment: Mapping[str, str], why: str) -> int:
    """Let no agent that runs from the state directory begin anything, until `resume`."""
    try:
        place = state_of(options, environment)
        if not place.is_dir():
            raise Misconfigured(f"There is no state directory {place}: name it with --state-dir.")
        replace_file(place / PAUSE_FILE, f"{' '.join(why.split())}\n")
    except EngineError as error:
        return complain(error)
    say(f"Paused: phases in work come to their end, then nothing is begun from {place}. `resume` ends it.")
    return OK


def resume(options: ControlOptions, environment: Mapping[str, str]) -> int:
    """Let the agents of the state directory go on. Exit code 3 if they were not paused."""
    try:
        file = state_of(options, environment) / PAUSE_FILE
        file.unlink()
    except EngineError as error:
        return complain(error)
    except FileNotFoundError:
        say("It is not paused.")
        return NOTHING_TO_DO
    except OSError as error:
        return complain(Misconfigured(f"{file} cannot be removed: {error.strerror}."))
    say("Agents go on at their next look.")
    return OK


def state_of(options: ControlOptions, environment: Mapping[str, str]) -> Path:
    """Return the state directory that is meant: named, configured, or the default; raises `Misconfigured`."""
    if options.state_dir is not None:
        return options.state_dir
    found = source(options.config, environment=environment)
    if found is not None:
        return read(found, environment=environment).state_dir
    return Path(environment.get("STATE_DIRECTORY", "").partition(":")[0] or DEFAULT_STATE_DIR).expanduser()


def _chosen_agents(place: Path, agents: Collection[str]) -> tuple[RunningAgent, ...]:
    try:
        found = residents(place)
    except OSError as error:
        raise Misconfigured(f"{place} cannot be read: {error.strerror}.") from None
    known = {one.id for one in found}
    if missing := [agent for agent in agents if agent not in known]:
        raise Misconfigured(f"'{missing[0]}' does not run from {place}; there is {', '.join(sorted(known)) or 'none'}.")
    return tuple(one for one in found if not agents or one.id in agents)


async def _drain_agents(
    place: Path, meant: tuple[RunningAgent, ...], clock: Clock, seconds: float | None
) -> tuple[RunningAgent, ...]:
    """Return those of them that still run when all have ended or the time is over."""
    left = meant
    with anyio.move_on_after(seconds):
        while left := tuple(one for one in _chosen_agents(place, ()) if one in meant):
            _send_drain(left)
            await clock.sleep(LOOK_SECONDS)
    return left


def _send_drain(agents: Iterable[RunningAgent]) -> None:
    for one in agents:
        with suppress(ProcessLookupError):
            try:
                os.kill(one.pid, signal.SIGUSR1)
            except PermissionError:
                raise Misconfigured(f"{one.id} runs as another user: ask as that user, or as root.") from None
