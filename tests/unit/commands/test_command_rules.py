"""Every command at every stage of every track: an effect, or one sentence why not; what failure comments offer."""

from __future__ import annotations

import pytest

from shared.commands.command import Verb
from shared.commands.command_rules import TABLE, CommandRefused, Effect, fitting, offered, ruling
from shared.workflow import HALTED, TERMINAL, Stage, Track

STORY, SPECIFICATION, PULL_REQUEST = Track
IN_WORK = {Stage.PLANNING, Stage.IMPLEMENTING, Stage.TESTING, Stage.IN_REVIEW}


def test_the_table_is_total_and_every_refusal_is_one_sentence() -> None:
    assert set(TABLE) == {(verb, track, stage) for verb in Verb for track in Track for stage in Stage}
    for ruled in TABLE.values():
        if isinstance(ruled, CommandRefused):
            assert ruled.sentence.endswith(".")
            assert "\n" not in ruled.sentence


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("track", Track)
def test_proposals_are_decided_where_nothing_has_begun_and_only_where_they_are_made(verb: Verb, track: Track) -> None:
    decides = verb in {Verb.APPROVE, Verb.REJECT} and track is SPECIFICATION
    assert (ruling(verb, track, Stage.NEW, triage=True) is Effect.DECIDE) is decides
    assert ruling(verb, track, Stage.NEW) is not Effect.DECIDE
    assert all(
        ruling(verb, track, stage, triage=True) == ruling(verb, track, stage)
        for stage in Stage
        if stage is not Stage.NEW
    )


def test_every_effect_is_reached() -> None:
    assert {ruled for ruled in TABLE.values() if isinstance(ruled, Effect)} == set(Effect)


@pytest.mark.parametrize("track", Track)
@pytest.mark.parametrize("stage", sorted(TERMINAL))
@pytest.mark.parametrize("verb", [Verb.PAUSE, Verb.RESUME, Verb.STOP, Verb.APPROVE, Verb.MERGE])
def test_what_has_ended_is_not_interrupted_or_decided(track: Track, stage: Stage, verb: Verb) -> None:
    assert isinstance(ruling(verb, track, stage), CommandRefused)


@pytest.mark.parametrize(
    ("verb", "track", "stage", "effect"),
    [
        (Verb.APPROVE, STORY, Stage.AWAITING_APPROVAL, Effect.DECIDE),
        (Verb.EDIT, SPECIFICATION, Stage.AWAITING_APPROVAL, None),
        (Verb.APPROVE, PULL_REQUEST, Stage.APPROVED, None),
        (Verb.MERGE, PULL_REQUEST, Stage.APPROVED, Effect.DECIDE),
        (Verb.MERGE, PULL_REQUEST, Stage.IN_REVIEW, None),
        (Verb.MERGE, SPECIFICATION, Stage.REVIEWING, None),
        (Verb.RETRY, SPECIFICATION, Stage.FAILED, Effect.RETRY),
        (Verb.RETRY, SPECIFICATION, Stage.REVIEWING, None),
        (Verb.RETRY, STORY, Stage.FAILED, Effect.RETRY),
        (Verb.RETRY, PULL_REQUEST, Stage.APPROVED, None),
        (Verb.CLOSE_AND_RESET, SPECIFICATION, Stage.IMPLEMENTING, None),
        (Verb.CLOSE_AND_RESET, SPECIFICATION, Stage.REVIEWING, Effect.CLOSE_AND_RESET),
        (Verb.CLOSE_AND_RESET, SPECIFICATION, Stage.READY, None),
        (Verb.SPEC_REVIEW, SPECIFICATION, Stage.CI_FAILED, Effect.SPEC_REVIEW),
        (Verb.RESET_ATTEMPTS, STORY, Stage.FAILED, None),
        (Verb.RESET_ATTEMPTS, PULL_REQUEST, Stage.CI_FAILED, Effect.RESET_ATTEMPTS),
        (Verb.STOP, SPECIFICATION, Stage.FAILED, None),
        (Verb.STOP, PULL_REQUEST, Stage.IN_REVIEW, Effect.STOP),
        (Verb.PAUSE, STORY, Stage.PLANNING, Effect.PAUSE),
    ],
)
def test_what_a_command_means_where_it_is_given(verb: Verb, track: Track, stage: Stage, effect: Effect | None) -> None:
    ruled = ruling(verb, track, stage)
    assert (None if isinstance(ruled, CommandRefused) else ruled) is effect


@pytest.mark.parametrize("stage", sorted(HALTED))
def test_a_failure_offers_exactly_what_leads_on(stage: Stage) -> None:
    leads_on = {Verb.RETRY, Verb.RESET_ATTEMPTS, Verb.SPEC_REVIEW, Verb.CLOSE_AND_RESET}
    assert set(fitting(PULL_REQUEST, stage)) == leads_on
    assert set(fitting(SPECIFICATION, stage)) == leads_on
    assert fitting(STORY, stage) == (Verb.RETRY,)
    told = offered(SPECIFICATION, stage)
    assert [verb for verb in Verb if f"`/{verb}`" in told] == list(fitting(SPECIFICATION, stage))


@pytest.mark.parametrize("track", Track)
@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize("edited", [False, True])
def test_exactly_what_is_offered_is_done(track: Track, *, paused: bool, edited: bool) -> None:
    """Pausing an item without work and resuming one that is not paused do no harm and are not offered."""
    for stage in Stage:
        told = fitting(track, stage, paused=paused)
        done = [verb for verb in Verb if not isinstance(ruling(verb, track, stage, edited=edited), CommandRefused)]
        assert set(told) <= set(done)
        unsaid = set(done) - set(told)
        unsaid -= {Verb.APPROVE} if stage is Stage.FAILED else set()  # `/retry` does the same
        assert unsaid <= {Verb.PAUSE, Verb.RESUME}
        assert Verb.RESUME not in unsaid or not paused
        assert Verb.PAUSE not in unsaid or paused or stage not in IN_WORK
        if not paused:
            sentence = offered(track, stage)
            assert [verb for verb in Verb if f"`/{verb}`" in sentence] == list(told)


def test_a_failed_issue_is_never_offered_an_approval_which_is_taken_where_its_text_was_edited() -> None:
    assert Verb.APPROVE not in fitting(SPECIFICATION, Stage.FAILED)
    assert isinstance(ruling(Verb.APPROVE, SPECIFICATION, Stage.FAILED), CommandRefused)
    assert ruling(Verb.APPROVE, SPECIFICATION, Stage.FAILED, edited=True) is Effect.RETRY


def test_what_the_configuration_leaves_to_people_is_not_offered() -> None:
    assert "`/merge`" in offered(PULL_REQUEST, Stage.APPROVED)
    assert "`/merge`" not in offered(PULL_REQUEST, Stage.APPROVED, without={Verb.MERGE})


def test_pausing_is_offered_to_work_and_resuming_to_what_is_paused() -> None:
    assert set(fitting(SPECIFICATION, Stage.TESTING)) == {Verb.PAUSE, Verb.STOP, Verb.RETRY}
    assert Verb.PAUSE not in fitting(SPECIFICATION, Stage.TESTING, paused=True)
    assert Verb.RESUME in fitting(SPECIFICATION, Stage.TESTING, paused=True)
    assert offered(SPECIFICATION, Stage.DONE) == ""
