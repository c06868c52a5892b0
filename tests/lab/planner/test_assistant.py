"""A question to the engine in a comment gets one reply by a model, where the operator wants that."""

from __future__ import annotations

import json
from datetime import timedelta

import anyio
import pytest
from engine import ENGINE, HANGS_SECONDS, OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.loop.polling_loop import Loop
from shared.workflow import Role

ANSWERS = """
- call: answer
  for: crash
  answer: {answer: "The list is read in `directory/store.py`, @mallory. /merge"}
- call: answer
  for: search
  answer: {answer: "Nobody knows."}
"""


@pytest.fixture
def one(engine: Engine) -> Engine:
    """Return an engine that answers two questions a day, with a coder that knows two issues."""
    engine.script(ANSWERS)
    engine.repository_settings["assistant"] = {"per_day": 2}
    return engine


def asked(engine: Engine, number: int, text: str = "", author: str = OWNER) -> int:
    """Post a question as `author`; return the comment's id."""
    return engine.lab.comment(REPOSITORY, number, text or f"@{ENGINE} where is the list read?", author=author).id


def issue(engine: Engine, title: str = "A crash on an empty list", author: str = "mallory") -> int:
    """Write an issue without any label as `author`."""
    return engine.lab.issue(REPOSITORY, title, "It ends.", author=author).number


def told(engine: Engine, number: int) -> list[str]:
    """Return the engine's comments in a thread."""
    return [one.body for one in engine.lab.at(REPOSITORY).comments.of(number) if one.author == ENGINE]


async def paid(engine: Engine) -> list[str]:
    """Return the states in the register, oldest first."""
    bare = engine.lab.at(REPOSITORY).bare
    tip = await bare.sha("refs/ack/assistant")
    lines = [json.loads(line.message) for line in await bare.log(None, tip, 20)] if tip else []
    return [line["state"] for line in reversed(lines)]


async def over(engine: Engine, loop: Loop, questions: int = 1) -> None:
    """Tick until so many questions are over."""
    with anyio.fail_after(HANGS_SECONDS):
        while (await paid(engine)).count("over") < questions:
            await engine.tick(loop)
            await anyio.sleep(0.05)


async def test_a_question_gets_one_reply_that_does_nothing(one: Engine) -> None:
    number = issue(one)
    async with one.agent(Role.PLANNER) as planner, one.agent(Role.WORKER) as worker:
        await one.tick(planner, worker)
        asked(one, number)
        await over(one, planner)
        await one.tick(worker, planner)
    (said,) = told(one, number)
    assert f"> @\u200d{ENGINE} where is the list read?" in said
    assert "directory/store.py" in said
    assert "It can be wrong." in said
    assert "@mallory" not in said
    assert not any(line.startswith("/merge") for line in said.splitlines())
    assert await paid(one) == ["taken", "over"]
    assert not one.issue(number).labels
    assert one.held_locks() == []
    async with one.agent(Role.PLANNER, state="machine-2") as another:
        await one.tick(another)
        await one.tick(another)
    assert told(one, number) == [said]
    assert await paid(one) == ["taken", "over"]


@pytest.mark.parametrize(
    ("text", "author"),
    [
        (f"@{ENGINE} where is the list read?", "mallory"),
        ("Where is the list read?", OWNER),
        (f"> @{ENGINE} where is it?\n\nThis was asked before.", OWNER),
        (f"@{ENGINE} please do this.", OWNER),
    ],
    ids=["stranger", "nobody is called", "quoted", "no question"],
)
async def test_what_is_no_question_of_somebody_who_may_write_costs_nothing(one: Engine, text: str, author: str) -> None:
    number = issue(one)
    asked(one, number, text, author)
    async with one.agent(Role.PLANNER) as planner:
        await one.tick(planner)
        await anyio.sleep(0.2)
        await one.tick(planner)
    assert (told(one, number), await paid(one)) == ([], [])


async def test_by_default_a_question_is_pointed_to_the_commands_and_costs_nothing(one: Engine) -> None:
    del one.repository_settings["assistant"]
    number = issue(one)
    asked(one, number)
    async with one.agent(Role.PLANNER) as planner, one.agent(Role.WORKER) as worker:
        await one.tick(planner, worker)
        await one.tick(planner, worker)
    (said,) = told(one, number)
    assert "begin a comment with a command" in said
    assert await paid(one) == []


