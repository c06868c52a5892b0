"""Ownership of pull requests: forks are merged on order only, and only our own branch and issue are cleaned up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.agent import claimed
from fakes.lock_server import BOT, EPOCH
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_world import ADA, HEAD, ISSUE, MALLORY, OPENED, PULL, World, answer

from shared.errors import Transient
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account
from shared.scheduling.agent_contract import Candidate, Result, Skip
from shared.workflow import Role, Stage

WORKER_KEY = ItemKey(Role.WORKER, ISSUE)
MERGE = f"merge {HEAD} squash [auto] Search users (#57)"
TIDIED = [MERGE, f"close {ISSUE}", f"delete auto/issue-{ISSUE} {HEAD}"]


def worked(world: World, pr: int) -> World:
    """Push the worker's fence of the issue, which names pull request `pr` as its own."""
    world.server.push(Fence(WORKER_KEY, 1, "n", "worker-1", Stage.REVIEWING, EPOCH, pr=pr), None, "", ())
    return world


def buried(world: World) -> bool:
    fence = world.server.fence(WORKER_KEY)
    return fence is not None and fence.stage is Stage.DONE


@pytest.mark.parametrize("home", ["mallory/r", ""], ids=["fork", "deleted fork"])
async def test_a_fork_is_merged_on_a_persons_order_only_and_nothing_else_is_touched(home: str) -> None:
    pull = replace(OPENED, author=MALLORY, head_repository=home)
    world = worked(World(answers=[answer()], pull=pull), PULL)
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.PARKED
    assert "another repository" in world.statuses[-1].sentence
    assert world.merges() == []
    world.say(ADA, "/merge")
    await tick(world, **auto())
    assert world.merges() == [MERGE]
    assert not buried(world)


@pytest.mark.parametrize(
    ("author", "pr", "ours"),
    [(BOT, 0, True), (BOT, PULL, True), (ADA, PULL, True), (ADA, PULL + 1, False), (ADA, 0, False)],
)
async def test_a_branch_named_like_ours_is_not_enough(author: Account, pr: int, ours: bool) -> None:
    world = World(answers=[answer()], pull=replace(OPENED, author=author))
    if pr:
        worked(world, pr)
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.FINISHED
    assert world.merges() == (TIDIED if ours else [MERGE])
    assert buried(world) is (ours and pr != 0)


async def test_what_a_person_merged_is_tidied_when_it_is_seen_to_close() -> None:
    world = worked(World(answers=[answer()]), PULL)
    await tick(world)
    world.server.seconds += 3600
    agent = reviewer(world, "reviewer-2")
    await agent.discover()
    world.change(open=False, merged=True)
    (ended,) = await tick(world, agent)
    assert ended.result is Result.FINISHED
    assert world.merges() == TIDIED[1:]
    assert buried(world)
    assert await agent.discover() == ()


async def test_what_was_closed_without_a_merge_is_looked_at_once() -> None:
    world = World(answers=[answer()])
    await tick(world)
    world.server.seconds += 3600
    agent = reviewer(world, "reviewer-2")
    await agent.discover()
    world.change(open=False)
    said = len(world.server.comments())
    skip = await look(agent)
    assert isinstance(skip, Skip)
    assert await agent.discover() == ()
    assert len(world.server.comments()) == said


async def test_what_was_opened_and_closed_again_is_looked_at_again() -> None:
    world = worked(World(answers=[answer()]), PULL)
    await tick(world)
    world.server.seconds += 3600
    agent = reviewer(world, "reviewer-2")
    await agent.discover()
    world.change(open=False, merged=True)
    (ended,) = await tick(world, agent)
    assert ended.result is Result.FINISHED
    assert await agent.discover() == ()
    world.change(open=True, merged=False)
    await agent.discover()
    world.change(open=False)
    assert [candidate.number for candidate in await agent.discover()] == [PULL]


async def test_what_needs_no_look_when_it_closes_is_not_remembered() -> None:
    world = World(answers=[answer()])
    agent = reviewer(world)
    await agent.discover()
    world.change(open=False, labels=frozenset({"bug"}))
    assert await agent.discover() == ()
    assert vars(agent)["_closed"] == {}


async def test_a_closed_one_stays_a_candidate_until_it_could_be_looked_at() -> None:
    world = World(answers=[answer()])
    await tick(world)
    world.server.seconds += 3600
    agent = reviewer(world, "reviewer-2")
    await agent.discover()
    world.change(open=False, merged=True)
    await agent.discover()
    world.refuse["pull"] = Transient("502")
    with pytest.raises(Transient):
        await claimed(agent, Candidate(PULL, ""))
    assert [candidate.number for candidate in await agent.discover()] == [PULL]


async def test_what_this_reviewer_merged_itself_is_not_looked_at_again() -> None:
    world = World(answers=[answer()])
    agent = reviewer(world, **auto())
    await tick(world, agent)
    assert world.stage is Stage.DONE
    assert await agent.discover() == ()
    assert await agent.discover() == ()
