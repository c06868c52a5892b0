"""The commands that look: `workflow-engine status`, `dashboard`, `report` and `events`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from console.command_environment import surroundings

if TYPE_CHECKING:
    from datetime import datetime

    from shared.clock import Clock

_Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Configuration file.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]


def status(
    repository: Annotated[
        str | None, typer.Argument(metavar="owner/repo", help="Which one; else all configured.")
    ] = None,
    config: _Config = None,
    json: _Json = False,
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
    config: _Config = None,
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
    config: _Config = None,
    json: _Json = False,
) -> None:
    """Show how well it went: tries, rework, cost, time per stage.

    Also what was merged untouched, and the cost of each pull request.

    Exit code 1 when GitHub does not answer, 2 for arguments or configuration, 4 for rights.
    """
    from console.report.command import ReportOptions, reported
    from shared.loop.real_clock import RealClock

    raise typer.Exit(reported(ReportOptions(repository, since, config, json), surroundings(), RealClock()))


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
    begin, end = _moment(since, clock), _moment(until, clock)
    query = Query(repository or "", issue, run, phase, agent, kind, begin, end)
    options = EventsOptions(query, config, state_dir, follow, json)
    raise typer.Exit(shown(options, surroundings(), clock, table=sys.stdout.isatty()))


def _moment(text: str, clock: Clock) -> datetime | None:
    from datetime import UTC, datetime

    from console.events import moment

    try:
        return moment(text, datetime.fromtimestamp(clock.now(), UTC)) if text else None
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"'{text}' is no time; write it as 2026-11-22T08:30, or as 24h.") from None
