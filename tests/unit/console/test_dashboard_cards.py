"""Cards of the dashboard: no row is ever missing, each piece of work is told once, and where it stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from console.dashboard.cards import LANES, ORDERS, Card, Place, State, cards, orders, place_of
from console.status.row import Board, ItemRow, Waiting, Whom
from shared.commands.command_rules import fitting
from shared.workflow import HALTED, TERMINAL, Stage, Track

NOW = datetime(2026, 11, 26, 8, 30, tzinfo=UTC)


def row(number: int, track: Track = Track.SPECIFICATION, stage: Stage = Stage.IMPLEMENTING, **more: object) -> ItemRow:
    one = ItemRow(track, number, "Search", stage, NOW - timedelta(minutes=number))
    return replace(one, **more)  # type: ignore[arg-type]


def of(*rows: ItemRow) -> tuple[Card, ...]:
    return cards([Board("ada/directory", NOW, rows)])


@pytest.mark.parametrize("track", list(Track))
@pytest.mark.parametrize("stage", list(Stage))
def test_every_row_stands_somewhere_whatever_its_stage(track: Track, stage: Stage) -> None:
    (card,) = of(row(2, track, stage))
    assert card.place in Place
    assert place_of(row(2, track, stage)) is card.place
    assert (card.place is Place.PERSON) is (stage in HALTED | TERMINAL)


@pytest.mark.parametrize(
    ("track", "stage", "place"),
    [
        (Track.STORY, Stage.NEW, Place.PLANNING),
        (Track.STORY, Stage.PLANNING, Place.PLANNING),
        (Track.SPECIFICATION, Stage.NEW, Place.PLANNING),
        (Track.SPECIFICATION, Stage.READY, Place.READY),
        (Track.SPECIFICATION, Stage.TESTING, Place.BUILDING),
        (Track.STORY, Stage.AWAITING_APPROVAL, Place.PLANNING),
        (Track.SPECIFICATION, Stage.AWAITING_APPROVAL, Place.BUILDING),
        (Track.PULL_REQUEST, Stage.CHANGES_REQUESTED, Place.BUILDING),
        (Track.PULL_REQUEST, Stage.NEW, Place.REVIEW),
        (Track.PULL_REQUEST, Stage.APPROVED, Place.REVIEW),
    ],
)
def test_lanes_follow_the_way_of_the_work(track: Track, stage: Stage, place: Place) -> None:
    assert of(row(2, track, stage))[0].place is place
    assert place in LANES


def test_a_story_its_issue_and_its_pull_request_are_one_card() -> None:
    story = row(1, Track.STORY, Stage.SPECIFIED)
    issue = row(2, stage=Stage.REVIEWING, story=1, pull_request=3, waiting=Waiting(Whom.ITEM, "PR #3"))
    pull = row(3, Track.PULL_REQUEST, Stage.IN_REVIEW, issue=2, holder="reviewer-1")
    (card,) = of(story, issue, pull)
    assert (card.lead, card.now, card.pull_request, card.story) == (issue, pull, pull, story)
    assert (card.place, card.state) == (Place.REVIEW, State.WORK)


def test_a_story_with_several_issues_is_told_on_each_of_them() -> None:
    story = row(1, Track.STORY, Stage.SPECIFIED)
    found = of(story, row(2, story=1), row(3, story=1, stage=Stage.READY))
    assert [(card.lead.number, card.story) for card in found] == [(2, story), (3, story)]


@pytest.mark.parametrize(
    "more",
    [
        {"waiting": Waiting(Whom.PERSON, "paused")},
        {"holder": "planner-1"},
        {"stage": Stage.PLANNING},
        {"stage": Stage.FAILED},
    ],
)
def test_a_story_with_news_of_its_own_has_a_card_of_its_own(more: dict[str, object]) -> None:
    story = replace(row(1, Track.STORY, Stage.SPECIFIED), **more)  # type: ignore[arg-type]
    assert {card.lead.number for card in of(story, row(2, story=1))} == {1, 2}


def test_a_stranger_s_pull_request_and_an_issue_that_names_no_story_of_ours_stand_alone() -> None:
    found = of(row(9, Track.PULL_REQUEST, Stage.IN_REVIEW), row(4, story=77))
    assert [(card.lead.number, card.story) for card in found] == [(4, None), (9, None)]


def test_an_issue_is_no_story_although_another_says_so() -> None:
    found = of(row(1), row(2, story=1))
    assert [card.story for card in found] == [None, None]


@pytest.mark.parametrize("asking", [2, 3])
def test_what_a_person_has_to_do_decides_the_place_whichever_row_says_it(asking: int) -> None:
    issue, pull = row(2, pull_request=3), row(3, Track.PULL_REQUEST, Stage.IN_REVIEW, issue=2, holder="reviewer-1")
    rows = [
        replace(one, waiting=Waiting(Whom.PERSON, "paused")) if one.number == asking else one for one in (issue, pull)
    ]
    (card,) = of(*rows)
    assert (card.place, card.state, card.now.number) == (Place.PERSON, State.PERSON, asking)


def test_no_row_of_a_large_board_is_missing() -> None:
    stages = list(Stage)
    rows = [row(n, list(Track)[n % 3], stages[n % len(stages)], story=n % 7, issue=n % 11) for n in range(1, 400)]
    assert {one.number for card in of(*rows) for one in card.rows} == {one.number for one in rows}


@pytest.mark.parametrize("track", list(Track))
@pytest.mark.parametrize("stage", list(Stage))
def test_the_buttons_are_commands_that_fit(track: Track, stage: Stage) -> None:
    one = row(2, track, stage, commands=fitting(track, stage))
    assert set(orders(one)) == set(one.commands) & set(ORDERS)
