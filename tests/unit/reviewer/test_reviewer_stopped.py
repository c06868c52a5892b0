"""A person's stop on an issue holds its pull request back as well: nothing is paid for, nothing is merged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_world import HEAD, OPENED, SPECIFIED, World, answer

from reviewer_agent.snapshot import Merge
from shared.github.errors import NotShown
from shared.lock.lease import Lease
from shared.models import Issue
from shared.scheduling.agent_contract import Ended, Result, Skip
from shared.workflow import Stage

REVIEWING = frozenset({"status:reviewing"})
STOPS: dict[str, dict[str, Any]] = {
    "closed": {"open": False},
    "locked": {"locked": True},
    "paused": {"labels": REVIEWING | {"flag:paused"}},
    "excluded": {"labels": REVIEWING | {"Do-Not-Automate"}},
    "label off": {"labels": frozenset()},
    "moved": {"labels": frozenset({"status:ready"})},
}
each_stop = pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS.keys())


class Late(World):
    """The pull request is answered by a replica that lags, its thread is not."""

    late = False

    def as_issue(self) -> Issue:
        shown = super().as_issue()
        return replace(shown, open=False) if self.late else shown


def merges(world: World) -> int:
    return sum(deed.startswith("merge ") for deed in world.done)


@each_stop
async def test_a_stop_between_verdict_and_merge_is_obeyed_until_it_is_taken_back(stop: dict[str, Any]) -> None:
    world = World(answers=[answer()])
    agent = reviewer(world, **auto())
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        assert await agent.step(held) is None  # the review is posted, the fence says approved
        world.issue = replace(world.issue, **stop)
        step = await agent.step(held)
    assert isinstance(step, Ended)
    assert step.result is Result.HANDED_OVER
    assert "while its issue is closed, locked, paused" in world.statuses[-1].sentence
    acks = len(world.server.comments())
    skip = await look(reviewer(world, **auto()))
    assert isinstance(skip, Skip)
    assert skip.seconds == 300
    assert (merges(world), len(world.server.comments()), world.stage) == (0, acks, Stage.APPROVED)
    world.issue = SPECIFIED
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.FINISHED
    assert merges(world) == 1


@each_stop
@pytest.mark.parametrize("merge", [Merge.NEVER, Merge.AUTO])
async def test_no_review_is_paid_for_while_the_issue_is_stopped(stop: dict[str, Any], merge: Merge) -> None:
    world = World(answers=[answer()], issue=replace(SPECIFIED, **stop))
    (ended,) = await tick(world, merge=merge)
    assert ended.result is Result.PARKED
    assert "not reviewed while its issue is closed" in world.statuses[-1].sentence
    acks = len(world.server.comments())
    for seconds in (10, 4000):
        world.server.seconds += seconds
        skip = await look(reviewer(world, merge=merge))
        assert isinstance(skip, Skip)
        assert skip.seconds == 300
    assert (world.requests, world.stage, len(world.server.comments())) == ([], Stage.IN_REVIEW, acks)
    world.issue = SPECIFIED
    await tick(world, merge=merge)
    assert len(world.requests) == 1
    assert merges(world) == (merge is Merge.AUTO)


@pytest.mark.parametrize("body", ["Closes #43", "It names no issue.", "Closes #42"])
async def test_the_branch_says_whose_stop_counts(body: str) -> None:
    world = World(answers=[answer()], pull=replace(OPENED, head_branch="auto/issue-43", body=body))
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.PARKED, "issue 43 is gone, whatever the text names"
    assert world.requests == []


@pytest.mark.parametrize("change", [{"head_branch": "fix"}, {"head_repository": "mallory/r"}])
async def test_a_persons_own_branch_is_reviewed_whatever_the_issue_that_it_names(change: dict[str, Any]) -> None:
    world = World(answers=[answer()], pull=replace(OPENED, **change), issue=replace(SPECIFIED, open=False))
    await tick(world)
    assert len(world.requests) == 1
    assert [deed for deed in world.done if deed.startswith("review")] == [f"review APPROVED {HEAD} 0"]


@pytest.mark.fault(11)
async def test_a_merge_that_only_the_thread_shows_yet_is_no_withdrawal() -> None:
    world = Late(answers=[answer()])
    agent = reviewer(world, **auto())
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        assert await agent.step(held) is None
        world.late = True
        with pytest.raises(NotShown):
            await agent.stop(held, "the pull request was closed or locked")
        before = world.stage
        world.change(open=False, merged=True, merge_sha="d" * 40)
        await agent.stop(held, "the pull request was closed or locked")
    assert (before, world.stage) == (Stage.APPROVED, Stage.DONE)
