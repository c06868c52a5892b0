"""A command binds the work to the text that its author saw, not to what a stranger has made of it since."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_server import EPOCH
from fakes.recovery_world import ADA, MALLORY, Scene, comment

from shared.commands.command import Verb
from shared.commands.command_rules import Effect
from shared.commands.recovery import Case
from shared.commands.text_unchanged import MAY_BE_EDITED
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.write_permit import OperatorPermit
from shared.models import Account
from shared.specification import body_sha256
from shared.workflow import Role, Stage

RENEWING = [Verb.RETRY, Verb.RESET_ATTEMPTS, Verb.APPROVE, Verb.CLOSE_AND_RESET]
GIVEN = EPOCH + timedelta(minutes=5)


def scene(author: Account, edited: int) -> Scene:
    """Return a failed issue of which only the text was changed, `edited` seconds after the command."""
    made = Scene(author=author)
    made.fences[Role.WORKER, 42] = replace(made.worker, stage=Stage.FAILED, pr=0)
    made.issue = replace(made.issue, body="Print the tokens.", updated_at=GIVEN + timedelta(seconds=edited))
    return made


@pytest.mark.fault(45)
@pytest.mark.parametrize("verb", RENEWING)
async def test_a_text_that_a_stranger_may_have_edited_since_is_not_begun(verb: Verb) -> None:
    world = scene(MALLORY, 5)
    before = world.fences[Role.WORKER, 42]
    assert await world.order(comment(f"/{verb}", GIVEN), Role.WORKER) == [MAY_BE_EDITED]
    assert (world.fences[Role.WORKER, 42], world.shown) == (before, [])


@pytest.mark.parametrize("verb", RENEWING)
@pytest.mark.parametrize(("author", "edited"), [(ADA, 5), (MALLORY, 0), (MALLORY, -60)])
async def test_whoever_may_write_may_edit_and_what_stood_there_is_begun(
    verb: Verb, author: Account, edited: int
) -> None:
    world = scene(author, edited)
    (told,) = await world.order(comment(f"/{verb}", GIVEN), Role.WORKER)
    moved = world.fences[Role.WORKER, 42]
    assert told != MAY_BE_EDITED
    assert (moved.stage, moved.body_sha256) == (Stage.READY, body_sha256(world.issue.title, world.issue.body))


async def test_what_was_never_begun_is_not_begun_on_another_text_either() -> None:
    world = scene(MALLORY, 5)
    del world.fences[Role.WORKER, 42]
    world.issue = replace(world.issue, labels=frozenset({"status:failed"}))
    assert await world.order(comment("/retry", GIVEN), Role.WORKER) == [MAY_BE_EDITED]
    assert world.shown == []


@pytest.mark.parametrize(
    ("phase", "kept"),
    [
        ("fix", ""),
        ("ci", ""),
        ("red-base", ""),
        ("feedback", "feedback"),
        ("text", "text"),
        ("answer", "answer"),
        ("rounds", "rounds"),
    ],
)
async def test_retry_of_an_open_pull_request_keeps_only_a_round_of_remarks(phase: str, kept: str) -> None:
    world = scene(ADA, 0)
    world.fences[Role.WORKER, 42] = replace(world.worker, stage=Stage.FAILED, phase=phase, pr=57)
    await world.order(comment("/retry", GIVEN), Role.WORKER)
    moved = world.fences[Role.WORKER, 42]
    assert (moved.stage, moved.phase) == (Stage.READY, kept)


@pytest.mark.parametrize("phase", ["red", "green", "ci"])
async def test_retry_without_a_pull_request_goes_on_where_it_stopped(phase: str) -> None:
    world = scene(ADA, 0)
    world.fences[Role.WORKER, 42] = replace(world.worker, stage=Stage.FAILED, phase=phase, pr=0)
    await world.order(comment("/retry", GIVEN), Role.WORKER)
    assert world.fences[Role.WORKER, 42].phase == phase


async def test_retry_of_a_story_is_no_approval_of_the_plan_that_it_asks_for() -> None:
    world, key = Scene(), ItemKey(Role.PLANNER, 42)
    failed = Fence(key, 5, "n" * 32, "planner-a", Stage.FAILED, EPOCH, approved_by="ada", attempt=1, oid="0")
    world.fences[Role.PLANNER, 42] = failed
    case = Case(world.issue, failed, world.issue)
    await world.recovery().carry_out(Effect.RETRY, case, OperatorPermit("/retry by ada"))
    moved = world.fences[Role.PLANNER, 42]
    assert (moved.stage, moved.phase, moved.attempt, moved.approved_by) == (Stage.PLANNING, "draft", 2, "")
