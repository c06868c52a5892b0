"""Decisions that wait too long: one escalation each, and the item stays open."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from approval_scene import APPROVED, AT, BASE, MERGE, PLAN, STORY, TESTING, World, alarm

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, Wait
from shared.models import Issue
from shared.workflow import Role, Stage


async def test_a_plan_is_escalated_once_after_the_configured_hours() -> None:
    world = World()
    watcher = alarm(world)
    for hours in (0, 23, 24, 25, 90):
        world.now = AT + timedelta(hours=hours)
        await watcher.watch({7: STORY})
        assert len(world.sent) == (hours >= 24)
    await alarm(world).watch({7: STORY})  # after a restart
    (escalation,) = world.sent.values()
    assert (escalation.kind, escalation.number, escalation.url) == ("overdue", 7, "https://h/ada/directory/issues/7")
    assert world.posted == {"overdue-plan-2": "The plan has waited for a decision for 24 hours. It stays open."}


async def test_a_fence_is_read_only_when_its_item_has_changed_and_can_have_waited_so_long() -> None:
    world = World(replace(PLAN, at=AT + timedelta(hours=20)), now=AT + timedelta(hours=23))
    watcher = alarm(world)
    await watcher.watch({7: STORY})
    assert world.asked == 0
    world.now += timedelta(hours=1)
    for _ in range(3):
        await watcher.watch({7: STORY})
    assert world.asked == 1
    await watcher.watch({7: replace(STORY, updated_at=AT + timedelta(hours=1))})
    assert world.asked == 2


async def test_another_version_of_the_plan_waits_anew() -> None:
    world = World(now=AT + timedelta(hours=30))
    watcher = alarm(world)
    await watcher.watch({7: STORY})
    world.fence = replace(PLAN, attempt=3, at=world.now)
    later = replace(STORY, updated_at=world.now)
    await watcher.watch({7: later})
    assert len(world.sent) == 1
    world.now += timedelta(hours=24)
    await watcher.watch({7: later})
    assert sorted(world.posted) == ["overdue-plan-2", "overdue-plan-3"]


async def test_a_merge_is_escalated_only_while_it_waits_for_an_order() -> None:
    world = World(replace(PLAN, key=ItemKey(Role.REVIEWER, 7), stage=Stage.APPROVED, work_head="a" * 40))
    world.now = AT + timedelta(hours=24)
    pull = replace(STORY, labels=frozenset({"status:approved"}), is_pull_request=True)
    await alarm(world, Role.REVIEWER).watch({7: pull})
    assert world.sent == {}
    world.waiting = "not_ordered"
    await alarm(world, Role.REVIEWER).watch({7: pull})
    assert [one.sentence for one in world.sent.values()] == [
        "The merge has waited for a decision for 24 hours. It stays open."
    ]


PULL = replace(TESTING, number=9, body="Closes #7", is_pull_request=True)


@pytest.mark.parametrize(
    ("role", "fence", "item"),
    [(Role.WORKER, BASE, TESTING), (Role.WORKER, BASE, PULL), (Role.REVIEWER, MERGE, APPROVED)],
    ids=["first round", "later round", "merge"],
)
async def test_a_base_that_stays_red_is_escalated_once(role: Role, fence: Fence, item: Issue) -> None:
    world = World(fence)
    watcher = alarm(world, role)
    for hours in (0, 23, 24, 25, 90):
        world.now = AT + timedelta(hours=hours)
        await watcher.watch({item.number: item})
        await watcher.watch({item.number: replace(item, updated_at=world.now)})
        assert len(world.sent) == (hours >= 24)
    await alarm(world, role).watch({item.number: item})  # after a restart
    (one,) = world.sent.values()
    assert (one.kind, one.number, one.category) == ("overdue", 7, "held_up")
    assert list(world.posted) == ["overdue-red-base-aaaaaaaaaaaa"]
    assert "24 hours or more, since the checks of the base branch failed" in one.sentence, "true when green"


async def test_a_wait_for_the_base_is_found_though_its_item_has_not_changed_and_its_ci_alone_is_not_told() -> None:
    world = World(replace(BASE, wait=Wait("ci", AT)))
    watcher = alarm(world, Role.WORKER)
    await watcher.watch({7: TESTING})
    world.fence, world.now = BASE, AT + timedelta(hours=24)
    await watcher.watch({7: TESTING})
    assert len(world.sent) == 1
    ci = World(replace(BASE, wait=Wait("ci", AT)), now=AT + timedelta(days=30))
    await alarm(ci, Role.WORKER).watch({7: TESTING, 9: replace(PULL, body="")})
    assert ci.sent == {}


async def test_a_thread_is_not_read_before_anything_in_it_can_be_overdue() -> None:
    world = World(replace(MERGE, wait=None, at=AT + timedelta(hours=47)), "not_ordered", now=AT + timedelta(hours=48))
    for _ in range(3):
        world.now += timedelta(hours=1)
        await alarm(world, Role.REVIEWER).watch({7: APPROVED})
    assert (world.read, world.sent) == (0, {})


async def test_an_item_that_cannot_be_read_keeps_nobody_from_being_called_to_another() -> None:
    world = World(now=AT + timedelta(hours=24), broken=3)
    watcher = alarm(world)
    for _ in range(3):
        await watcher.watch({3: replace(STORY, number=3), 7: STORY})
    assert (len(world.sent), world.asked) == (1, 2)
