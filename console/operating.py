"""The commands by which a person operates running agents; each is loaded when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file (for its state_dir).")]
StateDir = Annotated[Path | None, typer.Option(metavar="DIR", help="The agents' state directory.")]


def run(
    repositories: Annotated[
        list[str] | None, typer.Argument(metavar="owner/repo", help="Which ones; else all configured.")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say why, for each decision.")] = False,
    log_level: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="What is logged: debug, info or warning."),
    ] = None,
) -> None:
    """Run planner, worker and reviewer until Ctrl-C.

    They work in one process, for one machine and little traffic; for more, start planner-agent, worker-agent and
    reviewer-agent one by one. In a terminal they say what they do, and what they wait for.

    Exit code 130 after Ctrl-C, 0 after SIGTERM or `drain`, 2 for arguments or configuration, 4 for credentials or
    rights.
    """
    from runtime.arguments import LOG_LEVELS

    if log_level is not None and log_level not in LOG_LEVELS:
        raise typer.BadParameter(f"'{log_level}' is none; there is {', '.join(LOG_LEVELS)}.", param_hint="--log-level")
    names = tuple(repositories or ())
    announce_agents(names, config)
    from console.run import together  # two seconds on a slow machine

    raise typer.Exit(together(names, config, verbose=verbose, log_level=log_level))


def announce_agents(names: tuple[str, ...], config: Path | None) -> None:
    """Say what begins before anything large is loaded; what is wrong with it the start says."""
    from contextlib import suppress

    from config.environment import snapshot
    from config.loading import load_several
    from runtime.session_notices import announce
    from shared.errors import EngineError
    from shared.workflow import Role

    with suppress(EngineError):
        announce((Role.PLANNER, Role.WORKER, Role.REVIEWER), load_several(config, names, environment=snapshot()))


def drain(
    agents: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Which ones; else all.")] = None,
    config: Config = None,
    state_dir: StateDir = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="How long to wait; else as long as it takes.", min=0)
    ] = None,
) -> None:
    """End this machine's agents as soon as their phases have ended.

    Nothing is lost, and others go on. Exit code 0 when all have ended, 1 when some still work after --seconds, 3 when
    none runs.
    """
    from console.command_environment import surroundings
    from runtime.daemon import control
    from shared.loop.real_clock import RealClock

    options = control.ControlOptions(config, state_dir, tuple(agents or ()))
    raise typer.Exit(control.drain(options, surroundings(), RealClock(), seconds=seconds))


def pause(
    why: Annotated[str, typer.Argument(metavar="WHY", help="What people read in the log.")] = "",
    config: Config = None,
    state_dir: StateDir = None,
) -> None:
    """Let this machine's agents begin nothing more, until `resume`.

    Phases in work come to their end.
    """
    from console.command_environment import surroundings
    from runtime.daemon import control

    raise typer.Exit(control.pause(control.ControlOptions(config, state_dir), surroundings(), why))


def resume(config: Config = None, state_dir: StateDir = None) -> None:
    """Let this machine's agents go on after `pause`."""
    from console.command_environment import surroundings
    from runtime.daemon import control

    raise typer.Exit(control.resume(control.ControlOptions(config, state_dir), surroundings()))


COMMANDS = (run, drain, pause, resume)
