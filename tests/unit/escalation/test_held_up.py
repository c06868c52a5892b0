"""Items that wait for people without a question to anybody: escalated once after too long, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from approval_scene import APPROVED, AT, MERGE, World, alarm

from shared.escalation.approvals import HELD_UP
from shared.lock.fence import Wait
from shared.workflow import Role, Stage

PUT_OFF = replace(MERGE, stage=Stage.IN_REVIEW, wait=Wait("red-head", AT + timedelta(1)))


IN_REVIEW = replace(APPROVED, labels=frozenset({"status:in-review"}))


@pytest.mark.parametrize(
    ("reason", "told"), [("red-head", "its checks failed again"), ("edited", "its issue was found edited")]
)
async def test_a_review_that_is_put_off_for_long_is_escalated_once(reason: str, told: str) -> None:
    world = World(replace(PUT_OFF, wait=Wait(reason, AT)))
    watcher = alarm(world, Role.REVIEWER)
    for hours in (0, 23, 24, 25, 90):
        world.now = AT + timedelta(hours=hours)
        await watcher.watch({7: replace(IN_REVIEW, updated_at=world.now)})
        assert len(world.sent) == (hours >= 24)
    assert list(world.posted) == [f"overdue-{reason}-aaaaaaaaaaaa"]
    assert told in world.posted[f"overdue-{reason}-aaaaaaaaaaaa"]


async def test_what_a_person_has_stopped_or_is_reviewed_just_now_is_nobodys_alarm() -> None:
    for fence in (replace(PUT_OFF, wait=Wait("stopped", AT)), replace(PUT_OFF, wait=None)):
        world = World(fence, now=AT + timedelta(days=30))
        await alarm(world, Role.REVIEWER).watch({7: IN_REVIEW})
        assert world.sent == {}
    world = World(PUT_OFF, now=AT + timedelta(days=30))
    for label in ("flag:paused", "Do-Not-Merge"):
        await alarm(world, Role.REVIEWER).watch({7: replace(IN_REVIEW, labels=IN_REVIEW.labels | {label})})
    assert world.sent == {}


@pytest.mark.parametrize("why", ["flagged", "checks_red", "checks_missing", "head_moved"])
async def test_what_is_approved_and_stays_unmerged_is_escalated_once_and_asks_for_no_decision(why: str) -> None:
    world = World(replace(MERGE, wait=None), why, now=AT + timedelta(hours=24))
    watcher = alarm(world, Role.REVIEWER)
    for _ in range(2):
        await watcher.watch({7: APPROVED})
    assert list(world.posted.values()) == [HELD_UP[why].format(hours=24)]
    assert [one.category for one in world.sent.values()] == ["held_up"]


@pytest.mark.parametrize("stage", [Stage.REVIEWING, Stage.IN_REVIEW])
async def test_a_review_of_commits_that_nobody_asked_about_does_not_stand_still_in_silence(stage: Stage) -> None:
    world = World(replace(PUT_OFF, stage=stage, wait=None), "head_moved", now=AT + timedelta(hours=23))
    watcher, item = alarm(world, Role.REVIEWER), replace(IN_REVIEW, labels=frozenset({f"status:{stage}"}))
    await watcher.watch({7: item})
    assert world.sent == {}
    world.now += timedelta(hours=1)
    await watcher.watch({7: item})
    (sentence,) = world.posted.values()
    assert sentence.startswith("The review has waited for 24 hours or more: commits were pushed")


async def test_what_was_said_of_another_commit_or_before_the_label_was_moved_is_not_believed() -> None:
    world = World(replace(PUT_OFF, wait=None), "head_moved", "b" * 40, now=AT + timedelta(days=2))
    await alarm(world, Role.REVIEWER).watch({7: IN_REVIEW})
    world.said_of = "a" * 40
    await alarm(world, Role.REVIEWER).watch({7: replace(IN_REVIEW, labels=frozenset({"status:reviewing"}))})
    assert world.sent == {}
    await alarm(world, Role.REVIEWER).watch({7: IN_REVIEW})
    assert len(world.sent) == 1, "positive control"


@pytest.mark.parametrize("why", ["never", "barred", "requested", "checks_running"])
async def test_what_people_keep_from_being_merged_is_nobodys_alarm(why: str) -> None:
    world = World(replace(MERGE, wait=None), why, now=AT + timedelta(days=30))
    await alarm(world, Role.REVIEWER).watch({7: APPROVED})
    assert world.sent == {}
