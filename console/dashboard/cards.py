"""Cards: the rows of a board grouped by piece of work, each in one place of the page (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum

from console.status.row import Board, ItemRow
from shared.commands.command import Verb
from shared.workflow import HALTED, TERMINAL, Stage, Track


class Place(StrEnum):
    """Part of the page that shows a card. All but the first are lanes, in the order in which work passes them."""

    PERSON = "Waiting for you"
    PLANNING = "Planning"
    READY = "Ready"
    BUILDING = "Building"
    REVIEW = "Review"


LANES = tuple(place for place in Place if place is not Place.PERSON)

_BUILDING = frozenset({Stage.IMPLEMENTING, Stage.TESTING, Stage.CHANGES_REQUESTED})

_REVIEW = frozenset({Stage.REVIEWING, Stage.IN_REVIEW, Stage.APPROVED})

ORDERS = (Verb.APPROVE, Verb.RETRY, Verb.RESUME, Verb.PAUSE, Verb.STOP)
"""Commands that the page has buttons for, in the order of the buttons; the others need words or a commit."""


class State(StrEnum):
    """Values that the page's filter chooses by."""

    PERSON = "person"
    WORK = "work"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Card:
    """One piece of work: its issue with its pull request and its story, or what of them there is.

    `lead` names the card; `now` is the row that tells how it stands.
    """

    board: Board
    lead: ItemRow
    now: ItemRow
    pull_request: ItemRow | None = None
    story: ItemRow | None = None

    @property
    def rows(self) -> tuple[ItemRow, ...]:
        """Every row that is on it; a story may be on several cards."""
        return tuple(row for row in (self.lead, self.pull_request, self.story) if row is not None)

    @property
    def state(self) -> State:
        """The party with the next step: a person, an agent, or neither."""
        if self.place is Place.PERSON:
            return State.PERSON
        return State.WORK if any(row.holder for row in (self.lead, self.now)) else State.WAITING

    @property
    def place(self) -> Place:
        """The card's part of the page; defined for every stage."""
        if any(row.needs_a_person for row in (self.lead, self.now)):
            return Place.PERSON
        return place_of(self.now)


def place_of(row: ItemRow) -> Place:
    """The place of a single row."""
    if row.needs_a_person or row.stage in HALTED | TERMINAL:
        return Place.PERSON
    is_refactored = row.track is Track.SPECIFICATION and row.stage is Stage.AWAITING_APPROVAL
    if row.stage in _BUILDING or is_refactored:
        return Place.BUILDING
    if row.stage in _REVIEW or row.track is Track.PULL_REQUEST:
        return Place.REVIEW
    return Place.PLANNING if row.track is Track.STORY or row.stage is not Stage.READY else Place.READY


def cards(boards: Iterable[Board]) -> tuple[Card, ...]:
    """Every card of every board, what moved last first; each row of a board is on at least one."""
    found = [card for board in boards for card in _of(board)]
    return tuple(sorted(found, key=lambda card: (card.now.moved_at, card.lead.number), reverse=True))


def _of(board: Board) -> Iterator[Card]:
    rows = {row.number: row for row in board.rows}
    pulls = {row.issue: row for row in board.rows if row.track is Track.PULL_REQUEST and row.issue}
    issues = [row for row in board.rows if row.track is Track.SPECIFICATION]
    told = {row.story for row in issues}
    for row in board.rows:
        if row.track is Track.SPECIFICATION:
            pull = pulls.get(row.number) or _pull_request(rows.get(row.pull_request))
            story = rows.get(row.story)
            yield Card(board, row, _now(row, pull), pull, story if story and story.track is Track.STORY else None)
        elif row.track is Track.STORY:
            if row.number not in told or _has_news(row):
                yield Card(board, row, row)
        elif not any(row is pulls.get(issue.number) or row.number == issue.pull_request for issue in issues):
            yield Card(board, row, row)


def _pull_request(row: ItemRow | None) -> ItemRow | None:
    return row if row is not None and row.track is Track.PULL_REQUEST else None


def _has_news(story: ItemRow) -> bool:
    """Return whether a story has news that its issues do not show."""
    return story.needs_a_person or bool(story.holder) or story.stage is not Stage.SPECIFIED


def _now(issue: ItemRow, pull: ItemRow | None) -> ItemRow:
    """Return the row that shows how the work stands: one that needs a person, else one with a holder, else the pull
    request.
    """
    both = [row for row in (pull, issue) if row is not None]
    return next((row for row in both if row.needs_a_person), None) or next((row for row in both if row.holder), both[0])


def orders(row: ItemRow) -> Sequence[Verb]:
    """The orders that fit a row, in the order of their buttons."""
    return tuple(verb for verb in ORDERS if verb in row.commands)


def since(row: ItemRow) -> str:
    """Return when the row last moved, as `status --json` writes it; an order names the time that its sender saw."""
    return row.moved_at.astimezone(UTC).isoformat(timespec="seconds")
