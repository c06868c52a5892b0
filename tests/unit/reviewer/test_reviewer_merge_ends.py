"""Ends of a merge: refused, unclear, done by a person, cleaned up afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.lock_port import ServerClock
from fakes.reviewer_forge import auto, reviewer, tick
from fakes.reviewer_world import HEAD, ISSUE, OPENED, PULL, World, answer
from reviewer_merge_scene import MERGE, TIDIED

from shared.ci.ci_round import BASE_MOVED
from shared.errors import NotAllowed, UnknownOutcome
from shared.github.branch_rules import MergeRules
from shared.github.errors import HeadMoved, Refused
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage


@pytest.mark.fault(44)
@pytest.mark.parametrize(
    "error",
    [
        Refused("PUT /merge", 405, "Squash merges are not allowed on this repository."),
        Refused("PUT /merge", 409, "Head branch is out of date. Review and try the merge again."),
        NotAllowed("GitHub does not allow PUT /merge to this token"),
    ],
)
async def test_a_refused_merge_ends_nothing_is_told_and_is_tried_again(error: Refused | NotAllowed) -> None:
    world = World(answers=[answer()])
    world.refuse["merge"] = error
    (ended,) = await tick(world, **auto())
    said = error.message if isinstance(error, Refused) else str(error)
    assert ended.result is Result.HANDED_OVER
    assert f"GitHub refused to merge it: {said}" in world.statuses[-1].sentence
    assert world.pull.labels == {"status:approved"}
    await tick(world, **auto())
    assert world.merges() == [], "not again at once"
    world.server.seconds += 1801
    await tick(world, **auto())
    assert world.merges()[0] == MERGE


async def test_a_refused_merge_is_tried_at_once_when_githubs_word_on_it_changes() -> None:
    world = World(answers=[answer()])
    world.refuse["merge"] = Refused("PUT /merge", 405, "At least 1 approving review is required.")
    await tick(world, **auto())
    world.server.seconds += 60
    world.change(merge_state="clean")
    await tick(world, **auto())
    assert world.merges()[0] == MERGE


@pytest.mark.fault(44)
@pytest.mark.parametrize(
    ("rules", "required"),
    [
        (MergeRules(code_owners=True), frozenset()),
        (MergeRules(other=True), frozenset()),
        (MergeRules(), frozenset({"ci"})),
    ],
)
async def test_where_there_are_rules_nothing_is_merged_until_github_has_computed_its_word(
    rules: MergeRules, required: frozenset[str]
) -> None:
    world = World(answers=[answer()], rules=rules, required=required)
    world.change(merge_state="unknown")
    await tick(world, **auto())
    assert world.merges() == [], "an administrator's token would be let through"
    world.server.seconds += 60
    world.change(merge_state="clean")
    await tick(world, **auto())
    assert world.merges()[0] == MERGE


async def test_where_there_are_none_a_merge_finds_out_by_itself() -> None:
    world = World(answers=[answer()])
    world.change(merge_state="unknown")
    await tick(world, **auto())
    assert world.merges()[0] == MERGE


@pytest.mark.fault(44)
@pytest.mark.parametrize("words", ["Pull Request is not mergeable", "2 of 2 required status checks are expected."])
async def test_a_merge_that_is_refused_for_its_base_goes_back_to_the_worker_once(words: str) -> None:
    world = World(answers=[answer()])
    world.push(HEAD, by_worker=True, seconds=0)
    world.refuse["merge"] = Refused("PUT /merge", 405, words)
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.HANDED_OVER
    assert (world.stage, world.fence and world.fence.phase) == (Stage.CHANGES_REQUESTED, BASE_MOVED)
    assert "A worker merges the base into it" in world.statuses[-1].sentence


@pytest.mark.fault(44)
@pytest.mark.parametrize("error", [HeadMoved, UnknownOutcome])
async def test_a_merge_with_an_unclear_end_is_looked_at_again(error: type[Exception]) -> None:
    world = World(answers=[answer()])
    world.refuse["merge"] = error()
    loop = Loop(reviewer(world, **auto()), ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        assert world.merges() == []
        world.change(open=False, merged=True)
        await loop.tick()
        await loop.quiet()
    assert world.merges() == TIDIED[1:]
    assert world.stage is Stage.DONE


@pytest.mark.fault(44)
async def test_a_merge_by_a_person_is_success() -> None:
    world = World(answers=[answer()], during_call={"open": False, "merged": True})
    (ended,) = await tick(world)
    assert ended.result is Result.FINISHED
    assert world.stage is Stage.DONE


async def test_closing_that_is_refused_does_not_undo_a_merge() -> None:
    world = World(answers=[answer()])
    world.refuse["close"] = NotAllowed()
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.FINISHED
    assert world.stage is Stage.DONE


WORKERS = ItemKey(Role.WORKER, ISSUE)
BRANCH = f"refs/heads/auto/issue-{ISSUE}"


def left_by_worker(world: World, stage: Stage) -> None:
    """Push the worker's fence of the issue as it is at the merge."""
    fence = Fence(WORKERS, 1, "n", "worker-1", stage, world.now, work_head=HEAD, pr=PULL)
    world.server.push(fence, None, "", ())


