"""Runs `workflow-engine report`: reads, reckons, prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio
from rich.console import Console

from config.loading import load
from config.settings import Settings
from console.events import moment
from console.history.repository_reader import visits
from console.report.document import document
from console.report.figures import Figures, figures
from console.report.gather import gathered
from console.report.table import shown
from runtime.building.sign_in import completed
from runtime.launch import OK, complain
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What was asked for; `since` as people write times."""

    repository: str
    since: str = "30d"
    config: Path | None = None
    json: bool = False


def reported(wishes: ReportOptions, environment: Mapping[str, str], clock: Clock) -> int:
    """Print the report; 0, or 1 when GitHub did not answer, 2 for arguments or configuration, 4 for rights."""
    try:
        settings = load(wishes.config, repository=wishes.repository, environment=environment)
        found = anyio.run(_figures, wishes, settings, completed(settings, environment), clock)
    except EngineError as error:
        return complain(error)
    if wishes.json:
        sys.stdout.write(f"{document(found)}\n")
    else:
        Console(highlight=False).print(shown(found))
    return OK


async def _figures(wishes: ReportOptions, settings: Settings, environment: Mapping[str, str], clock: Clock) -> Figures:
    async with visits(settings, environment, clock) as (visit,):
        facts = await gathered(visit, _since(wishes.since, visit.server_time()))
        return figures(visit.configured.name, facts, settings.budgets.unknown_run)


def _since(text: str, now: datetime) -> datetime:
    try:
        since = moment(text, now)
    except (ValueError, OverflowError):
        raise Misconfigured(f"--since: '{text}' is no time; write it as 2026-11-22T08:30, or as 30d.") from None
    if since >= now:
        raise Misconfigured(f"--since: '{text}' is not before now ({now:%Y-%m-%dT%H:%M} UTC).")
    return since
