"""The page of the dashboard: what stands on it, that text of others stays text, and how often it is read again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from console.dashboard.feed import EVENTS, Feed, Shown
from console.dashboard.site import event as sent
from console.dashboard.view import DashboardSettings, DashboardView, live, page, view
from console.status.machine import Agent, Machine
from console.status.row import Board, ItemRow, Merged, Spent, Waiting, Whom
from shared.commands.command import Verb
from shared.errors import EngineError, Transient
from shared.telemetry.events import Event, EventKind
from shared.workflow import Role, Stage, Track

NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)

NAME, SITE = "ada/directory", "https://github.com/ada/directory"

TERMS = DashboardSettings({NAME: SITE}, 10, {NAME: "story"})


class Read(HTMLParser):
    """The elements of a page, its text, the text of each card, and where links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.cards: list[str] = []
        self.orders: list[dict[str, str | None]] = []
        self.text = ""
        self._in_card = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attributes)
        assert not [name for name in named if name.startswith("on") or name == "style"], "the policy forbids it"
        self.links += [str(named["href"])] if tag == "a" else []
        if tag == "article":
            self.cards.append("")
            self._in_card = True
        if "order" in str(named.get("class", "")).split():
            self.orders.append(named)

    def handle_endtag(self, tag: str) -> None:
        self._in_card = self._in_card and tag != "article"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_card:
            self.cards[-1] += data


def row(number: int = 2, **more: object) -> ItemRow:
    one = ItemRow(Track.SPECIFICATION, number, "Search", Stage.IMPLEMENTING, NOW - timedelta(minutes=9))
    return replace(one, **more)  # type: ignore[arg-type]


def event(at: int = 0, **data: object) -> Event:
    moment = NOW + timedelta(seconds=at)
    return Event(moment, "worker-a", Role.WORKER, NAME, EventKind.ESCALATION, issue=7, data=data)


def seen(board: Board, *events: Event, trouble: str = "", machine: Machine | None = None) -> DashboardView:
    return view(Shown((board,), events, trouble), TERMS, machine or Machine())


def shown(*rows: ItemRow, events: tuple[Event, ...] = (), complaint: str = "", trouble: str = "") -> Read:
    return Read(page(seen(Board(NAME, NOW, rows, complaint), *events, trouble=trouble)))


def test_a_card_tells_who_works_for_how_long_and_leads_to_github() -> None:
    held = {"holder": "worker-62a09858", "held_since": NOW - timedelta(minutes=1)}
    issue = row(2, attempts=(2, 3), usd=1.5, story=1, commands=(Verb.STOP, Verb.PAUSE), **held)
    told = shown(row(1, track=Track.STORY, stage=Stage.SPECIFIED, title="Find people"), issue)
    (card,) = told.cards
    for part in ("Search", "#2", "worker-62a09858, for 1m", "Issue implementing for 9m, attempt 2 of 3, $1.50"):
        assert part in card
    assert "Part of story #1 Find people" in " ".join(card.split())
    assert {f"{SITE}/issues/2", f"{SITE}/issues/1"} <= set(told.links)
    assert [(one["data-verb"], one["data-number"]) for one in told.orders] == [("pause", "2"), ("stop", "2")]


def test_what_waits_longest_for_a_person_comes_first_and_is_counted_in_the_title() -> None:
    waiting = Waiting(Whom.PERSON, "merge it")
    rows = [
        row(number, stage=Stage.APPROVED, waiting=waiting, moved_at=NOW - timedelta(hours=h))
        for number, h in ((7, 1), (9, 5))
    ]
    told = seen(Board(NAME, NOW, (row(2, stage=Stage.REVIEWING), *rows)))
    assert [card.link.number for card in told.mine] == [9, 7]
    assert told.title == "(2) Workflow Engine"
    assert (told.figures[0].value, told.figures[0].note) == ("2", "longest for 5h 0m")


def test_the_figures_at_a_glance() -> None:
    board = Board(
        NAME, NOW, (row(2, holder="w"), row(3)), merged=(Merged(1, 4, NOW, "Old"),), spent=Spent(90, 100, 1, 5)
    )
    told = [(one.name, one.value) for one in seen(board).figures]
    assert told == [("Waiting for you", "0"), ("In work", "1"), ("Open", "2"), ("Merged", "1"), ("Cost", "$90.00")]
    assert seen(board).figures[-1].part == 0.9
    assert "merged 0s ago" in Read(page(seen(board))).text


def test_a_limit_of_nothing_is_used_up() -> None:
    assert seen(Board(NAME, NOW, spent=Spent(0, 0, 0, 0))).figures[-1].part == 1.0


