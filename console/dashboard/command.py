"""Runs `workflow-engine dashboard`: signs in, serves the page, and ends with a signal."""

from __future__ import annotations

import secrets
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from config.loading import load
from config.settings import Settings
from console.dashboard.feed import EVENTS, Feed
from console.dashboard.order_endpoint import OrderEndpoint
from console.dashboard.site import Live, Site
from console.dashboard.view import DashboardSettings, DashboardView, live, page, view
from console.events import TrailReader
from console.history.repository_reader import visited
from console.orders import Order, OrderResult, ordered
from console.status.command import looking
from console.status.document import document
from console.status.gather import Look, Unread
from console.status.machine import machine
from console.status.row import Board
from runtime.building.sign_in import git_server, with_gh_token
from runtime.exit_codes import OK, complain
from runtime.signals import until_stopped
from shared.clock import Clock
from shared.errors import EngineError
from shared.telemetry.events import Event, Query

RECENT = timedelta(hours=24)
"""No older events are shown."""


@dataclass(frozen=True, slots=True)
class DashboardOptions:
    """Options of `dashboard`; `interval` is in seconds."""

    repository: str | None = None
    config: Path | None = None
    port: int = 8750
    interval: float = 10.0


def shown(options: DashboardOptions, environment: Mapping[str, str], clock: Clock) -> int:
    """Serve the page until a signal; 128+n for it, 1 when GitHub did not answer, 2 for configuration, 4 for rights."""
    try:
        settings = load(options.config, repository=options.repository, environment=environment)
        serving = partial(_serve, options, settings, with_gh_token(settings, environment), clock)
    except EngineError as error:
        return complain(error)
    code, stopped_by = anyio.run(until_stopped, serving, complain, clock)
    return 128 + stopped_by if stopped_by else code or OK


async def _serve(options: DashboardOptions, settings: Settings, environment: Mapping[str, str], clock: Clock) -> int:
    since = datetime.fromtimestamp(clock.now(), UTC) - RECENT
    query = Query(repository=options.repository or "", since=since)
    async with visited(settings, environment, clock) as (opened, unusable):
        looks: list[Look] = [looking(settings, one, titled=True) for one in opened]
        at = opened[0].adapters.server_time()
        looks += [Unread(Board(name, at, complaint=str(error))) for name, error in unusable.items()]
        async with _reading(settings, query) as reading:
            feed = Feed(looks, partial(_new, reading), clock.boot, options.interval)
            token = secrets.token_urlsafe(24)
            async with _site(options, settings, environment, feed, token, clock).served(options.port) as address:
                sys.stdout.write(f"{address}#token={token}  (Ctrl-C ends it)\n")
                sys.stdout.flush()
                await anyio.sleep_forever()
    return OK


def _site(
    options: DashboardOptions,
    settings: Settings,
    environment: Mapping[str, str],
    feed: Feed,
    token: str,
    clock: Clock,
) -> Site:
    here, terms = partial(machine, settings.state_dir), _terms(settings, options.interval)

    async def seen() -> DashboardView:
        return view(await feed.newest(), terms, here())

    async def whole() -> str:
        return page(await seen())

    async def changed() -> tuple[str, str]:
        found = await seen()
        return found.at, live(found)

    async def status() -> str:
        return document(await boards(), here())

    async def boards() -> tuple[Board, ...]:
        return (await feed.newest()).boards

    async def carried_out(repository: str, order: Order) -> OrderResult:
        one = load(options.config, repository=repository, environment=environment)
        return await ordered(one, with_gh_token(one, environment), order)

    desk = OrderEndpoint(token, boards, carried_out, feed.outdate)
    return Site(whole, status, Live(changed, lambda: feed.news, clock, options.interval), desk)


def _terms(settings: Settings, interval: float) -> DashboardSettings:
    root = git_server(settings.github.api_url)
    return DashboardSettings(
        {one.name: f"{root}/{one.name}" for one in settings.repositories},
        interval,
        {one.name: one.labels.names().story for one in settings.repositories},
    )


@asynccontextmanager
async def _reading(settings: Settings, query: Query) -> AsyncIterator[TrailReader]:
    """The trail; a database's connection, which has an event loop of its own, is closed beside this one."""
    reading = TrailReader(settings, query)
    try:
        yield reading
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(reading.close)


async def _new(reading: TrailReader) -> Sequence[Event]:
    """Return the newest of the new events; reading a file or a database does not block the page."""
    return await to_thread.run_sync(lambda: tuple(deque(reading.new(), maxlen=EVENTS)))
