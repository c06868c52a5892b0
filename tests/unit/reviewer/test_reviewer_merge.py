"""The outcome of an approved pull request: merged only if nothing speaks against exactly this commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fakes.lock_port import ServerClock
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_world import ADA, BASE, DIFF, HEAD, NEXT, World, answer, changes
from reviewer_merge_scene import TIDIED

from reviewer_agent.snapshot import Bounds, Merge
from shared.lock.lease import Lease
from shared.loop.polling_loop import Loop
from shared.models import Check, CheckOutcome, ReviewState
from shared.scheduling.agent_contract import Ended, Result, Skip
from shared.workflow import Stage

APPROVE: dict[str, Any] = {"merge": Merge.APPROVE}
BREAKING = answer(breaking_change={"breaks": True, "why": "search() is gone"})


async def test_auto_reviews_and_merges_in_one_go() -> None:
    world = World(answers=[answer()])
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.FINISHED
    assert world.merges() == TIDIED
    assert world.stage is Stage.DONE
    assert world.pull.labels == {"status:in-review"}, "no label is set that goes in the same step"
    assert world.statuses == []  # GitHub shows the merge: a new comment would only repeat it


@pytest.mark.parametrize(
    ("prepare", "result", "sentence"),
    [
        (lambda w: w.checks.update({HEAD: CheckOutcome.FAILED}), Result.HANDED_OVER, "checks fail"),
        (lambda w: w.checks.clear(), Result.HANDED_OVER, "no CI checks"),
        (lambda w: w.checks.update({BASE: CheckOutcome.FAILED}), Result.HANDED_OVER, "base branch fail"),
        (lambda w: w.change(labels=w.pull.labels | {"flag:had-conflict"}), Result.HANDED_OVER, "flag"),
        (lambda w: w.change(labels=w.pull.labels | {"flag:manual-intervention"}), Result.HANDED_OVER, "flag"),
        (lambda w: w.answers.__setitem__(0, BREAKING), Result.PARKED, "breaking change"),
        (lambda w: setattr(w, "diff", DIFF.replace("directory/search", "setup")), Result.PARKED, "protected files"),
        (lambda w: setattr(w, "diff", DIFF.replace("directory/search.py", "uv.lock")), Result.PARKED, "dependencies"),
        (lambda w: setattr(w, "diff", DIFF.replace("y/search", "y/conftest")), Result.PARKED, "protected files"),
        (lambda w: w.review(ADA, ReviewState.CHANGES_REQUESTED), Result.HANDED_OVER, "maintainer requested changes"),
    ],
    ids=["red", "none", "base", "conflict", "manual", "breaking", "protected", "dependencies", "conftest", "person"],
)
async def test_each_guard_alone_blocks_the_merge(
    prepare: Callable[[World], object], result: Result, sentence: str
) -> None:
    world = World(answers=[answer()])
    prepare(world)
    (ended,) = await tick(world, **auto())
    assert world.merges() == []
    assert ended.result is result
    assert sentence in world.statuses[-1].sentence


async def test_no_checks_are_green_only_where_the_configuration_says_so() -> None:
    world = World(answers=[answer()], checks={})
    await tick(world, **auto(bounds=Bounds(none_is_green=True)))
    assert world.merges() == TIDIED


@pytest.mark.fault(42)
async def test_a_ci_that_could_not_start_is_not_the_same_as_none() -> None:
    world = World(answers=[answer()], checks={}, unstarted=(Check("CI", CheckOutcome.FAILED),))
    await tick(world, **auto(bounds=Bounds(none_is_green=True)))
    assert world.merges() == []


@pytest.mark.fault(42)
async def test_nothing_is_merged_while_a_required_check_is_missing() -> None:
    world = World(answers=[answer()], required=frozenset({"ci", "security"}))
    loop = Loop(reviewer(world, **auto()), ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        assert world.merges() == []
        told = [status.sentence for status in world.statuses]
        assert "Required checks are missing: security." in told[-1]
        await loop.tick()
        await loop.quiet()
        assert [status.sentence for status in world.statuses] == told, "it is told once"
        world.required = frozenset({"ci"})
        await loop.tick()
        await loop.quiet()
    assert world.merges() == TIDIED


async def test_a_red_base_is_told_once_and_waited_for_in_the_fence() -> None:
    world = World(answers=[answer()])
    world.checks[BASE] = CheckOutcome.FAILED
    await tick(world, **auto())
    told = len(world.statuses)
    assert world.fence is not None
    assert world.fence.wait is not None
    assert world.fence.wait.reason == "red-base"
    for _ in range(2):
        world.server.seconds += 301
        await tick(world, **auto())
    assert world.merges() == []
    assert len(world.statuses) == told
    world.checks[BASE] = CheckOutcome.PASSED
    world.server.seconds += 301
    await tick(world, **auto())
    assert world.merges() == TIDIED


async def test_running_checks_are_waited_for_with_the_lease_kept() -> None:
    world = World(answers=[answer()], checks={HEAD: CheckOutcome.RUNNING})
    agent = reviewer(world, **auto())
    loop = Loop(agent, ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        assert [rest.reason for rest in loop.resting] == ["ci"]
        world.checks[HEAD] = CheckOutcome.PASSED
        await loop.tick()
        await loop.quiet()
    assert world.merges() == TIDIED
    assert len(world.server.comments()) == 1


async def approved(world: World, **policy: Any) -> World:
    """Run the review to its end and release the lease, then let some time pass."""
    await tick(world, **policy)
    assert world.stage is Stage.APPROVED
    world.server.seconds += 3600
    return world


async def test_an_approved_one_that_waits_is_not_claimed_again_until_something_changes() -> None:
    world = await approved(World(answers=[answer()], checks={HEAD: CheckOutcome.FAILED}), **auto())
    acks = len(world.server.comments())
    skip = await look(reviewer(world, **auto()))
    assert isinstance(skip, Skip)
    assert skip.seconds == 300
    assert "checks fail" in skip.reason
    never = await look(reviewer(world))
    assert isinstance(never, Skip)
    assert never.seconds == 1800
    assert len(world.server.comments()) == acks
    world.checks[HEAD] = CheckOutcome.PASSED
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.FINISHED


async def test_a_label_that_lags_behind_an_approval_is_finished() -> None:
    world = await approved(World(answers=[answer()]))
    world.change(labels=frozenset({"status:in-review", "status:approved"}))
    await tick(world)
    assert world.pull.labels == {"status:approved"}


@pytest.mark.parametrize("policy", [{}, APPROVE, auto()], ids=["never", "approve", "auto"])
async def test_an_approval_does_not_outlive_its_commit(policy: dict[str, Any]) -> None:
    world = await approved(World(answers=[answer(), changes()], checks={}), **policy)
    world.push(NEXT, by_worker=True)
    world.checks[NEXT] = CheckOutcome.PASSED
    await tick(world, **policy)
    assert world.merges() == []
    assert world.stage is Stage.CHANGES_REQUESTED
    assert world.pull.labels == {"status:changes-requested"}


async def test_an_approval_that_a_person_dismissed_merges_nothing_and_says_so_once() -> None:
    world = await approved(World(answers=[answer()], checks={HEAD: CheckOutcome.FAILED}), **auto())
    world.reviews = [replace(review, state=ReviewState.DISMISSED) for review in world.reviews]
    world.checks[HEAD] = CheckOutcome.PASSED
    await tick(world, **auto())
    assert world.statuses[-1].data["waiting"] == {"why": "unseen"}
    world.server.seconds += Bounds().ci_seconds + 1  # so long it is waited for with the lease kept
    skip = await look(reviewer(world, **auto()))
    assert isinstance(skip, Skip)
    assert world.merges() == []


async def test_an_approval_that_the_list_does_not_show_yet_is_waited_for() -> None:
    world = World(answers=[answer()], checks={})
    await tick(world, **auto(merge=Merge.NEVER))
    hidden, world.reviews = world.reviews, []
    loop = Loop(reviewer(world, **auto(bounds=Bounds(none_is_green=True))), ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        assert [rest.reason for rest in loop.resting] == ["review"]
        world.reviews = hidden
        await loop.tick()
        await loop.quiet()
    assert world.merges() == TIDIED


async def test_a_pause_during_the_review_is_seen_in_the_labels_reply_and_nothing_is_merged() -> None:
    world = World(answers=[answer()])
    agent = reviewer(world, **auto())
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        assert await agent.step(held) is None  # the review is posted, the fence says approved
        world.change(labels=world.pull.labels | {"flag:paused"}, by=ADA)
        step = await agent.step(held)
    assert isinstance(step, Ended)
    assert step.result is Result.WITHDRAWN
    assert world.merges() == []
