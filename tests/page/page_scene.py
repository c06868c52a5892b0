"""A dashboard with made-up boards, served as the command serves it, and a real Chromium that looks at it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Any

import pytest
from playwright.async_api import Browser, async_playwright

from console.dashboard.feed import Feed, Shown
from console.dashboard.order_endpoint import OrderEndpoint
from console.dashboard.site import Live, Site
from console.dashboard.view import DashboardSettings, DashboardView, live, page, view
from console.orders import Order, OrderResult
from console.status.document import document
from console.status.machine import Agent, Machine
from console.status.row import Board, ItemRow, Merged, Spent, Waiting, Whom
from shared.ci.verdict import CiVerdict
from shared.commands.command_rules import fitting
from shared.loop.real_clock import RealClock
from shared.telemetry.events import Event, EventKind
from shared.workflow import Role, Stage, Track
from shared.workflow.labels import Flag

NOW = datetime(2026, 11, 26, 8, 30, 12, tzinfo=UTC)

NAME = "ada/directory"

TOKEN = "the-token-of-this-test"

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

TITLES = (
    "Search people by name and by department",
    "Say good bye when somebody leaves",
    "Sort the directory by surname, umlauts where people expect them",
    "Import people from a CSV file with a header",
    "Reject a birthday in the future",
    "Show photos in the list, and initials where there is none",
    "Support [/search] and <b>bold</b> in routes",
)


def story(number: int, stage: Stage = Stage.SPECIFIED, **more: object) -> ItemRow:
    return row(Track.STORY, number, "As an editor I want to find anybody within two seconds", stage, **more)


def row(track: Track, number: int, title: str, stage: Stage, **more: object) -> ItemRow:
    one = ItemRow(track, number, title, stage, NOW - timedelta(minutes=7 * number % 900 + 3))
    one = replace(one, **more)  # type: ignore[arg-type]
    return replace(one, commands=fitting(track, stage, paused=Flag.PAUSED in one.flags))


def five() -> tuple[ItemRow, ...]:
    """Return a story that asks, one that is planned, and work in three stages."""
    spec, pull = Track.SPECIFICATION, Track.PULL_REQUEST
    person = Waiting(Whom.PERSON, "the plan")
    item = Waiting(Whom.ITEM, "PR #9")
    held = {"holder": "worker-62a09858", "held_since": NOW - timedelta(minutes=4)}
    return (
        story(1, Stage.AWAITING_APPROVAL, waiting=person, usd=0.12),
        story(2, waiting=Waiting(Whom.ITEM, "its specifications")),
        row(spec, 7, TITLES[0], Stage.IMPLEMENTING, story=2, attempts=(1, 3), usd=0.42, **held),
        row(spec, 8, TITLES[1], Stage.REVIEWING, story=2, pull_request=9, waiting=item, attempts=(1, 3), usd=1.1),
        row(pull, 9, TITLES[1], Stage.APPROVED, issue=8, round=1, ci=CiVerdict.GREEN, usd=0.3,
            waiting=Waiting(Whom.PERSON, "merge it")),
    )  # fmt: skip


def sixty() -> tuple[ItemRow, ...]:
    """Return every stage that an issue can have, again and again, some with pull requests."""
    stages = (
        *(Stage.READY, Stage.IMPLEMENTING, Stage.TESTING, Stage.FAILED, Stage.REVIEWING, Stage.NEW, Stage.READY),
        *(Stage.IN_REVIEW, Stage.CHANGES_REQUESTED, Stage.AWAITING_APPROVAL, Stage.CI_FAILED, Stage.APPROVED),
    )
    found: list[ItemRow] = [story(1), story(2, Stage.PLANNING, holder="planner-0b1c", held_since=NOW)]
    for number, stage, title in zip(range(10, 10 + 58), cycle(stages), cycle(TITLES), strict=False):
        busy = stage in {Stage.IMPLEMENTING, Stage.IN_REVIEW, Stage.CHANGES_REQUESTED}
        waiting = None if busy else _WAITS.get(stage, Waiting(Whom.WORKER, "an idle worker"))
        holder = f"worker-{number % 6}a098{number % 6}" if busy else ""
        track = Track.PULL_REQUEST if stage in {Stage.IN_REVIEW, Stage.APPROVED} else Track.SPECIFICATION
        more = {"story": 1 if number % 5 == 0 else 0, "usd": number / 13, "attempts": (number % 3, 3)}
        found.append(row(track, number, title, stage, holder=holder, waiting=waiting, **more))
    return tuple(found)


_WAITS = {
    Stage.TESTING: Waiting(Whom.CI, "its checks", NOW + timedelta(minutes=9)),
    Stage.FAILED: Waiting(Whom.PERSON, "it has failed"),
    Stage.CI_FAILED: Waiting(Whom.PERSON, "it has failed"),
    Stage.NEW: Waiting(Whom.PERSON, "a status label"),
    Stage.AWAITING_APPROVAL: Waiting(Whom.PERSON, "the refactoring"),
    Stage.REVIEWING: Waiting(Whom.REVIEWER, "an idle reviewer"),
    Stage.APPROVED: Waiting(Whom.PERSON, "merge it"),
}

MERGED = tuple(
    Merged(number, number + 1, NOW - timedelta(minutes=11 * number), TITLES[number % 7]) for number in (3, 5, 80, 90)
)

_TOLD: tuple[tuple[str, Role, EventKind, str, dict[str, Any]], ...] = (
    ("worker-62a09858", Role.WORKER, EventKind.TEST_RUN, "green", {"passed": 12, "place": "head"}),
    ("worker-62a09858", Role.WORKER, EventKind.PHASE, "green", {"was": "red", "stage": "implementing"}),
    ("planner-0b1c", Role.PLANNER, EventKind.APPROVAL, "", {"what": "plan", "state": "requested"}),
    ("worker-62a09858", Role.WORKER, EventKind.CLAIM, "", {"stage": "ready", "attempt": 0}),
)

EVENTS = tuple(
    Event(NOW - timedelta(seconds=97 * place), agent, role, NAME, kind, issue=7, phase=phase, data=data)
    for place, (agent, role, kind, phase, data) in enumerate(islice(cycle(_TOLD), 24))
)

AGENTS = Machine((Agent("worker-62a09858", "worker", 4711, "implementing #7, attempt 1 of 3"),
                  Agent("reviewer-1f3d", "reviewer", 4712, "looks every 30 s; nothing to do")))  # fmt: skip

BOARDS = {
    0: Board(NAME, NOW),
    5: Board(NAME, NOW, five(), merged=MERGED[:2], spent=Spent(3.27, 100, 18.4, 500)),
    60: Board(NAME, NOW, sixty(), merged=MERGED, spent=Spent(86.2, 100, 320, 500)),
}


@dataclass
class Looks:
    """A repository that shows whatever board it was given last."""

    board: Board
    repository: str = NAME

    def unread(self, why: str) -> Board:
        return replace(self.board, complaint=why)

    async def look(self) -> Board:
        return self.board


@dataclass
class Scene:
    """A served dashboard: `looks.board` is what it shows next, `ordered` what was ordered, `answer` what comes back."""

    looks: Looks
    feed: Feed
    address: str
    ordered: list[tuple[str, Order]] = field(default_factory=list)

    @property
    def opened(self) -> str:
        """The address that the terminal shows."""
        return f"{self.address}#token={TOKEN}"

    def show(self, board: Board) -> None:
        """Set the board that GitHub shows from now on; open pages are told of it at once."""
        self.looks.board = board
        self.feed.outdate()


@asynccontextmanager
async def dashboard(board: Board, *, interval: float = 600, machine: Machine = AGENTS) -> AsyncIterator[Scene]:
    """Serve the real page, site, stream and desk; only GitHub is not asked."""
    clock, looks = RealClock(), Looks(board)
    events = iter([tuple(reversed(EVENTS)) if board.rows else ()])

    async def new() -> tuple[Event, ...]:
        return next(events, ())

    feed = Feed([looks], new, clock.boot, interval)
    terms = DashboardSettings({NAME: f"https://github.com/{NAME}"}, interval, {NAME: "story"})
    here = machine if board.rows else Machine()
    scene = Scene(looks, feed, "")
    site = _site(feed, lambda shown: view(shown, terms, here), scene, clock, interval)
    async with site.served(0) as scene.address:
        yield scene


def _site(feed: Feed, seen: Callable[[Shown], DashboardView], scene: Scene, clock: RealClock, interval: float) -> Site:
    async def whole() -> str:
        return page(seen(await feed.newest()))

    async def changed() -> tuple[str, str]:
        found = seen(await feed.newest())
        return found.at, live(found)

    async def status() -> str:
        return document((await feed.newest()).boards)

    async def boards() -> tuple[Board, ...]:
        return (await feed.newest()).boards

    async def carried_out(repository: str, order: Order) -> OrderResult:
        scene.ordered.append((repository, order))
        return OrderResult(
            f"{repository}#{order.number}", order.verb, True, "done", "ready", "The next free agent goes on."
        )

    desk = OrderEndpoint(TOKEN, boards, carried_out, feed.outdate)
    return Site(whole, status, Live(changed, lambda: feed.news, clock, interval), desk)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Yield the system's browser, driven from here; nothing is downloaded."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    async with async_playwright() as driver:
        # Root has no namespace of its own to put a renderer into, and looks at pages of this test alone.
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()
