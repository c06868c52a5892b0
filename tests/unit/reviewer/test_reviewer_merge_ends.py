"""How a merge ends: refused, unclear, done by a person, tidied up after."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from reviewer_fakes import auto, reviewer, tick
from reviewer_lock import HandClock
from reviewer_world import OPENED, World, answer
from test_reviewer_merge import MERGE, TIDIED, merges

from shared.errors import NotAllowed, UnknownOutcome
from shared.github.errors import HeadMoved, Refused
from shared.items import Result
from shared.loop import Loop
from shared.workflow import Stage


@pytest.mark.fault(44)
async def test_a_refused_merge_goes_to_a_person_with_githubs_sentence() -> None:
    world = World(answers=[answer()])
    world.refuse["merge"] = Refused("PUT /merge", 405, "Changes must be made through the merge queue")
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.FAILED
    assert "merge queue" in world.statuses[-1].sentence
    assert world.pull.labels == {"status:failed", "flag:manual-intervention"}


@pytest.mark.fault(44)
@pytest.mark.parametrize("error", [HeadMoved, UnknownOutcome])
async def test_a_merge_with_an_unclear_end_is_looked_at_again(error: type[Exception]) -> None:
    world = World(answers=[answer()])
    world.refuse["merge"] = error()
    loop = Loop(reviewer(world, **auto()), HandClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        assert merges(world) == []
        world.change(open=False, merged=True)
        await loop.tick()
        await loop.quiet()
    assert merges(world) == TIDIED[1:]
    assert world.stage is Stage.DONE


@pytest.mark.fault(44)
async def test_a_merge_by_a_person_is_success() -> None:
    world = World(answers=[answer()], during_call={"open": False, "merged": True})
    (ended,) = await tick(world)
    assert ended.result is Result.FINISHED
    assert world.stage is Stage.DONE


@pytest.mark.parametrize("deed", ["delete", "close"])
async def test_tidying_that_is_refused_does_not_undo_a_merge(deed: str) -> None:
    world = World(answers=[answer()])
    world.refuse[deed] = NotAllowed()
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.FINISHED
    assert world.stage is Stage.DONE


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
    assert merges(world) == expected


async def test_an_issue_that_github_closed_is_left_alone() -> None:
    world = World(answers=[answer()])
    world.refuse["merge"] = UnknownOutcome()
    loop = Loop(reviewer(world, **auto()), HandClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        world.change(open=False, merged=True)
        world.issue = replace(world.issue, open=False)
        await loop.tick()
        await loop.quiet()
    assert merges(world) == [TIDIED[2]]
    assert world.stage is Stage.DONE
