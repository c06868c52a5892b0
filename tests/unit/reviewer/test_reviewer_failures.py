"""Answers that cannot be used, posts that fail, changes that cannot be reviewed: nothing is lost or paid twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.reviewer_forge import PUSHED_AND_ASKED, look, reviewer, tick
from fakes.reviewer_world import World, answer, changes, finding

from shared.errors import Blocked, Gone, UnknownOutcome
from shared.git.failures import NoSuchRef, TooMuchOutput
from shared.github.errors import NotShown, Refused
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.llm.port import Ending, RunOutcome
from shared.lock.lease import Lease
from shared.scheduling.agent_contract import Result
from shared.workflow import Stage


def reviews(world: World) -> list[str]:
    return [deed for deed in world.done if deed.startswith("review")]


@pytest.mark.parametrize(
    "first", [answer("approved", finding()), RunOutcome(Ending.MALFORMED), RunOutcome(Ending.COMPLETED)]
)
async def test_a_malformed_answer_is_repaired_once(first: Any) -> None:
    world = World(answers=[first, answer()])
    await tick(world)
    original, repair = world.requests
    assert (original.retry, repair.retry) == (0, 1)
    assert replace(original, retry=1, prompt=repair.prompt) == repair
    if isinstance(first, dict):
        assert "approved with a critical or major finding" in repair.prompt
    assert world.stage is Stage.APPROVED


async def test_a_second_malformed_answer_goes_to_a_person() -> None:
    world = World(answers=[answer("lgtm"), answer("lgtm")])
    (ended,) = await tick(world)
    assert ended.result is Result.FAILED
    assert "verdict" in ended.sentence
    assert len(world.requests) == 2
    assert "<details><summary>What the backend answered</summary>" in world.statuses[-1].notes
    assert "lgtm" in world.statuses[-1].notes
    assert reviews(world) == []
    assert world.pull.labels == {"status:failed", "flag:manual-intervention"}
    assert "status:reviewing" in world.statuses[-1].notes


async def test_a_run_that_used_up_its_budget_says_so_by_a_flag() -> None:
    world = World(answers=[RunOutcome(Ending.MAX_BUDGET)])
    await tick(world)
    assert world.pull.labels == {"status:failed", "flag:budget-exceeded"}


async def test_a_post_whose_reply_was_lost_is_not_paid_twice() -> None:
    world = World(answers=[answer()])
    world.refuse["review"] = UnknownOutcome()
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        with pytest.raises(UnknownOutcome):
            await agent.step(held)
        with pytest.raises(NotShown):
            await agent.step(held)
        assert reviews(world) == []
        world.server.seconds += PATIENCE_SECONDS
        await agent.step(held)
    assert len(world.requests) == len(reviews(world)) == 1


@pytest.mark.fault(41)
@pytest.mark.parametrize("error", [Gone("404"), Refused("POST", 422, "no")])
async def test_a_review_that_github_does_not_take_is_kept_in_the_status_comment(error: Blocked) -> None:
    world = World(answers=[changes()])
    world.refuse["review"] = error
    (ended,) = await tick(world)
    assert ended.result is Result.FAILED
    assert "Case is not ignored." in world.statuses[-1].notes
    assert world.stage is Stage.FAILED


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"diff": " \n"}, "changes nothing"),
        ({"tips": {}}, "'main' does not exist"),
        ({"refuse": {"fetch": NoSuchRef()}}, "is not in the repository any more"),
        ({"refuse": {"diff": TooMuchOutput()}}, "too large to be reviewed"),
    ],
)
async def test_what_cannot_be_reviewed_says_why_without_a_call(facts: dict[str, Any], sentence: str) -> None:
    (ended,) = await tick(world := World(**facts))
    assert sentence in ended.sentence
    assert world.requests == []


async def test_giving_up_on_a_new_head_is_a_failure_like_any_other() -> None:
    world = World(answers=[answer()], during_call=PUSHED_AND_ASKED)
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        await agent.step(held)
        await agent.step(held)
        assert held.fence.stage is Stage.REVIEWING
        world.change(head_sha="e" * 40, labels=frozenset())
        world.server.seconds += 60
        world.change(labels=frozenset({"status:reviewing"}))
        world.tips.clear()
        with pytest.raises(Blocked) as caught:
            await agent.step(held)
        await agent.fail(held, caught.value)
    assert world.stage is Stage.FAILED
    assert world.pull.labels == {"status:failed", "flag:manual-intervention"}


async def test_a_failure_after_the_verdict_keeps_the_verdict() -> None:
    world = World(answers=[changes()], refuse={"status": Refused("POST", 422, "no")})
    (ended,) = await tick(world)
    assert ended.result is Result.FAILED
    assert world.stage is Stage.CHANGES_REQUESTED
    assert world.pull.labels == {"status:changes-requested", "flag:manual-intervention"}


@pytest.mark.fault(38)
async def test_a_review_that_was_given_up_says_so_once_wherever_the_reviewer_was_killed() -> None:
    world = World(answers=[answer("lgtm"), answer("lgtm")])
    world.refuse["status"] = UnknownOutcome("killed before the comment")
    await tick(world)
    assert (world.stage, len(world.statuses)) == (Stage.FAILED, 0)
    assert world.pull.labels == {"status:in-review"}
    world.refuse["label"] = UnknownOutcome("killed between comment and label")
    await tick(world)
    assert world.pull.labels == {"status:in-review"}
    await tick(world)
    (status,) = world.statuses
    assert "before it could say why" in status.sentence
    assert world.pull.labels == {"status:failed", "flag:manual-intervention"}
    assert await tick(world) == []
    assert len(world.requests) == 2
    assert reviews(world) == []
