"""Dependencies of an issue: never on itself or its story; a cycle is reported to people once."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import SLOW, acks, claims, comments, during_the_call, status

from shared.workflow import Role


@pytest.mark.parametrize("body", ["Depends on #{own}", "Part of #{story}\n\nDepends on #{story}"])
async def test_an_issue_waits_neither_for_itself_nor_for_its_story(engine: Engine, body: str) -> None:
    engine.script(SLOW)
    story = engine.lab.issue(REPOSITORY, "Greetings", author=OWNER).number
    number = engine.ready("Greet people", body.format(own=story + 1, story=story))
    assert number == story + 1
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
    assert claims(engine, number) == 1


async def test_two_issues_that_wait_for_each_other_are_told_once(engine: Engine) -> None:
    engine.script(SLOW)
    one = engine.ready("First", "Depends on #2")
    two = engine.ready("Second", f"Depends on #{one}")
    stranger = engine.ready("Third", "Depends on #4", by="mallory")
    engine.ready("Fourth", f"Depends on #{stranger}", by="mallory")
    assert two == 2
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(3):
            await engine.tick(worker)
            engine.lab.clock.advance(2)
            engine.lab.comment(REPOSITORY, one, "Hm.", author=OWNER)
        assert worker.busy == 0
    assert "this issue depends on #2, and #2 on this one" in status(engine, one)
    assert "this issue depends on #1, and #1 on this one" in status(engine, two)
    assert "rev=1" in status(engine, one)
    told = [[one.body for one in comments(engine, number)] for number in (stranger, stranger + 1)]
    assert all("who has no write access" in text and "depends on" not in text for (text,) in told), (
        "circles are no news"
    )
    assert [acks(engine, number) for number in (one, two)] == [[], []]


@pytest.mark.long
async def test_three_issues_in_a_circle_are_each_told_once(engine: Engine) -> None:
    engine.script(SLOW)
    for title, blocker in (("First", 2), ("Second", 3), ("Third", 1)):
        engine.ready(title, f"Depends on #{blocker}")
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(3):
            await engine.tick(worker)
            engine.lab.clock.advance(2)
            engine.lab.comment(REPOSITORY, 2, "Hm.", author=OWNER)
        assert worker.busy == 0
    assert "this issue depends on #2, #2 on #3, and #3 on this one" in status(engine, 1)
    assert "this issue depends on #3, #3 on #1, and #1 on this one" in status(engine, 2)
    assert "this issue depends on #1, #1 on #2, and #2 on this one" in status(engine, 3)
    assert all("rev=1" in status(engine, number) for number in (1, 2, 3))
    assert [acks(engine, number) for number in (1, 2, 3)] == [[], [], []]
