"""Requests for a paid review: a push alone is none, our worker and people with write access can, within limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.agent import claimed
from fakes.lock_server import BOT
from fakes.reviewer_forge import PUSHED_AND_ASKED, auto, look, reviewer, tick
from fakes.reviewer_world import ADA, HEAD, MALLORY, NEXT, PULL, World, answer, changes
from reviewer_approval_scene import approved

from reviewer_agent.snapshot import Bounds
from shared.errors import Transient
from shared.lock.codec import ItemKey
from shared.lock.lease import Lease
from shared.models import Account
from shared.reconcile.lost import QUIET
from shared.scheduling.agent_contract import UNTIL_NEWS, Candidate, Ended, Result, Skip
from shared.workflow import Role, Stage


async def test_commits_that_nobody_asked_about_are_left_alone_until_something_changes() -> None:
    world = await approved()
    world.change(head_repository="mallory/r")
    world.push(NEXT)
    agent = reviewer(world, "reviewer-2", **auto())
    just_changed, long_ago = world.server.at, world.server.at - QUIET
    for changed, seconds in ((just_changed, QUIET.total_seconds()), (long_ago, UNTIL_NEWS)):
        skip = await claimed(agent, Candidate(PULL, "", updated_at=changed))
        assert isinstance(skip, Skip)
        assert skip.seconds == seconds, "the list that says who asked may lag; after that, only news counts"


async def test_a_fork_that_shows_our_workers_commit_is_not_our_worker() -> None:
    world = await approved()
    world.change(head_repository="mallory/r")
    world.push(NEXT, by_worker=True)
    assert isinstance(await look(reviewer(world)), Skip)


@pytest.mark.parametrize(("actor", "counts"), [(ADA, True), (BOT, True), (MALLORY, False)])
async def test_the_label_set_after_the_push_asks_for_a_review(actor: Account, counts: bool) -> None:
    world = await approved()
    world.push(NEXT)
    world.change(labels=world.pull.labels | {"status:reviewing"}, by=actor)
    assert isinstance(await look(reviewer(world)), Lease) is counts


async def test_a_label_is_used_up_by_the_review_that_it_asked_for() -> None:
    world = World(answers=[changes()], labelled_by=ADA)
    await tick(world)
    world.push(NEXT)
    world.change(labels=frozenset({"status:in-review"}), by=MALLORY)
    world.change(labels=frozenset({"status:in-review", "status:reviewing"}), by=ADA)
    world.answers.append(answer())
    await tick(world)
    world.push("e" * 40)
    assert isinstance(await look(reviewer(world)), Skip)
    assert len(world.requests) == 2


async def test_a_label_that_a_person_took_off_again_asks_for_nothing() -> None:
    world = await approved()
    world.push(NEXT)
    world.change(labels=world.pull.labels | {"status:reviewing"}, by=ADA)
    world.change(labels=world.pull.labels - {"status:reviewing"}, by=ADA)
    assert isinstance(await look(reviewer(world)), Skip)


async def test_a_pull_request_that_its_author_reopens_buys_nothing_with_its_old_label() -> None:
    world = World(answers=[answer()], during_call={"open": False})
    await tick(world)
    assert world.stage is Stage.WITHDRAWN
    world.push(NEXT)
    world.change(open=True)
    assert world.pull.labels == {"status:in-review"}
    assert isinstance(await look(reviewer(world)), Skip)


async def test_the_label_that_was_the_order_to_stop_also_asks_for_the_next_review() -> None:
    world = World(answers=[answer()])
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        await agent.step(held)
        world.server.seconds += 60
        world.change(labels=frozenset({"status:reviewing"}), by=ADA)
        world.server.seconds += 60
        step = await agent.step(held)
    assert isinstance(step, Ended)
    assert world.stage is Stage.WITHDRAWN
    assert isinstance(await look(agent), Lease)


async def test_reviews_of_one_pull_request_have_an_end() -> None:
    world = World(answers=[answer(), answer()])
    policy: dict[str, Any] = {"bounds": Bounds(reviews=2)}
    await tick(world, **policy)
    for sha in (NEXT, "e" * 40):
        world.push(sha, by_worker=True)
        (ended,) = await tick(world, **policy)
    assert ended.result is Result.FAILED
    assert "2 commits" in ended.sentence
    assert len(world.requests) == 2
    assert world.pull.labels == {"status:failed", "flag:manual-intervention"}
    world.answers.append(answer())
    world.server.seconds += 3600
    world.change(labels=frozenset({"status:reviewing"}), by=ADA)
    (again,) = await tick(world, **policy)
    assert again.result is Result.HANDED_OVER


async def test_a_taken_up_head_survives_a_failed_fetch() -> None:
    world = World(answers=[answer(), answer()], during_call=PUSHED_AND_ASKED)
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        await agent.step(held)
        world.refuse["fetch"] = Transient("502")
        with pytest.raises(Transient):
            await agent.step(held)
        assert "status:reviewing" not in world.pull.labels
        assert await agent.step(held) is None
        assert held.fence.work_head == NEXT


async def test_the_workers_fence_of_another_pull_request_vouches_for_nothing() -> None:
    world = await approved()
    world.push(NEXT, by_worker=True)
    fence = world.server.fence(ItemKey(Role.WORKER, 42))
    assert fence is not None
    other = world.server.push(replace(fence, pr=PULL + 1), fence.oid, "", ())
    assert other is not None
    assert isinstance(await look(reviewer(world)), Skip)


@pytest.mark.parametrize(("by_worker", "asked_who"), [(True, False), (False, True)])
async def test_what_our_worker_hands_over_needs_nobodys_label(by_worker: bool, asked_who: bool) -> None:
    world = World(labelled_by=MALLORY, answers=[answer()])
    world.push(HEAD, by_worker=by_worker)
    world.refuse["events"] = Transient("who set the label was asked for")
    if asked_who:
        with pytest.raises(Transient):
            await look(reviewer(world))
    else:
        assert isinstance(await look(reviewer(world)), Lease)


async def test_a_hand_over_from_before_a_person_stopped_the_review_asks_for_nothing() -> None:
    world = World(answers=[answer()], during_call={"open": False})
    world.push(HEAD, by_worker=True)
    await tick(world)
    assert world.stage is Stage.WITHDRAWN
    world.server.seconds += 3600
    world.change(open=True, labels=frozenset({"status:reviewing"}), by=MALLORY)
    world.refuse["events"] = Transient("who set the label was asked for")
    with pytest.raises(Transient):
        await look(reviewer(world))
