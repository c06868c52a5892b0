"""From a story to a merged pull request, and what must not happen on the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine, demo_script
from story_scene import has, is_open, tell

from shared.workflow import Role, Stage


@pytest.mark.edges(
    "story: new, claimed",
    "story: planning, plan posted",
    "story: awaiting-approval, specifications created",
    "story: specified, specifications closed",
    "specification: new, created",
    "specification: ready, claimed",
    "specification: implementing, tests passed",
    "specification: testing, CI red",
    "specification: testing, CI passed",
    "specification: reviewing, merged",
    "pull_request: new, CI passed",
    "pull_request: reviewing, claimed",
    "pull_request: in-review, changes requested",
    "pull_request: changes-requested, claimed",
    "pull_request: implementing, tests passed",
    "pull_request: testing, CI passed",
    "pull_request: in-review, approved",
    "pull_request: approved, merged",
)
async def test_a_story_becomes_one_merged_pull_request(engine: Engine, tmp_path: Path) -> None:
    engine.scenario = demo_script(tmp_path)
    engine.repository_settings |= {"approval": "comment", "merge": "auto"}
    story = tell(engine)
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: has(engine, story, "status:awaiting-approval"), planner)
        engine.lab.comment(REPOSITORY, story, "/approve", author="mallory")
        await engine.tick(planner)
        assert len(engine.lab.at(REPOSITORY).issues.records.values()) == 1, "a stranger approved"
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, story, "/approve", author=OWNER)
        await engine.until(lambda: has(engine, story, "status:specified"), planner)
        await _build(engine)
        await engine.in_time(lambda: not is_open(engine, story), planner)
    assert [pull.merge_sha is not None for pull in engine.lab.at(REPOSITORY).pulls.records.values()] == [True]


async def _build(engine: Engine) -> None:
    specification = 2
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: not is_open(engine, specification), worker, reviewer)
    fence = await engine.fence(Role.WORKER, specification)
    assert fence is not None
    assert (fence.stage, fence.attempt, fence.round) == (Stage.DONE, 2, 1)
    repository = engine.lab.at(REPOSITORY)
    bots = [c for c in repository.comments.of(specification) if c.author == ENGINE]
    assert len(bots) == 1, "the lock, the work, the round of changes and the end share one comment"
    assert await repository.bare.sha("refs/heads/auto/issue-2") is None, "the branch is deleted after the merge"
    inline = list(repository.pulls.inline.values())
    assert [one.resolved for one in inline if one.in_reply_to is None] == [True], "the review found it settled"
    assert {one.hidden for one in repository.pulls.reviews.values()} == {""}
    answers = [one.body.partition("\n")[2] for one in inline if one.in_reply_to is not None]
    assert [one[:9] for one in answers] == ["Fixed in "]
    talk = [one.body for one in repository.comments.of(3) if one.author == ENGINE]
    assert not [one for one in talk if "engine-answer" in one], "it is answered where it was said, and nowhere else"
    message = (await repository.bare.git.check("log", "-1", "--format=%B", "main")).text
    assert message.startswith("Search users by name (#3)\n\nPeople can be found by a part of their name, in any case.")


@pytest.mark.long
@pytest.mark.edges(
    "story: planning, specifications created",
)
async def test_nothing_is_merged_by_default(engine: Engine, tmp_path: Path) -> None:
    engine.scenario = demo_script(tmp_path)
    engine.repository_settings |= {"approval": "auto", "review": {"hide_outdated": True}}
    story = tell(engine)
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: has(engine, story, "status:specified"), planner)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: has(engine, 3, "status:approved"), worker, reviewer)
        await engine.tick(worker, reviewer)
        await engine.tick(worker, reviewer)
    pull = engine.lab.at(REPOSITORY).pulls.require(3)
    assert pull.merged_at is None
    reviews = engine.lab.at(REPOSITORY).pulls.reviews_of(3)
    assert [one.hidden for one in reviews if one.state == "CHANGES_REQUESTED"] == ["outdated"]
    assert [one.hidden for one in reviews if one.state == "APPROVED"] == [""]
    assert is_open(engine, 2)
