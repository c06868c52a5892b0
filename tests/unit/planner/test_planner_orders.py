"""The planner and people who stop it, begin anew or close specifications."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fakes.agent import claimed
from fakes.closing import FakeClosing
from fakes.lock_server import BOT
from fakes.planner_coder import plan
from fakes.planner_github import Bench
from fakes.planner_world import ADA, MALLORY, NAMES

from planner_agent.agent import Planner
from shared.errors import Transient
from shared.lock.hold import Held
from shared.lock.write_permit import WritePermit
from shared.models import Issue, PullRequest
from shared.scheduling.agent_contract import Ended, Result, Skip
from shared.workflow import Stage

PLANNING = NAMES.of(Stage.PLANNING)
AWAITING = NAMES.of(Stage.AWAITING_APPROVAL)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@asynccontextmanager
async def leased(bench: Bench) -> AsyncIterator[tuple[Planner, Held]]:
    """Yield a planner that has just claimed the only story, and its lease."""
    planner = bench.planner()
    (candidate,) = await planner.discover()
    lease = await claimed(planner, candidate)
    assert not isinstance(lease, Skip)
    async with planner.hold(lease) as held:
        yield planner, held


async def test_the_story_is_closed_with_its_last_specification(bench: Bench) -> None:
    bench.auto = True
    number = bench.world.story()
    await bench.tick()
    search, export = bench.world.specifications()
    bench.world.change(search.number, open=False)
    assert await bench.tick() == []
    bench.world.change(export.number, open=False)
    (ended,) = await bench.tick()
    assert ended.result is Result.FINISHED
    assert not bench.world.issues[number].open
    assert bench.world.fence(number).stage is Stage.DONE
    (status,) = bench.world.bodies("engine-status")
    assert "- [x] #13\n- [x] #14" in status
    bench.world.change(number, open=True)
    assert await bench.tick() == []


async def test_a_specified_story_is_looked_at_again_only_when_its_specifications_have_ended(bench: Bench) -> None:
    bench.auto = True
    number = bench.world.story()
    await bench.tick()
    planner = bench.planner()
    assert await planner.discover() == ()
    bench.world.say(number, "Nice.")
    assert await planner.discover() == ()
    for specification in specifications(bench):
        bench.world.change(specification, open=False)
    (found,) = await planner.discover()
    assert found.number == number


async def test_a_look_before_its_specifications_are_listed_does_not_outlast_them(bench: Bench) -> None:
    bench.auto = True
    bench.world.story()
    await bench.tick()
    planner = bench.planner()
    bench.unlisted.update(specifications(bench))
    (early,) = await planner.discover()
    bench.unlisted.clear()
    assert await planner.discover() == ()
    for specification in specifications(bench):
        bench.world.change(specification, open=False)
    (late,) = await planner.discover()
    assert late.version != early.version  # else it would be skipped as one that was looked at already


def specifications(bench: Bench) -> list[int]:
    """Return the issues that the engine has created."""
    return [number for number, issue in bench.world.issues.items() if issue.author == BOT]


async def test_a_failed_story_is_planned_anew_when_a_person_says_so(bench: Bench) -> None:
    bench.coder.answers = [plan(steps=[])]
    number = bench.world.story()
    await bench.tick()
    bench.coder.answers = [plan()]
    bench.world.label(number, PLANNING, by=MALLORY)
    await bench.tick()
    assert len(bench.coder.asked) == 2
    bench.world.label(number, PLANNING, by=ADA, added=False)
    bench.world.label(number, PLANNING, by=ADA)
    (ended,) = await bench.tick()
    assert ended.result is Result.PARKED
    assert bench.world.labels(number) == {AWAITING}
    assert bench.world.fence(number).round == 0


@pytest.mark.parametrize(
    ("label", "added", "reason"),
    [
        ("flag:paused", True, "'flag:paused' was set"),
        (NAMES.story, False, "the label 'story' was removed"),
        (PLANNING, False, "a person moved or removed the stage label"),
    ],
)
async def test_a_person_can_stop_it_while_it_works(bench: Bench, label: str, added: bool, reason: str) -> None:
    number = bench.world.story()
    async with leased(bench) as (planner, held):
        assert await planner.revoked(number) is None
        await planner.step(held)
        bench.world.label(number, label, added=added)
        assert await planner.revoked(number) == reason
        await planner.stop(held, reason)
        stage = held.fence.stage
    assert stage is (Stage.PLANNING if added else Stage.WITHDRAWN)
    (status,) = bench.world.bodies("engine-status")
    assert ("Paused. Remove the label" if added else f"Stopped: {reason}") in status
    assert await bench.tick() == []


async def test_a_deleted_or_closed_story_is_noticed(bench: Bench) -> None:
    number = bench.world.story()
    async with leased(bench) as (planner, held):
        await planner.step(held)
        bench.world.change(number, open=False)
        assert await planner.revoked(number) == "the story was closed or locked"
        bench.world.issues.pop(number)
        assert await planner.revoked(number) == "the story is gone"
    assert await planner.revoked(number) is None


class BesideALook(FakeClosing):
    """A tick of the loop comes while the story, closed already, is tidied up; what it says of the story."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(closed=bench.close)
        self.bench, self.planner, self.said = bench, bench.planner(), ["not asked"]

    async def unlabel(self, item: Issue | PullRequest, permit: WritePermit) -> None:
        await super().unlabel(item, permit)
        self.said = [str(await self.planner.revoked(item.number))]


async def test_what_the_planner_closes_itself_is_no_order_to_stop(bench: Bench) -> None:
    bench.auto = True
    number = bench.world.story()
    await bench.tick()
    for specification in specifications(bench):
        bench.world.change(specification, open=False)
    closing = bench.closing = BesideALook(bench)
    async with leased(bench) as (planner, held):
        closing.planner = planner
        step = await planner.step(held)
        assert isinstance(step, Ended)
        assert (step.result, closing.said) == (Result.FINISHED, ["None"])
        assert held.fence.stage is Stage.DONE
    assert bench.world.dismissed == [number], "nobody reads again what was closed by our own hand"
    bench.world.change(number, open=True)
    assert bench.world.fence(number).stage is Stage.DONE


async def test_a_step_notices_a_person_s_order_itself(bench: Bench) -> None:
    number = bench.world.story()
    async with leased(bench) as (planner, held):
        bench.world.label(number, NAMES.story, added=False)
        assert await planner.step(held) == Ended(Result.WITHDRAWN, "the label 'story' was removed")
        assert held.fence.stage is Stage.WITHDRAWN
    bench.world.label(number, NAMES.story)
    (ended,) = await bench.tick()
    assert ended.result is Result.PARKED


async def test_a_label_that_was_removed_while_nobody_held_the_story_stops_it(bench: Bench) -> None:
    number = bench.world.story()
    bench.world.faults = {"posted": [Transient("down")]}
    await bench.tick()
    assert bench.world.labels(number) == {PLANNING}
    bench.world.label(number, PLANNING, added=False)
    writes = len(bench.world.writes)
    assert await bench.tick() == []
    assert len(bench.world.writes) == writes
