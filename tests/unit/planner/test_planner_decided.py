"""Decisions from a terminal: the ordinary planner carries them out; every other plan waits for a decision."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.planner_coder import plan
from fakes.planner_github import Bench, LockPort
from fakes.planner_world import MALLORY, NAMES

from planner_agent.plan import Plan, read
from planner_agent.policy import Approval, PreapprovedPlan
from shared.errors import Transient
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Ended, Result
from shared.specification import body_sha256
from shared.workflow import Stage
from shared.workflow.labels import Flag

SPECIFIED = NAMES.of(Stage.SPECIFIED)
AWAITING = NAMES.of(Stage.AWAITING_APPROVAL)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def decided(bench: Bench, number: int, **changes: Any) -> PreapprovedPlan:
    """Return the plan that a person at a terminal approved for the present story."""
    story = bench.world.issues[number]
    agreed: Plan = read(json.dumps(plan(**changes)))
    return PreapprovedPlan(agreed, body_sha256(story.title, story.body), "grace")


async def carried_out(bench: Bench, number: int, what: PreapprovedPlan) -> list[Ended]:
    """Have one planner's process with this decision look once."""
    planner = bench.planner(only=number, preapproved_plan=what, approval=Approval.GIVEN, rounds=1000)
    loop = Loop(planner, LockPort(bench.world))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
    return loop.ended


async def test_an_approved_plan_is_posted_and_created_without_a_paid_call(bench: Bench) -> None:
    number = bench.world.story()
    (ended,) = await carried_out(bench, number, decided(bench, number, summary="As agreed."))
    assert ended.result is Result.HANDED_OVER
    assert bench.world.labels(number) == {SPECIFIED}
    assert bench.world.fence(number).approved_by == "grace at the terminal"
    (posted,) = bench.world.bodies("engine-plan")
    assert "As agreed." in posted
    assert "This plan was approved at a terminal" in posted
    assert len(bench.world.specifications()) == 2
    assert bench.coder.asked == []


async def test_a_story_without_its_label_is_the_terminals_alone_and_labelled_once_it_is_claimed(bench: Bench) -> None:
    number = bench.world.open("User search", "I want to find users.")
    assert await bench.tick() == []
    (ended,) = await carried_out(bench, number, decided(bench, number))
    assert ended.result is Result.HANDED_OVER
    assert NAMES.story in bench.world.issues[number].labels
    assert bench.world.labels(number) == {SPECIFIED}


async def test_a_story_whose_label_a_person_takes_off_is_stopped_though_a_terminal_asked_for_it(bench: Bench) -> None:
    number = bench.world.open("User search", "I want to find users.")
    planner = bench.planner(only=number, preapproved_plan=decided(bench, number), approval=Approval.GIVEN, rounds=1000)
    bench.world.faults = {"create": [Transient("down"), Transient("down")]}
    loop = Loop(planner, LockPort(bench.world))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        bench.world.label(number, NAMES.story, added=False)
        await loop.tick()
        await loop.quiet()
    assert [one.result for one in loop.ended] == [Result.WITHDRAWN]
    assert bench.world.specifications() == []


async def test_questions_that_were_left_open_hold_nothing_up(bench: Bench) -> None:
    number = bench.world.story()
    asks = {"question": "Which field?", "assumption": "The name.", "blocking": True}
    (ended,) = await carried_out(bench, number, decided(bench, number, ambiguities=[asks]))
    assert ended.result is Result.HANDED_OVER
    assert NAMES.of(Flag.NEEDS_ANSWER) not in bench.world.labels(number)


@pytest.mark.parametrize(("summary", "plans"), [("Find users by a part of the name.", 1), ("Another way.", 2)])
async def test_a_plan_that_waits_is_approved_or_replaced(bench: Bench, summary: str, plans: int) -> None:
    number = bench.world.story()
    await bench.tick()
    (ended,) = await carried_out(bench, number, decided(bench, number, summary=summary))
    assert ended.result is Result.HANDED_OVER
    assert len(bench.world.bodies("engine-plan")) == plans
    assert len(bench.world.specifications()) == 2
    assert len(bench.coder.asked) == 1


async def test_a_story_of_a_stranger_that_failed_before_is_planned_when_a_terminal_says_so(bench: Bench) -> None:
    bench.coder.answers = [plan(steps=[])]
    number = bench.world.story()
    (ended,) = await bench.tick()
    assert ended.result is Result.FAILED
    for label in (NAMES.of(Stage.FAILED), NAMES.of(Flag.MANUAL_INTERVENTION)):
        bench.world.label(number, label, added=False)
    bench.world.label(number, NAMES.story, by=MALLORY, added=False)
    bench.world.label(number, NAMES.story, by=MALLORY)
    assert await bench.tick() == []
    (ended,) = await carried_out(bench, number, decided(bench, number))
    assert ended.result is Result.HANDED_OVER


async def test_a_decision_on_another_text_creates_nothing(bench: Bench) -> None:
    number = bench.world.story()
    what = decided(bench, number)
    bench.world.change(number, body="I want to find groups.")
    (ended,) = await carried_out(bench, number, what)
    assert ended.result is Result.FAILED
    assert "was changed after its plan had been approved" in ended.sentence
    assert bench.world.specifications() == []
    assert bench.world.bodies("engine-plan") == []


async def test_a_crash_after_the_decision_is_finished_by_any_planner(bench: Bench) -> None:
    number = bench.world.story()
    bench.world.faults = {"create": [None, Transient("down")]}
    assert await carried_out(bench, number, decided(bench, number)) == []
    assert len(bench.world.specifications()) == 1
    bench.world.server.seconds += PATIENCE_SECONDS
    (ended,) = await bench.tick()
    assert ended.result is Result.HANDED_OVER
    assert len(bench.world.specifications()) == 2
    assert bench.coder.asked == []


async def test_where_a_terminal_decides_no_comment_approves(bench: Bench) -> None:
    number = bench.world.story()

    async def tick() -> list[Ended]:
        loop = Loop(bench.planner(approval=Approval.TERMINAL), LockPort(bench.world))
        async with loop.open():
            await loop.tick()
            await loop.quiet()
        return loop.ended

    (ended,) = await tick()
    assert ended.result is Result.PARKED
    bench.world.say(number, "/approve")
    assert await tick() == []
    assert bench.world.labels(number) == {AWAITING}
    assert bench.world.specifications() == []
    bench.world.say(number, "/reject too much")
    (ended,) = await tick()
    assert "too much" in bench.coder.asked[1].prompt
    (ended,) = await carried_out(bench, number, decided(bench, number))
    assert ended.result is Result.HANDED_OVER
