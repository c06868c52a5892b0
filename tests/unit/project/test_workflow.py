"""The table of moves: total, reachable, and with one owner per stage."""

from __future__ import annotations

from itertools import product

import pytest

from shared.workflow import (
    AGENTS,
    HALTED,
    TERMINAL,
    TRANSITIONS,
    Event,
    IllegalMove,
    Move,
    Role,
    Stage,
    Track,
    move,
    owner,
    stages,
)

EVERY = list(product(Track, Stage, Event))
PLACES = [(track, stage) for track in Track for stage in stages(track)]


def reachable(track: Track, start: Stage) -> set[Stage]:
    found, pending = {start}, [start]
    while pending:
        stage = pending.pop()
        for (t, s, _), made in TRANSITIONS.items():
            if t is track and s is stage and made.to not in found:
                found.add(made.to)
                pending.append(made.to)
    return found


def test_every_combination_is_listed_or_refused() -> None:
    refused = 0
    for track, stage, event in EVERY:
        if (track, stage, event) in TRANSITIONS:
            assert move(track, stage, event) is TRANSITIONS[track, stage, event]
        else:
            with pytest.raises(IllegalMove) as caught:
                move(track, stage, event)
            assert (caught.value.track, caught.value.stage, caught.value.event) == (track, stage, event)
            refused += 1
    assert refused + len(TRANSITIONS) == len(EVERY)


def test_a_refusal_says_what_cannot_happen_where() -> None:
    with pytest.raises(IllegalMove, match="A story at 'done' has no move for 'claimed'"):
        move(Track.STORY, Stage.DONE, Event.CLAIMED)


@pytest.mark.parametrize(
    ("track", "stage", "event", "made"),
    [
        (Track.STORY, Stage.NEW, Event.CLAIMED, Move(Stage.PLANNING, Role.PLANNER)),
        (Track.STORY, Stage.AWAITING_APPROVAL, Event.REJECTED, Move(Stage.PLANNING, Role.PLANNER)),
        (Track.SPECIFICATION, Stage.READY, Event.CLAIMED, Move(Stage.IMPLEMENTING, Role.WORKER)),
        (Track.SPECIFICATION, Stage.TESTING, Event.CI_PASSED, Move(Stage.REVIEWING, Role.WORKER)),
        (Track.SPECIFICATION, Stage.TESTING, Event.CI_BROKE, Move(Stage.IMPLEMENTING, Role.WORKER)),
        (Track.SPECIFICATION, Stage.FAILED, Event.RETRIED, Move(Stage.READY, Role.PERSON)),
        (Track.PULL_REQUEST, Stage.REVIEWING, Event.CLAIMED, Move(Stage.IN_REVIEW, Role.REVIEWER)),
        (Track.PULL_REQUEST, Stage.CHANGES_REQUESTED, Event.CLAIMED, Move(Stage.IMPLEMENTING, Role.WORKER)),
        (Track.PULL_REQUEST, Stage.APPROVED, Event.MERGED, Move(Stage.DONE, Role.REVIEWER)),
    ],
)
def test_moves_that_the_design_names(track: Track, stage: Stage, event: Event, made: Move) -> None:
    assert move(track, stage, event) == made


def test_every_event_happens_somewhere() -> None:
    assert {event for _, _, event in TRANSITIONS} == set(Event)


@pytest.mark.parametrize("track", Track)
def test_every_stage_is_reachable_from_new(track: Track) -> None:
    assert reachable(track, Stage.NEW) == set(stages(track))


@pytest.mark.parametrize(("track", "stage"), PLACES)
def test_every_stage_leads_to_an_end(track: Track, stage: Stage) -> None:
    without_withdrawing = {
        made.to for (t, s, event), made in TRANSITIONS.items() if t is track and s is stage and event != Event.WITHDREW
    }
    ends = (TERMINAL - {Stage.WITHDRAWN}) | HALTED
    assert stage in TERMINAL or any(ends & reachable(track, to) for to in without_withdrawing)


@pytest.mark.parametrize(("track", "stage"), PLACES)
def test_one_agent_owns_each_stage_in_which_there_is_work(track: Track, stage: Stage) -> None:
    found = owner(track, stage)
    if stage in TERMINAL | HALTED:
        assert found is None
    else:
        assert found in AGENTS


@pytest.mark.parametrize(("track", "stage"), PLACES)
def test_a_person_can_withdraw_from_everywhere_but_the_end(track: Track, stage: Stage) -> None:
    assert ((track, stage, Event.WITHDREW) in TRANSITIONS) == (stage not in TERMINAL)
    assert not any(t is track and s is stage for t, s, _ in TRANSITIONS) or stage not in TERMINAL


def test_only_a_person_leads_out_of_a_halt() -> None:
    assert {made.by for (_, stage, _), made in TRANSITIONS.items() if stage in HALTED} == {Role.PERSON}
