"""Nothing that is flagged is merged, whether the flag is on the pull request or on the issue that it implements."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_strikes import opened
from fakes.reviewer_world import ADA, NAMES, World
from reviewer_merge_scene import merges

from shared.lock.claimant import LockTimes
from shared.scheduling.agent_contract import Skip
from shared.workflow.labels import HOLDING_OF_ISSUE, Flag

HANDS_OVER = sorted(HOLDING_OF_ISSUE - {Flag.PAUSED})
"""Flags of an issue that give it to a person; a paused one is left alone for its own reason."""


def flag_issue(world: World, *flags: Flag) -> None:
    """Set these flags on the issue, and remove all others."""
    world.issue = replace(world.issue, labels=frozenset({"status:reviewing", *(NAMES.of(flag) for flag in flags)}))


@pytest.mark.parametrize("flag", HANDS_OVER)
@pytest.mark.parametrize("ordered", [False, True])
async def test_what_is_flagged_on_its_issue_is_not_merged_until_the_flag_is_gone(flag: Flag, ordered: bool) -> None:
    world = opened()
    flag_issue(world, flag)
    await tick(world, **auto())
    if ordered:
        world.say(ADA, "/merge")
        await tick(world, **auto())
    assert merges(world) == 0
    assert world.statuses[-1].data["waiting"] == {"why": "flagged"}
    assert "a flag on it or on its issue" in world.statuses[-1].sentence
    acks, told = len(world.server.comments()), len(world.statuses)
    skip = await look(reviewer(world, **auto()))
    assert isinstance(skip, Skip)
    assert skip.seconds == LockTimes().heartbeat, (
        "that the flag goes does not show on the pull request, so it is soon looked at again"
    )
    assert (len(world.server.comments()), len(world.statuses)) == (acks, told), "that is said once"
    flag_issue(world)
    await tick(world, **auto())
    assert merges(world) == 1


@pytest.mark.parametrize("flag", sorted(Flag))
async def test_every_flag_on_the_pull_request_keeps_it_from_being_merged(flag: Flag) -> None:
    world = opened()
    world.change(labels=world.pull.labels | {NAMES.of(flag)}, by=ADA)
    await tick(world, **auto())
    assert merges(world) == 0
    world.change(labels=world.pull.labels - {NAMES.of(flag)}, by=ADA)
    await tick(world, **auto())
    assert merges(world) == 1


async def test_a_criterion_that_the_worker_has_set_aside_is_for_the_review_and_holds_no_merge() -> None:
    world = opened()
    flag_issue(world, Flag.PROBLEMATIC_TEST)
    await tick(world, **auto())
    assert merges(world) == 1


async def test_a_flag_on_the_issue_keeps_nobody_from_reviewing_it() -> None:
    world = opened()
    flag_issue(world, Flag.MANUAL_INTERVENTION)
    await tick(world, **auto())
    assert [review.author for review in world.reviews], "its review is there"
    assert world.answers == []
