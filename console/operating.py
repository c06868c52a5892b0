"""The commands by which a person operates running agents; each is loaded when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file (for its state_dir).")]
StateDir = Annotated[Path | None, typer.Option(metavar="DIR", help="The agents' state directory.")]


def run(
    repositories: Annotated[
        list[str] | None, typer.Argument(metavar="[owner/repo]...", help="Which ones; else all configured ones.")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say why, for each decision.")] = False,
    log_level: Annotated[
        str | None,
        typer.Option(metavar="debug|info|warning", help="What is logged; on a terminal warnings, else info."),
    ] = None,
) -> None:
    """Planner, worker and reviewer in one process, for ever; for more throughput start agents one by one."""
    from console.run import together
    from runtime.arguments import LOG_LEVELS

    if log_level is not None and log_level not in LOG_LEVELS:
        raise typer.BadParameter(f"'{log_level}' is none; there is {', '.join(LOG_LEVELS)}.", param_hint="--log-level")
    raise typer.Exit(together(tuple(repositories or ()), config, verbose=verbose, log_level=log_level))


def drain(
    agents: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Which ones; else all.")] = None,
    config: Config = None,
    state_dir: StateDir = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="How long to wait; else as long as it takes.", min=0)
    ] = None,
) -> None:
    """Let this machine's agents end as soon as the phases in work have ended; nothing is lost, others go on.

    Exit code 0 when all have ended, 1 when some still work after --seconds, 3 when none runs.
    """
    from console.command_environment import surroundings
    from runtime.daemon import control
    from shared.loop import RealClock

    wishes = control.ControlOptions(config, state_dir, tuple(agents or ()))
    raise typer.Exit(control.drain(wishes, surroundings(), RealClock(), seconds=seconds))


def pause(
    why: Annotated[str, typer.Argument(help="What people read in the log.")] = "",
    config: Config = None,
    state_dir: StateDir = None,
) -> None:
    """Let this machine's agents begin nothing until `resume`; phases in work come to their end."""
    from console.command_environment import surroundings
    from runtime.daemon import control

    raise typer.Exit(control.pause(control.ControlOptions(config, state_dir), surroundings(), why))


def resume(config: Config = None, state_dir: StateDir = None) -> None:
    """Let this machine's agents go on after `pause`."""
    from console.command_environment import surroundings
    from runtime.daemon import control

    raise typer.Exit(control.resume(control.ControlOptions(config, state_dir), surroundings()))


COMMANDS = (run, drain, pause, resume)