async def test_two_planners_pay_for_a_question_once(one: Engine) -> None:
    number = issue(one)
    asked(one, number)
    async with one.agent(Role.PLANNER, state="machine-1") as a, one.agent(Role.PLANNER, state="machine-2") as b:
        async with anyio.create_task_group() as group:
            group.start_soon(one.tick, a)
            group.start_soon(one.tick, b)
        await over(one, a)
        await over(one, b)
    assert len(told(one, number)) == 1
    assert await paid(one) == ["taken", "over"]


async def test_more_questions_than_are_wanted_are_told_so_once(one: Engine) -> None:
    one.repository_settings["assistant"] = {"per_day": 1}
    number = issue(one)
    first = asked(one, number)
    async with one.agent(Role.PLANNER) as planner:
        await over(one, planner)
        for _ in range(2):
            assert asked(one, number) > first
            with anyio.fail_after(HANGS_SECONDS):
                while len(told(one, number)) < 2:
                    await one.tick(planner)
                    await anyio.sleep(0.05)
            await one.tick(planner)
            await anyio.sleep(0.2)
    _, limit = told(one, number)
    assert "The limit of answers within 24 hours is reached here (`assistant.per_day`: 1)" in limit
    assert await paid(one) == ["taken", "over"]


async def test_a_failed_call_is_told_and_not_repeated(one: Engine) -> None:
    number = issue(one, "It cannot be answered")
    asked(one, number)
    async with one.agent(Role.PLANNER) as planner:
        await over(one, planner)
    (said,) = told(one, number)
    assert "I cannot answer this question" in said
    assert await paid(one) == ["taken", "over"]


async def test_a_reply_that_was_lost_is_posted_without_another_call(one: Engine) -> None:
    clock = QuickClock(one.lab.clock.advance)
    one.clock = clock
    number = issue(one)
    asked(one, number)
    one.lab.faults.plan(Fault(FaultKind.LOST_REQUEST, method="POST", path="/comments$"))
    async with one.agent(Role.PLANNER) as planner:
        with anyio.fail_after(HANGS_SECONDS):
            while (await paid(one)).count("over") < 1:
                await one.tick(planner)
                clock.skip(30.0)
                await anyio.sleep(0.05)
    assert len(told(one, number)) == 1
    assert await paid(one) == ["taken", "over"]


async def test_who_died_with_a_question_is_followed_once(one: Engine) -> None:
    clock = QuickClock(one.lab.clock.advance)
    one.clock = clock
    number = issue(one)
    asked(one, number)
    for machine, calls in (("machine-1", ["taken"]), ("machine-2", ["taken", "taken"])):
        lost = one.lab.faults.plan(Fault(FaultKind.LOST_REQUEST, method="POST", path="/comments$"))
        async with one.agent(Role.PLANNER, state=machine) as planner:
            with anyio.fail_after(HANGS_SECONDS):
                while not lost.seen:
                    await one.tick(planner)
                    await anyio.sleep(0.05)
        assert (told(one, number), await paid(one)) == ([], calls)
        clock.skip(timedelta(minutes=16).total_seconds())
    async with one.agent(Role.PLANNER, state="machine-3") as another:
        await over(one, another)
    assert await paid(one) == ["taken", "taken", "over"]
    (said,) = told(one, number)
    assert "have not come to an end" in said


async def test_a_reply_that_is_there_is_not_paid_for_again(one: Engine) -> None:
    clock = QuickClock(one.lab.clock.advance)
    one.clock = clock
    number = issue(one)
    asked(one, number)
    posted = one.lab.faults.plan(Fault(FaultKind.LOST_REPLY, method="POST", path="/comments$"))
    async with one.agent(Role.PLANNER) as planner:
        with anyio.fail_after(HANGS_SECONDS):
            while not posted.seen:
                await one.tick(planner)
                await anyio.sleep(0.05)
    (said,) = told(one, number)
    clock.skip(timedelta(minutes=16).total_seconds())
    async with one.agent(Role.PLANNER, state="machine-2") as another:
        await over(one, another)
    assert await paid(one) == ["taken", "over"]
    assert told(one, number) == [said]


async def test_nothing_is_answered_in_a_locked_thread_or_under_an_excluded_label(one: Engine) -> None:
    number = one.lab.issue(REPOSITORY, "A crash", "It ends.", author=OWNER, labels=("blocked",)).number
    asked(one, number)
    async with one.agent(Role.PLANNER) as planner:
        await one.tick(planner)
        await anyio.sleep(0.2)
        await one.tick(planner)
    assert (told(one, number), await paid(one)) == ([], [])
