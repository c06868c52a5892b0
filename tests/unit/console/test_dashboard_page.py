"""The page of the dashboard: what stands on it, in which lane, and that text of others stays text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from console.dashboard.feed import EVENTS, Feed, Shown
from console.dashboard.page import LANES, Terms, page
from console.status.row import Board, Row, Waiting, Whom
from shared.ci.verdict import Verdict
from shared.errors import EngineError, Transient
from shared.governance.commands import Verb
from shared.labels import Flag
from shared.telemetry.events import Event, Kind
from shared.workflow import UNLABELLED, Role, Stage, Track

NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)

SITE = "https://github.com/ada/directory"


class Read(HTMLParser):
    """The elements of a page, the text of each card, and where links lead."""

    def __init__(self, text: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.cards: dict[str, list[str]] = {}
        self.text = ""
        self._lane = self._card = ""
        self._names = False
        self.feed(text.decode())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._names = tag == "h3" or (self._names and tag == "small")
        self.links += [str(value) for name, value in attributes if tag == "a" and name == "href"]
        if tag == "article":
            self.cards.setdefault(self._lane, []).append("")
            self._card = str(dict(attributes)["class"])

    def handle_endtag(self, tag: str) -> None:
        self._card = "" if tag == "article" else self._card

    def handle_data(self, data: str) -> None:
        self.text += f"{data}\n"
        if self._names and data.strip().isalpha():
            self._lane = data.strip()
        elif self._card:
            self.cards[self._lane][-1] += f"{data}|"


def row(number: int = 2, **more: object) -> Row:
    one = Row(Track.SPECIFICATION, number, "Search", Stage.IMPLEMENTING, NOW - timedelta(minutes=9))
    return replace(one, **more)  # type: ignore[arg-type]


def event(at: int = 0, **data: object) -> Event:
    moment = NOW + timedelta(seconds=at)
    return Event(moment, "worker-a", Role.WORKER, "ada/directory", Kind.PHASE, issue=7, phase="red", data=data)


def shown(*rows: Row, events: tuple[Event, ...] = (), complaint: str = "", trouble: str = "") -> Read:
    boards = (Board("ada/directory", NOW, rows, complaint),)
    return Read(page(Shown(boards, events, trouble), Terms({"ada/directory": SITE}, 10)))


def test_every_stage_that_a_board_can_show_has_one_lane() -> None:
    lanes = [stage for stages in LANES.values() for stage in stages]
    assert sorted(lanes) == sorted(stage for stage in Stage if stage not in UNLABELLED)


def test_a_card_tells_what_the_terminal_tells() -> None:
    told = shown(
        row(
            holder="worker-62a09858",
            held_since=NOW - timedelta(minutes=1),
            attempts=(2, 3),
            usd=1.5,
            ci=Verdict.RED,
            flags=(Flag.HAD_CONFLICT,),
            commands=(Verb.STOP, Verb.PAUSE),
            pull_request=3,
            waiting=Waiting(Whom.CI, "build", NOW + timedelta(minutes=5)),
        )
    )
    (card,) = told.cards["Building"]
    for part in (
        *("#2|Search|", "spec, implementing for 9m|", "ci: build until 08:35|", "worker-62a09858 (1m)|"),
        *("|had-conflict|", "try 2/3, $1.50, CI red|", "pull request #3|", "/stop /pause|"),
    ):
        assert part in card
    assert told.links == [SITE, f"{SITE}/issues/2"]


def test_what_waits_for_a_person_comes_first_and_is_counted_in_the_title() -> None:
    waiting = Waiting(Whom.PERSON, "merge it")
    told = shown(row(2, stage=Stage.REVIEWING), row(9, stage=Stage.APPROVED, waiting=waiting))
    assert [card.split("|")[0] for card in told.cards["Review"]] == ["#9", "#2"]
    assert "(1) Workflow Engine" in told.text
    assert "2 open, 0 in work, 1 waiting for a person" in told.text


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "</article><img src=x onerror=alert(1)>",
        "\"'><a href=javascript:alert(1)>x</a>",
        "&lt;b&gt; &amp; <!-- <style>",
    ],
)
def test_text_of_others_is_never_markup(hostile: str) -> None:
    harmless = shown(row(title="x"), events=(event(why="x"),), complaint="x", trouble="x")
    told = shown(row(title=hostile), events=(event(why=hostile),), complaint=hostile, trouble=hostile)
    assert told.tags == harmless.tags
    assert told.links == harmless.links
    assert told.text.count(hostile) == 4, "every place shows it, as it was written"


def test_text_that_turns_writing_around_is_taken_out() -> None:
    told = shown(row(title="a\u202eb\x1b[2J\x00c"))
    assert "a b [2J c" in told.text


def test_nothing_open_and_no_event_are_said() -> None:
    told = shown()
    assert "No open items." in told.text
    assert "No event was written here in the last 24 hours." in told.text


class Looks:
    """A repository whose looks are answered from a list."""

    def __init__(self, *answers: Board | EngineError) -> None:
        self.answers = list(answers)

    repository = "ada/directory"

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


BOARD = Board("ada/directory", NOW, (row(),))


async def test_what_is_younger_than_the_interval_is_not_read_again() -> None:
    world = World(BOARD, replace(BOARD, rows=()))
    assert (await world.feed.newest()).boards == (BOARD,)
    world.seconds += 9.9
    assert (await world.feed.newest()).boards == (BOARD,)
    assert len(world.looks.answers) == 1
    world.seconds += 0.1
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
    seen = (await world.feed.newest()).events
    assert [one.at for one in seen] == [NOW + timedelta(seconds=n) for n in range(EVENTS + 1, 1, -1)]
    world.seconds += 10
    later = await world.feed.newest()
    assert (later.events, later.trouble) == (seen, "No database.")
