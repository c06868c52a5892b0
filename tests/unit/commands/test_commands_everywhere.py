"""Every command given by comment: at every stage, twice, and by everybody who may not give it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.lock_server import EPOCH
from fakes.recovery_world import MALLORY, REVIEWER, Scene, comment

from shared.commands.command import Verb
from shared.commands.command_rules import TABLE, CommandRefused, Effect, fitting, ruling
from shared.commands.untrusted_comments import NO_WRITE
from shared.lock.fence import Fence
from shared.models import Comment, Permission
from shared.workflow import UNLABELLED, Role, Stage, Track

SPECIFICATION, PULL_REQUEST = Track.SPECIFICATION, Track.PULL_REQUEST
WORKERS = [Stage.READY, Stage.IMPLEMENTING, Stage.TESTING, Stage.AWAITING_APPROVAL, Stage.REVIEWING]
REVIEWERS = [Stage.REVIEWING, Stage.IN_REVIEW, Stage.CHANGES_REQUESTED, Stage.APPROVED]
ENDS = [Stage.FAILED, Stage.CI_FAILED, Stage.WITHDRAWN, Stage.DONE]
PLACES = {SPECIFICATION: WORKERS + ENDS, PULL_REQUEST: REVIEWERS + ENDS}
REFUSALS = {ruled.sentence for ruled in TABLE.values() if isinstance(ruled, CommandRefused)}


def scene(track: Track, stage: Stage) -> tuple[Scene, Role, int]:
    """Return an item at rest at this stage, its agent, and the thread for commands."""
    made = Scene()
    role, number = (Role.WORKER, 42) if track is SPECIFICATION else (Role.REVIEWER, 57)
    working = replace(made.worker, stage=stage if track is SPECIFICATION else Stage.REVIEWING)
    made.fences[Role.WORKER, 42] = replace(working, pr=0 if track is SPECIFICATION else 57)
    if track is PULL_REQUEST:
        made.fences[Role.REVIEWER, 57] = replace(REVIEWER, stage=stage)
    shown = frozenset() if stage in UNLABELLED else frozenset({f"status:{stage}"})
    made.issue, made.thread_of_pull = replace(made.issue, labels=shown), replace(made.thread_of_pull, labels=shown)
    return made, role, number


def given(verb: Verb, number: int, id: int = 100) -> Comment:
    return replace(comment(f"/{verb}", EPOCH, number), id=id)


def state(scene: Scene) -> tuple[dict[tuple[Role, int], Fence], list[tuple[int, Stage]], bool, list[str]]:
    return dict(scene.fences), list(scene.shown), scene.pull.open, list(scene.flags)


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("place", [SPECIFICATION, PULL_REQUEST])
async def test_a_command_does_what_is_ruled_once_or_says_in_one_sentence_why_not(verb: Verb, place: Track) -> None:
    for stage in PLACES[place]:
        here, role, number = scene(place, stage)
        before, ruled = state(here), ruling(verb, place, stage)
        told = list(await here.order(given(verb, number), role))
        if isinstance(ruled, CommandRefused):
            assert (told, state(here)) == ([ruled.sentence], before)
        elif ruled is Effect.DECIDE:
            assert (told, state(here)) == ([], before)
        else:
            assert len(told) == 1
        after = state(here)
        assert list(await here.order(given(verb, number), role)) == told
        assert state(here) == after, f"the same comment was obeyed twice at {stage}"


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("may", [Permission.READ, Permission.NONE], ids=["read or triage", "a stranger"])
async def test_nobody_without_write_access_orders_anything_anywhere(verb: Verb, may: Permission) -> None:
    for track, stages in PLACES.items():
        for stage in stages:
            here, role, number = scene(track, stage)
            before, here.others = state(here), may
            assert await here.order(replace(given(verb, number), author=MALLORY), role) == []
            assert [(one["id"], one["why"]) for one in here.recorded] == [(100, NO_WRITE)]
            assert state(here) == before


@pytest.mark.parametrize("verb", Verb)
async def test_what_is_offered_is_obeyed_and_given_again_moves_nothing_back(verb: Verb) -> None:
    for track, stages in PLACES.items():
        for stage in stages:
            if verb not in fitting(track, stage):
                continue
            here, role, number = scene(track, stage)
            assert not [one for one in await here.order(given(verb, number), role) if one in REFUSALS]
            once = {key: fence.stage for key, fence in here.fences.items()}
            await here.order(given(verb, number, 101), role)
            assert {key: fence.stage for key, fence in here.fences.items()} == once