def test_agents_of_this_machine_and_of_others_are_told() -> None:
    board = Board(NAME, NOW, (row(2, holder="worker-b", held_since=NOW - timedelta(minutes=4)),))
    here = Machine((Agent("worker-a", "worker", 4711, "nothing to do"),), "paused: upgrade")
    told = seen(board, machine=here)
    assert [(one.id, one.where, one.doing, one.since) for one in told.agents] == [
        ("worker-a", "this machine, process 4711", "nothing to do", ""),
        ("worker-b", "another machine", "", "4m"),
    ]
    assert "paused: upgrade" in Read(page(told)).text


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "</article><img src=x onerror=alert(1)>",
        "\"'><a href=javascript:alert(1)>x</a>",
        "{{ view.title }}{% raw %}",
        "&lt;b&gt; &amp; <!-- <style>",
    ],
)
def test_text_of_others_is_never_markup(hostile: str) -> None:
    def told(text: str) -> Read:
        waiting = Waiting(Whom.PERSON, text)
        one = row(title=text, waiting=waiting, commands=(Verb.STOP,), holder=text)
        return shown(one, events=(event(sentence=text),), complaint=text, trouble=text)

    harmless, harmful = told("x"), told(hostile)
    assert harmful.tags == harmless.tags
    assert harmful.links == harmless.links
    assert harmful.text.count(hostile) >= 5, "every place shows it, as it was written"


def test_text_that_turns_writing_around_is_taken_out() -> None:
    assert "a b [2J c" in shown(row(title="a\u202eb\x1b[2J\x00c")).text


def test_nothing_open_says_what_to_do() -> None:
    told = shown()
    assert f"{SITE}/issues/new?labels=story" in told.links
    assert f"workflow-engine start {NAME}" in told.text
    assert "No event was written here in the last 24 hours." in told.text
    assert "workflow-engine start" not in shown(row()).text


def test_what_changes_is_the_same_in_the_document_and_in_the_stream() -> None:
    told = seen(Board(NAME, NOW, (row(),)))
    assert live(told) in page(told)
    assert page(told).count("<main>") == 1


def test_an_event_of_the_stream_may_have_lines() -> None:
    assert sent("board", "<p>\n</p>") == b"event: board\ndata: <p>\ndata: </p>\n\n"
    assert sent("trouble", "") == b"event: trouble\ndata: \n\n"


class Looks:
    """A repository whose looks are answered from a list."""

    def __init__(self, *answers: Board | EngineError) -> None:
        self.answers = list(answers)

    repository = NAME

    def unread(self, why: str) -> Board:
        return Board(self.repository, NOW, complaint=why)

    async def look(self) -> Board:
        answer = self.answers.pop(0)
        if isinstance(answer, EngineError):
            raise answer
        return answer


class World:
    """Time and events by hand."""

    def __init__(self, *answers: Board | EngineError) -> None:
        self.seconds = 100.0
        self.looks = Looks(*answers)
        self.events: list[tuple[Event, ...] | EngineError] = []
        self.feed = Feed([self.looks], self._new, lambda: self.seconds, 10)

    async def _new(self) -> tuple[Event, ...]:
        new = self.events.pop(0) if self.events else ()
        if isinstance(new, EngineError):
            raise new
        return new


BOARD = Board(NAME, NOW, (row(),))


async def test_what_is_younger_than_the_interval_is_not_read_again() -> None:
    world = World(BOARD, replace(BOARD, rows=()))
    assert (await world.feed.newest()).boards == (BOARD,)
    world.seconds += 9.9
    assert (await world.feed.newest()).boards == (BOARD,)
    assert len(world.looks.answers) == 1
    world.seconds += 0.1
    assert (await world.feed.newest()).boards == (replace(BOARD, rows=()),)


async def test_what_was_changed_from_here_is_read_again_at_once() -> None:
    world = World(BOARD, replace(BOARD, rows=()))
    await world.feed.newest()
    news = world.feed.news
    world.feed.outdate()
    assert (news.is_set(), world.feed.news.is_set()) == (True, False)
    assert (await world.feed.newest()).boards == (replace(BOARD, rows=()),)


async def test_what_cannot_be_read_again_stays_with_the_reason_until_it_can() -> None:
    world = World(BOARD, Transient("GitHub does not answer."), BOARD)
    await world.feed.newest()
    world.seconds += 10
    assert (await world.feed.newest()).boards == (replace(BOARD, complaint="GitHub does not answer."),)
    world.seconds += 10
    assert (await world.feed.newest()).boards == (BOARD,)


async def test_a_first_look_that_fails_is_told_and_tried_again() -> None:
    world = World(Transient("GitHub does not answer."), BOARD)
    with pytest.raises(Transient):
        await world.feed.newest()
    assert (await world.feed.newest()).boards == (BOARD,)


async def test_the_newest_events_come_first_and_no_more_than_fit() -> None:
    world = World(BOARD, BOARD, BOARD)
    world.events = [
        tuple(event(n) for n in range(EVENTS)),
        (event(EVENTS), event(EVENTS + 1)),
        Transient("No database."),
    ]
    await world.feed.newest()
    world.seconds += 10
    found = (await world.feed.newest()).events
    assert [one.at for one in found] == [NOW + timedelta(seconds=n) for n in range(EVENTS + 1, 1, -1)]
    world.seconds += 10
    later = await world.feed.newest()
    assert (later.events, later.trouble) == (found, "No database.")
