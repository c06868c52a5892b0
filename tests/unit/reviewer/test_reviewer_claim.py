"""Pull requests that the reviewer takes, and orders that make it release the lock."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.agent import claimed
from fakes.lock_server import BOT
from fakes.reviewer_forge import look, reviewer, tick
from fakes.reviewer_world import ADA, MALLORY, PULL, World, answer

from shared.errors import Gone
from shared.lock.lease import Lease
from shared.models import Account
from shared.scheduling.agent_contract import Candidate, Ended, Result, Skip
from shared.workflow import Stage


def reviews(world: World) -> list[str]:
    return [deed for deed in world.done if deed.startswith("review")]


@pytest.mark.parametrize(
    "labels", [{"status:reviewing", "flag:paused"}, {"status:reviewing", "Do-Not-Automate"}, {"bug"}]
)
async def test_what_is_not_looked_at(labels: set[str]) -> None:
    world = World()
    world.change(labels=frozenset(labels))
    assert await reviewer(world).discover() == ()


async def test_a_label_set_by_a_stranger_costs_nothing() -> None:
    world = World(labelled_by=MALLORY)
    skip = await look(reviewer(world))
    assert isinstance(skip, Skip)
    assert "write access" in skip.reason
    assert world.server.comments() == {}


@pytest.mark.parametrize("actor", [ADA, BOT, Account(BOT.id, "renamed[bot]")])
async def test_a_label_set_by_people_with_write_or_by_ourselves_counts(actor: Account) -> None:
    assert isinstance(await look(reviewer(World(labelled_by=actor))), Lease)


async def test_two_reviewers_make_one_review() -> None:
    world = World(answers=[answer()])
    first, second = reviewer(world), reviewer(world, "reviewer-2")
    lease = await look(first)
    assert isinstance(lease, Lease)
    async with first.hold(lease) as held:
        skip = await claimed(second, Candidate(PULL, ""))
        assert isinstance(skip, Skip)
        assert "reviewer-1 holds it" in skip.reason
        await first.step(held)
    assert len(reviews(world)) == 1


@pytest.mark.parametrize(
    ("change", "order"),
    [
        ({"labels": frozenset({"status:in-review"})}, None),
        ({"labels": frozenset({"status:reviewing"})}, None),
        ({"labels": frozenset()}, "stage label"),
        ({"labels": frozenset({"status:changes-requested"})}, "stage label"),
        ({"labels": frozenset({"status:in-review", "flag:paused"})}, "flag:paused"),
        ({"open": False}, "closed"),
    ],
)
async def test_a_persons_order_ends_the_work(change: dict[str, Any], order: str | None) -> None:
    world = World()
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    assert await agent.revoked(PULL) is None
    async with agent.hold(lease) as held:
        world.change(**change)
        await agent.discover()
        reason = await agent.revoked(PULL)
        assert (reason is None) == (order is None)
        if reason is not None and order is not None:
            assert order in reason
            await agent.stop(held, reason)
            assert world.stage is (Stage.IN_REVIEW if "paused" in order else Stage.WITHDRAWN)
            assert len(world.statuses) == 1
    assert world.requests == []


async def test_an_order_is_noticed_by_the_step_itself() -> None:
    world = World()
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        world.change(labels=frozenset({"flag:paused", "status:in-review"}))
        step = await agent.step(held)
    assert isinstance(step, Ended)
    assert step.result is Result.WITHDRAWN
    assert world.stage is Stage.IN_REVIEW


async def test_a_pull_request_that_is_gone_ends_the_work() -> None:
    world = World()
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease):
        world.change(open=False)
        await agent.discover()
        world.refuse["issue"] = Gone()
        assert await agent.revoked(PULL) == "the pull request is gone"


async def test_an_approval_by_label_alone_is_no_approval() -> None:
    world = World()
    world.change(labels=frozenset({"status:approved"}))
    skip = await look(reviewer(world))
    assert isinstance(skip, Skip)
    assert "has not reviewed it" in skip.reason


async def test_a_label_that_lags_behind_a_failure_is_finished() -> None:
    world = World(diff="")
    await tick(world)
    world.change(labels=frozenset({"status:in-review"}))
    world.server.seconds += 3600
    (ended,) = await tick(world)
    assert ended.result is Result.FAILED
    assert world.pull.labels == {"status:failed", "flag:manual-intervention"}


async def test_a_closed_pull_request_is_a_candidate_until_its_lease_is_ours() -> None:
    world = World(answers=[answer()])
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        await agent.step(held)
    world.change(open=False, merged=True)
    (closed,) = await agent.discover()
    assert not isinstance(await agent.prepare(closed), Skip)
    assert await agent.discover() == (closed,), "no slot was left, or another agent was faster"
    lease = await claimed(agent, closed)
    assert isinstance(lease, Lease)
    async with agent.hold(lease):
        assert await agent.discover() == ()
