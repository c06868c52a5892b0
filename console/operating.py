"""The commands by which a person operates running agents, or looks at their work; each is loaded when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from console.command_environment import surroundings

if TYPE_CHECKING:
    from datetime import datetime

    from shared.clock import Clock


StateConfig = Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file (for its state_dir).")]
StateDir = Annotated[Path | None, typer.Option(metavar="DIR", help="The agents' state directory.")]
Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Configuration file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]


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
    config: StateConfig = None,
    state_dir: StateDir = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="How long to wait; else as long as it takes.", min=0)
    ] = None,
) -> None:
    """End this machine's agents as soon as their phases have ended.

    Nothing is lost, and others go on. Exit code 0 when all have ended, 1 when some still work after --seconds, 3 when
    none runs.
    """
    from runtime.daemon import control
    from shared.loop.real_clock import RealClock

    options = control.ControlOptions(config, state_dir, tuple(agents or ()))
    raise typer.Exit(control.drain(options, surroundings(), RealClock(), seconds=seconds))


def pause(
    why: Annotated[str, typer.Argument(metavar="WHY", help="What people read in the log.")] = "",
    config: StateConfig = None,
    state_dir: StateDir = None,
) -> None:
    """Let this machine's agents begin nothing more, until `resume`.

    Phases in work come to their end.
    """
    from runtime.daemon import control

    raise typer.Exit(control.pause(control.ControlOptions(config, state_dir), surroundings(), why))


def resume(config: StateConfig = None, state_dir: StateDir = None) -> None:
    """Let this machine's agents go on after `pause`."""
    from runtime.daemon import control

    raise typer.Exit(control.resume(control.ControlOptions(config, state_dir), surroundings()))


def status(
    repository: Annotated[
        str | None, typer.Argument(metavar="owner/repo", help="Which one; else all configured.")
    ] = None,
    config: Config = None,
    json: Json = False,
    watch: Annotated[bool, typer.Option("--watch", help="Look again and again, until Ctrl-C.")] = False,
    interval: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="Of --watch, between two looks (10).", show_default=False)
    ] = 10,
) -> None:
    """Show where everything stands, and who has to act.

    Stages, who holds what, what waits for whom and until when; it changes nothing.

    Exit code 1 when GitHub does not answer, 2 for arguments or configuration, 4 for rights, 130 after Ctrl-C.
    """
    from console.status.command import StatusOptions, print_board
    from shared.loop.real_clock import RealClock

    options = StatusOptions(repository, config, json, interval if watch else None)
    raise typer.Exit(print_board(options, surroundings(), RealClock()))


def dashboard(
    repository: Annotated[
        str | None, typer.Argument(metavar="owner/repo", help="Which one; else all configured.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port on 127.0.0.1; 0 takes any.")] = 8750,
    interval: Annotated[
        float, typer.Option(min=2, metavar="SECONDS", help="Between two looks, while a page is open.")
    ] = 10,
    config: Config = None,
) -> None:
    """Show the board in a browser here, with buttons.

    They approve, retry, pause, resume and stop.

    Exit code 1 when GitHub does not answer, 2 for arguments or configuration, 4 for rights, 130 after Ctrl-C.
    """
    from console.dashboard.command import DashboardOptions, shown
    from shared.loop.real_clock import RealClock

    raise typer.Exit(shown(DashboardOptions(repository, config, port, interval), surroundings(), RealClock()))


def report(
    repository: Annotated[str, typer.Argument(metavar="owner/repo", help="Of which repository.")],
    since: Annotated[str, typer.Option(metavar="TIME", help="From then on: 2026-11-01, or 30d, 24h ago.")] = "30d",
    config: Config = None,
    json: Json = False,
) -> None:
    """Show how well it went: tries, rework, cost, time per stage.

    Also what was merged untouched, and the cost of each pull request.

    Exit code 1 when GitHub does not answer, 2 for arguments or configuration, 4 for rights.
    """
    from console.report.command import reported
    from shared.loop.real_clock import RealClock

    raise typer.Exit(reported(repository, since, config, surroundings(), RealClock(), json=json))


def events(  # noqa: PLR0913 - each is an option of the command line
    repository: Annotated[str | None, typer.Argument(metavar="owner/repo", help="Of this one alone.")] = None,
    issue: Annotated[
        int, typer.Option(metavar="N", help="Of this issue and its pull requests.", show_default=False)
    ] = 0,
    run: Annotated[str, typer.Option(metavar="ID", help="Of this run: the number of its ACK comment.")] = "",
    phase: Annotated[str, typer.Option(metavar="WORD", help="Of this phase, as in `red` or `reviewing`.")] = "",
    agent: Annotated[str, typer.Option(metavar="ID", help="Of this agent.")] = "",
    kind: Annotated[str, typer.Option(metavar="WORD", help="Of this kind, as in `llm_call`.")] = "",
    since: Annotated[
        str, typer.Option(metavar="TIME", help="From then on: 2026-11-22T08:30, 90m, 24h or 7d ago.")
    ] = "",
    until: Annotated[str, typer.Option(metavar="TIME", help="Before that.")] = "",
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until stopped.")] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON lines, also on a terminal.")] = False,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration file.")] = None,
    state_dir: Annotated[Path | None, typer.Option(metavar="DIR", help="Read what lies there instead.")] = None,
) -> None:
    """Show what happened, event by event.

    Claims, phases, runs of models and tests, CI, reviews, approvals, escalations. A table on a terminal, else one JSON
    object per line. It may be asked while agents write.
    """
    import sys

    from console.events import EventsOptions, shown
    from shared.loop.real_clock import RealClock
    from shared.telemetry.events import EventKind, Query

    clock = RealClock()
    if kind and kind not in set(EventKind):
        raise typer.BadParameter(f"'{kind}' is none; there is {', '.join(EventKind)}.", param_hint="--kind")
    begin, end = _moment("--since", since, clock), _moment("--until", until, clock)
    query = Query(repository or "", issue, run, phase, agent, kind, begin, end)
    options = EventsOptions(query, config, state_dir, follow, json)
    raise typer.Exit(shown(options, surroundings(), clock, table=sys.stdout.isatty()))


def _moment(option: str, text: str, clock: Clock) -> datetime | None:
    from datetime import UTC, datetime

    from console.events import moment

    try:
        return moment(text, datetime.fromtimestamp(clock.now(), UTC)) if text else None
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"'{text}' is no time; write it as 2026-11-22T08:30, or as 24h.", param_hint=option
        ) from None


COMMANDS = (run, drain, pause, resume, status, dashboard, report, events)
