"""A planner that gives a story up and is killed before it has said so: whoever comes next says it, once."""

from __future__ import annotations

import pytest
from fakes.planner_github import Bench
from fakes.planner_world import NAMES

from shared.errors import Blocked, UnknownOutcome
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.workflow import Stage
from shared.workflow.labels import Flag


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.fault(38)
@pytest.mark.parametrize("where", ["tell", "told", "label", "unlabel", "none"])
async def test_a_story_that_was_given_up_says_so_once_wherever_the_planner_was_killed(bench: Bench, where: str) -> None:
    number = bench.world.story()
    await bench.tick()
    for _ in range(3):
        bench.world.say(number, "/reject no")
        await bench.tick()
    bench.world.say(number, "/reject no")
    bench.world.faults = {where: [UnknownOutcome("killed")]}
    await bench.tick()
    assert bench.world.fence(number).stage is Stage.FAILED
    (told,) = bench.world.bodies("engine-status")
    assert "**What to do:**" in told, "an edit whose reply was lost is not given up"
    bench.world.server.seconds += PATIENCE_SECONDS
    for _ in range(2):
        await bench.tick()
    (status,) = bench.world.bodies("engine-status")
    assert "before it could say why" not in status
    assert "**What to do:**" in status
    assert bench.world.labels(number) == {NAMES.of(Stage.FAILED), NAMES.of(Flag.MANUAL_INTERVENTION)}
    assert await bench.tick() == []
    assert len(bench.coder.asked) == 4


@pytest.mark.fault(38)
async def test_a_story_that_was_given_up_before_its_first_label_is_not_forgotten(bench: Bench) -> None:
    bench.world.faults = {"label": [Blocked("refused")], "tell": [UnknownOutcome("killed")]}
    number = bench.world.story()
    await bench.tick()
    assert (bench.world.fence(number).stage, bench.world.labels(number)) == (Stage.FAILED, set())
    (status,) = bench.world.bodies("engine-status")
    assert "**What to do:**" in status
    bench.world.server.seconds += PATIENCE_SECONDS
    await bench.tick()
    assert len(bench.world.bodies("engine-status")) == 1
    assert bench.world.labels(number) == {NAMES.of(Stage.FAILED), NAMES.of(Flag.MANUAL_INTERVENTION)}
    bench.world.label(number, NAMES.of(Stage.FAILED), added=False)
    assert await bench.tick() == []
    assert bench.world.labels(number) == {NAMES.of(Flag.MANUAL_INTERVENTION)}, "what a person took off was put back"
    assert bench.coder.asked == []
