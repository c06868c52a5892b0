"""A repository that is renamed while the agents run, whose configuration has its former name: they go on with it."""

from __future__ import annotations

import pytest
from engine import REPOSITORY, Engine
from worker_scene import CODE, REVIEW, TESTS

from shared.workflow import Role

pytestmark = pytest.mark.long


async def test_work_that_was_begun_is_merged_under_the_new_name(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW)
    engine.repository_settings |= {"merge": "auto"}
    number = engine.ready("Greet people")
    here = engine.lab.at(REPOSITORY)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: "status:reviewing" in here.issues.require(number).labels, worker)
        engine.lab.rename(REPOSITORY, "ada/renamed")
        await engine.until(lambda: not here.issues.require(number).open, worker, reviewer)
    engine.lab.rename("ada/renamed", REPOSITORY)
    (pull,) = here.pulls.records.values()
    assert pull.merged_at is not None
    assert not {one for one in here.issues.require(number).labels if one.startswith(("status:", "flag:"))}
    assert await here.bare.sha(f"refs/heads/auto/issue-{number}") is None
