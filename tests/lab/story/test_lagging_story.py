"""The whole story on a GitHub whose replicas lag: nobody may notice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from engine import ENGINE, REPOSITORY, Engine, demo_script
from fakes.clock import QuickClock
from story_scene import has, is_open, tell

from shared.loop.polling_loop import Loop
from shared.workflow import Role, Stage

SEEDS = range(2, 7)
HEARTBEAT_SECONDS = 300.0


async def until(engine: Engine, clock: QuickClock, done: Callable[[], bool], *agents: Loop) -> None:
    """Tick until `done`; an agent that a late answer told that there is nothing to do looks again after a while."""
    for tick in range(1, 161):
        if done():
            return
        await engine.tick(*agents)
        if tick % 40 == 0:
            clock.skip(HEARTBEAT_SECONDS + 1)
    assert done(), f"not there yet: {[one.ended for one in agents]}"


@pytest.mark.fault(11)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS)])
async def test_a_story_on_replicas_that_lag_becomes_one_merged_pull_request(
    engine: Engine, tmp_path: Path, seed: int
) -> None:
    engine.lab.lag.begin(seed)
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    engine.scenario = demo_script(tmp_path)
    engine.repository_settings |= {"approval": "auto", "merge": "auto"}
    story, specification = tell(engine), 2
    async with engine.agent(Role.PLANNER) as planner:
        await until(engine, clock, lambda: has(engine, story, "status:specified"), planner)
        async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
            await until(engine, clock, lambda: not is_open(engine, specification), worker, reviewer)
        await until(engine, clock, lambda: not is_open(engine, story), planner)
    fence = await engine.fence(Role.WORKER, specification)
    assert fence is not None
    assert (fence.stage, fence.attempt, fence.round) == (Stage.DONE, 2, 1)
    repository = engine.lab.at(REPOSITORY)
    assert [pull.merge_sha is not None for pull in repository.pulls.records.values()] == [True]
    assert len(repository.issues.records.values()) == 3, "story, specification, pull request"
    bots = [c for c in repository.comments.of(specification) if c.author == ENGINE]
    assert 1 <= len(bots) <= 2, "one comment, or two where a late answer did not show the first"
    assert engine.lab.lag.counts.total() > 5, "something was late"
