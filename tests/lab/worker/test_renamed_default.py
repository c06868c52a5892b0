"""A default branch that is renamed while the agents run, and is named in no configuration: they go on with it."""

from __future__ import annotations

import pytest
from branch_scene import contains, push, rename_default, tip
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, REVIEW, TESTS, comments, labels, pulls

from lab.demo.stories import STORIES, scenario
from shared.workflow import Role

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine that refactors nothing."""
    engine.script(TESTS + CODE + REVIEW)
    return engine


async def test_a_worker_begins_at_the_branch_of_the_new_name(engine: Engine) -> None:
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        await rename_default(engine, "trunk")
        at = await push(engine, "trunk", {"README.md": "New.\n"})
        number = engine.ready("Greet people")
        await engine.until(lambda: "status:reviewing" in labels(engine, number), worker)
    (pull,) = pulls(engine)
    assert pull.base_branch == "trunk"
    assert await contains(engine, f"auto/issue-{number}", at)
    said = "\n".join(one.body for one in comments(engine, number))
    assert "base_branch" not in said
    assert "Not started" not in said


async def test_a_pull_request_that_followed_is_merged_there(engine: Engine) -> None:
    engine.repository_settings |= {"merge": "auto"}
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: "status:reviewing" in labels(engine, number), worker)
        await rename_default(engine, "trunk")
        await engine.until(lambda: not engine.issue(number).open, worker, reviewer)
    (pull,) = pulls(engine)
    assert pull.merged_at
    assert await contains(engine, "trunk", pull.merge_sha or "")
    assert not {one for one in labels(engine, number) if one.startswith(("status:", "flag:"))}


async def test_a_story_is_planned_from_the_branch_of_the_new_name(engine: Engine) -> None:
    engine.scenario.write_text(scenario(STORIES[:1]), encoding="utf-8")
    async with engine.agent(Role.PLANNER) as planner:
        await engine.tick(planner)
        await rename_default(engine, "trunk")
        text = "People know a part of the name only."
        story = engine.lab.issue(REPOSITORY, "Add user search", text, author=OWNER, labels=("story",)).number
        await engine.until(lambda: "status:awaiting-approval" in labels(engine, story), planner)
    assert await tip(engine, "trunk")


async def test_a_configured_branch_that_is_gone_is_told_and_not_replaced(engine: Engine) -> None:
    engine.repository_settings |= {"base_branch": "main"}
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        await rename_default(engine, "trunk")
        number = engine.ready("Greet people")
        await engine.until(lambda: "base_branch" in "".join(one.body for one in comments(engine, number)), worker)
    assert pulls(engine) == []
