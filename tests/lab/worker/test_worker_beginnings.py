"""The comment of an issue tells what the work that just began is about, by the phase of its fence."""

from __future__ import annotations

import re

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, comments, eventually, fence, once, pulls, status

from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

ENDLESS_REPAIR = """
- call: fix_ci
  takes: 600
  edits: [{path: directory/greeting.py, content: "def greet(name): pass\\n"}]
"""

ENDLESS_ROUND = """
- call: implement
  round: 1
  takes: 600
  edits: [{path: directory/greeting.py, content: "def greet(name): pass\\n"}]
"""


def began(engine: Engine, number: int) -> str:
    """Return the end of the comment's sentence about the work; empty if nobody works on it."""
    found = re.search(r"^\S+ is working on this since \d\d:\d\d UTC: (.*)\.$", status(engine, number), re.MULTILINE)
    return found[1] if found else ""


def waits(engine: Engine, number: int) -> bool:
    """Return whether the issue waits for an agent that repairs."""
    return any("Waiting for an agent with the role debugger" in one.body for one in comments(engine, number))


async def test_who_takes_over_a_repair_tells_that_it_repairs_what_ci_reports(engine: Engine) -> None:
    engine.script(TESTS + CODE + ENDLESS_REPAIR, ci="grep -q greets directory/greeting.py")
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER, plays="test-automation developer code-reviewer") as first:
        await engine.until(lambda: waits(engine, number), first)
    now = await fence(engine, number)
    assert (now.stage, now.phase) == (Stage.IMPLEMENTING, "fix")
    assert began(engine, number) == "", "nobody works on it"
    async with engine.agent(Role.WORKER, state="machine-2", plays="debugger") as second:
        await engine.look(second)
        await eventually(lambda: began(engine, number) == "repairing what CI reports")


async def test_a_round_of_review_tells_that_it_answers_the_review(engine: Engine) -> None:
    engine.script(TESTS + CODE + ENDLESS_ROUND)
    number = engine.ready("Greet people")
    await once(engine, number)
    (pull_request,) = pulls(engine)
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, pull_request.number, "Say Hi.", author=OWNER)
    engine.lab.unlabel(REPOSITORY, pull_request.number, "status:reviewing", actor=OWNER)
    engine.lab.label(REPOSITORY, pull_request.number, "status:changes-requested", actor=OWNER)
    async with engine.agent(Role.WORKER) as worker:
        await engine.look(worker)
        await eventually(lambda: began(engine, number) == "answering the review")