@pytest.mark.parametrize("stage", [Stage.REVIEWING, Stage.DONE, Stage.WITHDRAWN])
async def test_a_branch_goes_together_with_the_fence_of_its_issue(stage: Stage) -> None:
    world = World(answers=[answer()])
    left_by_worker(world, stage)
    before = world.server.fence(WORKERS)
    await tick(world, **auto())
    after = world.server.fence(WORKERS)
    assert world.merges() == TIDIED
    assert before is not None
    assert after is not None
    assert after.stage is Stage.DONE
    assert before.oid in world.server.commits[after.oid][1], "moved in the same push"


@pytest.mark.parametrize("stage", [Stage.REVIEWING, Stage.DONE])
async def test_a_branch_that_must_not_be_deleted_stays_and_the_rest_ends(stage: Stage) -> None:
    world = World(answers=[answer()])
    left_by_worker(world, stage)
    world.server.protected.add(BRANCH)
    (ended,) = await tick(world, **auto())
    fence = world.server.fence(WORKERS)
    assert ended.result is Result.FINISHED
    assert (world.stage, fence and fence.stage) == (Stage.DONE, Stage.DONE)
    assert world.merges() == TIDIED[:2]


async def test_the_branch_of_an_issue_that_is_worked_on_again_stays() -> None:
    world = World(answers=[answer()])
    left_by_worker(world, Stage.IMPLEMENTING)
    world.refuse["merge"] = UnknownOutcome()
    loop = Loop(reviewer(world, **auto()), ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        world.change(open=False, merged=True)
        await loop.tick()
        await loop.quiet()
    fence = world.server.fence(WORKERS)
    assert world.stage is Stage.DONE
    assert fence is not None
    assert fence.stage is Stage.IMPLEMENTING
    assert world.server.removed == []


@pytest.mark.parametrize(
    ("change", "policy", "expected"),
    [
        ({"head_branch": "main"}, {}, [MERGE]),
        ({"head_branch": "auto/issue-42-old-1"}, {}, [MERGE]),
        ({}, {"delete_branch": False}, TIDIED[:2]),
        ({}, {"merge_method": "rebase"}, [MERGE.replace("squash", "rebase"), *TIDIED[1:]]),
    ],
)
async def test_only_the_engines_own_branch_and_issue_are_tidied(
    change: dict[str, Any], policy: dict[str, Any], expected: list[str]
) -> None:
    world = World(answers=[answer()], pull=replace(OPENED, **change))
    await tick(world, **auto(**policy))
    assert world.merges() == expected


async def test_an_issue_that_github_closed_is_left_alone() -> None:
    world = World(answers=[answer()])
    world.refuse["merge"] = UnknownOutcome()
    loop = Loop(reviewer(world, **auto()), ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        world.change(open=False, merged=True)
        world.issue = replace(world.issue, open=False)
        await loop.tick()
        await loop.quiet()
    assert world.merges() == [TIDIED[2]]
    assert world.stage is Stage.DONE
