"""A repository's conditions for a merge besides the verdict: size, time to object, others' approval, no such label."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_port import ServerClock
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_strikes import Calls, watched
from fakes.reviewer_world import ADA, DIFF, HEAD, MALLORY, SPECIFIED, World, answer
from reviewer_merge_scene import merges

from reviewer_agent.review.patch import read
from reviewer_agent.snapshot import Bounds
from shared.loop.polling_loop import Loop
from shared.models import CheckOutcome, ReviewState
from shared.scheduling.agent_contract import Result, Skip
from shared.workflow import Stage

MOVED = "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"
GONE = (
    "diff --git a/old.py b/old.py\ndeleted file mode 100644\nindex 1111111..0000000\n"
    "--- a/old.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
)
CHANGED = (
    "diff --git a/x.py b/x.py\nindex 1111111..2222222 100644\n--- a/x.py\n+++ b/x.py\n"
    "@@ -1,3 +1,3 @@\n context\n--- old\n+++ new\n context\n\\ No newline at end of file\n"
)


@pytest.mark.parametrize(
    ("diff", "size"), [(DIFF, 2), (MOVED, 0), (GONE, 0), (CHANGED, 2), (DIFF + GONE + CHANGED, 4), ("", 0)]
)
def test_the_size_of_a_change_is_what_somebody_has_to_read(diff: str, size: int) -> None:
    assert read(diff, 100_000).size == size
    assert read(diff, 1).size == size, "what is not shown to the model counts as well"


@pytest.mark.parametrize(("lines", "merged"), [(1, False), (2, True), (None, True)])
async def test_a_change_of_more_lines_waits_for_a_persons_word(lines: int | None, merged: bool) -> None:
    world = World(answers=[answer()])
    await tick(world, **auto(bounds=Bounds(lines=lines)))
    assert merges(world) == merged
    if merged:
        return
    assert "changes 2 lines, more than 1: comment `/merge`" in world.statuses[-1].sentence
    world.say(ADA, "/merge")
    await tick(world, **auto(bounds=Bounds(lines=lines)))
    assert merges(world) == 1


async def test_the_lines_are_those_of_the_diff_that_was_reviewed() -> None:
    world = World(answers=[answer()], checks={HEAD: CheckOutcome.FAILED})
    await tick(world, **auto())
    world.diff, world.checks[HEAD] = "", CheckOutcome.PASSED
    world.server.seconds += 3600
    await tick(world, **auto(bounds=Bounds(lines=1)))
    assert merges(world) == 0, "another process knows it by the review's mark"


COOL = Bounds(cooling_seconds=7200)


async def test_a_merge_waits_for_its_time_which_the_fence_and_the_comment_say() -> None:
    world = World(answers=[answer()])
    (ended,) = await tick(world, **auto(bounds=COOL))
    until = world.reviews[-1].submitted_at + timedelta(hours=2)
    assert (ended.result, merges(world)) == (Result.PARKED, 0)
    assert world.fence is not None
    assert world.fence.wait is not None
    assert (world.fence.wait.reason, world.fence.wait.until) == ("cooling", until)
    assert f"merged at {until:%H:%M} UTC on {until:%Y-%m-%d}" in world.statuses[-1].sentence
    assert world.statuses[-1].data["waiting"] == {"why": "cooling", "until": until.isoformat()}
    told, acks = len(world.statuses), len(world.server.comments())
    world.server.seconds += 3600
    skip = await look(reviewer(world, **auto(bounds=COOL)))
    assert isinstance(skip, Skip)
    assert 0 < skip.seconds <= 3600
    assert (len(world.statuses), len(world.server.comments())) == (told, acks)
    world.server.seconds += skip.seconds + 1
    (ended,) = await tick(world, **auto(bounds=COOL))
    assert (ended.result, merges(world)) == (Result.FINISHED, 1)
    assert len(world.requests) == 1


async def test_a_short_wait_keeps_the_lease() -> None:
    world = World(answers=[answer()])
    loop = Loop(reviewer(world, **auto(bounds=Bounds(cooling_seconds=600))), ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        assert [rest.reason for rest in loop.resting] == ["cooling"]
        await loop.tick()
        await loop.quiet()
        assert merges(world) == 0
        world.server.seconds += 601
        await loop.tick()
        await loop.quiet()
    assert merges(world) == 1
    assert len(world.server.comments()) == 1


async def test_an_order_does_not_wait_for_the_time() -> None:
    world = World(answers=[answer()])
    await tick(world, **auto(bounds=COOL))
    world.say(MALLORY, "/merge")
    assert isinstance(await look(reviewer(world, **auto(bounds=COOL))), Skip)
    world.say(ADA, "/merge")
    await tick(world, **auto(bounds=COOL))
    assert merges(world) == 1


@pytest.mark.parametrize("deed", ["objects", "label", "red"])
async def test_what_speaks_against_it_before_its_time_is_obeyed(deed: str) -> None:
    world = World(answers=[answer()])
    await tick(world, **auto(bounds=COOL))
    if deed == "objects":
        world.review(ADA, ReviewState.CHANGES_REQUESTED)
        await tick(world, **auto(bounds=COOL))  # it need not wait for the time of the merge
        assert world.stage is Stage.CHANGES_REQUESTED
    elif deed == "label":
        world.change(labels=world.pull.labels | {"do-not-merge"})
    else:
        world.checks[HEAD] = CheckOutcome.FAILED
    world.server.seconds += 7201
    await tick(world, **auto(bounds=COOL))
    assert merges(world) == 0


@pytest.mark.parametrize("text", ["do-not-merge", "DO-NOT-MERGE", "hold"])
@pytest.mark.parametrize("where", ["pull request", "issue"])
async def test_a_label_keeps_it_from_being_merged_whatever_was_ordered(text: str, where: str) -> None:
    policy = auto(barring=frozenset({"do-not-merge", "Hold"}))
    world = World(answers=[answer()])
    if where == "issue":
        world.issue = replace(SPECIFIED, labels=SPECIFIED.labels | {text})
    else:
        world.change(labels=world.pull.labels | {text})
    await tick(world, **policy)
    assert (merges(world), len(world.requests)) == (0, 1), "it is reviewed all the same"
    assert f"carries the excluded label '{text}'" in world.statuses[-1].sentence
    world.say(ADA, "/merge")
    assert isinstance(await look(reviewer(world, **policy)), Skip)
    world.issue = SPECIFIED
    world.change(labels=world.pull.labels - {text})
    await tick(world, **policy)
    assert merges(world) == 1


@pytest.mark.parametrize("at", [1, -1])
async def test_a_label_that_is_set_right_after_the_verdict_or_before_the_merge_stops_it(at: int) -> None:
    undisturbed = Calls()
    world = World(answers=[answer()])
    await tick(world, watched(world, undisturbed, **auto()))
    path = undisturbed.made[: undisturbed.made.index("pulls.merge")]
    last = len(path) - path[::-1].index("pulls.pull_request")
    world = World(answers=[answer()])
    calls = Calls(lambda: world.change(labels=world.pull.labels | {"do-not-merge"}, by=ADA), 1 if at == 1 else last)
    await tick(world, watched(world, calls, **auto()))
    assert merges(world) == 0
