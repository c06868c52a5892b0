"""Pushes to a pull request under review: what they buy, and who is told of them."""

from __future__ import annotations

import pytest
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_world import ADA, HEAD, MALLORY, NEXT, PULL, World, answer, changes
from reviewer_approval_scene import approved

from reviewer_agent.snapshot import Bounds
from shared.errors import Transient
from shared.scheduling.agent_contract import Result, Skip
from shared.workflow import Stage


async def test_a_push_to_an_approved_pull_request_of_a_fork_buys_nothing_and_posts_nothing() -> None:
    world = await approved()
    world.change(head_repository="mallory/r")
    said = len(world.server.comments()), len(world.statuses), list(world.done)
    for sha in (NEXT, "e" * 40, "f" * 40):
        world.push(sha)
        for world.quiet_seconds in (0.0, 3600.0):
            assert await tick(world) == []
            skip = await look(reviewer(world, "reviewer-2", **auto()))
            assert isinstance(skip, Skip)
            assert "nobody with write access has asked" in skip.reason
    assert (len(world.server.comments()), len(world.statuses), world.done) == said
    assert len(world.requests) == 1


async def test_whoever_pushes_to_an_approved_branch_of_ours_is_told_once_what_leads_on() -> None:
    world = await approved()
    said = len(world.server.comments())
    for sha in (NEXT, "e" * 40, "f" * 40):
        world.push(sha)
        world.quiet_seconds = 0.0
        assert isinstance(await look(reviewer(world, **auto())), Skip), "whoever pushes may be about to ask"
        world.quiet_seconds = 60.0
        for _ in range(3):
            await tick(world, **auto())
            world.server.seconds += 3600
    assert len(world.server.comments()) == said, "not one comment more"
    assert (len(world.requests), world.stage) == (1, Stage.APPROVED)
    assert not any(deed.startswith("merge ") for deed in world.done)
    assert [one.sentence for one in world.statuses[1:]] == [
        f"The commit {NEXT[:12]} was pushed after {HEAD[:12]} was handed to review. "
        "Set `status:reviewing` to have it reviewed."
    ]
    world.change(labels=world.pull.labels | {"status:reviewing"}, by=ADA)
    world.answers.append(answer())
    await tick(world)
    assert len(world.requests) == 2


@pytest.mark.parametrize("fork", [False, True])
async def test_a_push_between_the_hand_over_and_the_first_look_is_told_once_where_it_buys_no_review(fork: bool) -> None:
    """The worker and the reviewer are two Apps: the worker sets the label, and the reviewer knows only its fence."""
    world = World(labelled_by=MALLORY, answers=[answer()], quiet_seconds=60.0)
    world.push(HEAD, by_worker=True)
    world.push(NEXT)
    world.change(head_repository="mallory/r" if fork else world.pull.head_repository)
    for _ in range(3):
        await tick(world, **auto())
        world.server.seconds += 3600
    told = [f"The commit {NEXT[:12]} was pushed after {HEAD[:12]} was handed to review."]
    assert [one.sentence.partition(" Take `status:reviewing` off and set it again")[0] for one in world.statuses] == (
        [] if fork else told
    )
    assert (len(world.server.comments()), world.requests) == (0 if fork else 1, [])
    world.change(labels=frozenset(), by=ADA)
    world.change(labels=frozenset({"status:reviewing"}), by=ADA)
    await tick(world, **auto())
    assert (len(world.requests), world.fence and world.fence.work_head) == (1, NEXT)


async def test_a_push_by_our_worker_is_reviewed() -> None:
    world = await approved()
    world.answers.append(changes())
    world.push(NEXT, by_worker=True)
    await tick(world)
    assert [request.item for request in world.requests] == [f"#{PULL}"] * 2
    assert world.stage is Stage.CHANGES_REQUESTED


async def test_a_push_on_top_of_our_workers_is_not_the_workers() -> None:
    world = await approved()
    world.push(NEXT, by_worker=True)
    world.push("e" * 40)
    assert isinstance(await look(reviewer(world)), Skip)


async def test_a_push_during_the_review_ends_it_with_one_sentence() -> None:
    world = World(answers=[answer()], during_call={"head_sha": NEXT})
    (ended,) = await tick(world)
    assert ended.result is Result.PARKED
    assert world.stage is Stage.IN_REVIEW
    assert world.fence is not None
    assert world.fence.work_head == HEAD
    assert [deed for deed in world.done if deed.startswith("review")] == []
    assert f"The commit {NEXT[:12]} was pushed" in world.statuses[-1].sentence
    said = len(world.server.comments())
    world.push("e" * 40)
    assert isinstance(await look(reviewer(world)), Skip)
    assert (len(world.server.comments()), len(world.requests)) == (said, 1)


async def test_after_a_push_during_the_review_the_label_leads_on() -> None:
    world = World(answers=[answer(), answer()], during_call={"head_sha": NEXT})
    await tick(world)
    world.server.seconds += 3600
    world.during_call.clear()
    world.change(labels=frozenset({"status:reviewing"}), by=ADA)
    await tick(world)
    assert world.stage is Stage.APPROVED
    assert world.fence is not None
    assert (world.fence.work_head, world.fence.attempt) == (NEXT, 1)


async def test_a_second_push_is_told_though_the_comment_still_tells_of_the_first() -> None:
    world = await approved()
    world.quiet_seconds = 60.0
    world.push(NEXT)
    await tick(world, **auto())
    world.server.seconds += 5
    world.change(labels=world.pull.labels | {"status:reviewing"}, by=ADA)
    world.refuse["diff"] = Transient("the reviewer was stopped")
    await tick(world, **auto())
    assert (world.stage, world.fence and world.fence.work_head) == (Stage.IN_REVIEW, NEXT)
    world.push("e" * 40)
    for _ in range(3):
        world.server.seconds += 3600
        await tick(world, **auto())
    told = [one.sentence.partition(" was pushed")[0] for one in world.statuses if "was pushed" in one.sentence]
    assert told == [f"The commit {NEXT[:12]}", f"The commit {'e' * 12}"]
    assert len(world.requests) == 1


async def test_what_an_approval_waited_for_does_not_delay_the_word_about_a_push() -> None:
    world = World(answers=[answer()], quiet_seconds=60.0)
    await tick(world, **auto(bounds=Bounds(cooling_seconds=12 * 3600)))
    assert world.fence is not None
    assert world.fence.wait is not None
    world.push(NEXT, seconds=120)
    await tick(world, **auto(bounds=Bounds(cooling_seconds=12 * 3600)))
    assert f"The commit {NEXT[:12]} was pushed" in world.statuses[-1].sentence


async def test_a_label_that_a_stranger_has_moved_makes_the_engine_ask_itself_for_nothing() -> None:
    world = World(labelled_by=MALLORY, answers=[answer()], quiet_seconds=60.0)
    world.push(HEAD, by_worker=True)
    world.push(NEXT)
    world.change(labels=frozenset({"status:in-review"}), by=MALLORY)
    for _ in range(3):
        await tick(world, **auto())
        world.server.seconds += 3600
    assert (len(world.requests), len(world.server.comments())) == (0, 0)
    assert world.pull.labels == {"status:in-review"}
