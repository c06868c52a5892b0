"""The labels come off a merged pull request once, whether or not an issue is told of the merge."""

from __future__ import annotations

from dataclasses import replace

from fakes.closing import FakeClosing
from fakes.reviewer_forge import auto, forge_of, reviewer, tick
from fakes.reviewer_world import ISSUE, PULL, World, answer

from shared.workflow import Stage


async def merged(world: World) -> FakeClosing:
    """Have the reviewer merge the pull request; return the record of the items then told and unlabelled."""
    closing = FakeClosing()
    await tick(world, reviewer(world, forge=replace(forge_of(world), closing=closing), **auto()))
    assert (world.stage, world.pull.merged) == (Stage.DONE, True)
    return closing


async def test_with_the_end_of_its_issue() -> None:
    world = World(answers=[answer()])
    world.push(world.pull.head_sha, by_worker=True)
    closing = await merged(world)
    assert (closing.told, closing.unlabelled) == ([ISSUE], []), "what is told takes its labels with it"


async def test_without_a_worker_s_fence() -> None:
    closing = await merged(World(answers=[answer()]))
    assert (closing.told, set(closing.unlabelled)) == ([], {PULL})


async def test_of_a_person_s_branch() -> None:
    world = World(answers=[answer()])
    world.change(head_branch="feature")
    closing = await merged(world)
    assert (closing.told, closing.unlabelled) == ([], [PULL])
