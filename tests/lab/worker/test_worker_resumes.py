"""The next phase on another machine: fence and notes are enough, and nothing that was pushed is paid for again."""

from __future__ import annotations

import pytest
from engine import REPOSITORY, Engine
from worker_scene import CODE, TESTS, eventually, fence, is_released, labels, once, pulls

from lab.github.ci.behaviours import NEVER
from lab.github.fault_injection.faults import Fault, FaultKind
from shared.lock.fence import Fence
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

STUCK = """
- call: implement
  takes: 600
  edits: [{path: directory/greeting.py, content: "def greet(name): pass\\n"}]
"""

FIX = """
- call: fix_ci
  edits:
    - {path: directory/greeting.py, replace: {old: "def greet", new: "# greets\\ndef greet"}}
"""


def given(engine: Engine, machine: str) -> set[str]:
    """Return the calls for which a machine was given an answer."""
    return {file.name.split("-")[-2] for file in engine.directory.glob(f"{machine}/scripted/*-given")}


async def test_each_phase_goes_on_where_the_last_machine_stopped(engine: Engine) -> None:
    engine.script(TESTS + STUCK)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as first:
        await engine.look(first)
        await eventually(lambda: "Implementing now" in status_of(engine, number))
        red: Fence = await fence(engine, number)
    assert (red.stage, red.phase) == (Stage.IMPLEMENTING, "green")
    assert red.work_head

    engine.script(TESTS + CODE + FIX, ci="grep -q greets directory/greeting.py")
    async with engine.agent(Role.WORKER, state="machine-2") as second:
        await engine.look(second)  # no whole tick: where an answer is late, that goes on to the repair
        await eventually(lambda: bool(pulls(engine)))
        green = await fence(engine, number)
    assert green.base == red.base
    assert given(engine, "machine-2") == {"implement"}, "the tests were not written again"

    await once(engine, number, state="machine-3")
    assert labels(engine, number) == {"status:reviewing"}
    assert given(engine, "machine-3") == {"fix_ci"}, "neither tests nor code were made again"
    assert await is_released(engine, number)
    history = await engine.lab.at("ada/directory").bare.log(red.base, pulls(engine)[0].head_sha, 10)
    assert [commit.message.splitlines()[0] for commit in history] == [
        "Fix CI for Greet people",
        "Implement Greet people",
        "Add tests for Greet people",
    ]
    agents = {line for commit in history for line in commit.message.splitlines() if line.startswith("Agent: ")}
    assert len(agents) == 3, "each phase was another agent's"


async def test_a_machine_that_knew_the_repository_before_opens_the_pull_request_of_another(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    async with engine.agent(Role.WORKER, state="machine-2") as second:
        await engine.look(second)
    number = engine.ready("Greet people")
    engine.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, method="POST", path=r"/pulls$", status=502, times=99))
    async with engine.agent(Role.WORKER) as first:
        await engine.look(first)
        await eventually(lambda: bool(first.resting or first.ended))
        assert (await fence(engine, number)).stage is Stage.TESTING
    engine.lab.faults.clear()
    async with engine.agent(Role.WORKER, state="machine-2") as second:
        await engine.in_time(lambda: bool(second.ended), second)
    assert labels(engine, number) == {"status:reviewing"}
    assert given(engine, "machine-2") == set()


async def test_a_machine_that_knew_the_repository_before_goes_on_waiting_for_the_ci_of_another(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    async with engine.agent(Role.WORKER, state="machine-2") as second:
        await engine.look(second)
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as first:
        await engine.until(lambda: bool(first.resting or first.ended), first)
        assert first.ended == []
    async with engine.agent(Role.WORKER, state="machine-2") as second:
        await engine.until(lambda: bool(second.resting or second.ended), second)
        assert second.ended == [], "the fence's own history has no commit that its branch has"
        assert (await fence(engine, number)).stage is Stage.TESTING
    assert labels(engine, number) == {"status:testing"}
    assert len(pulls(engine)) == 1


def status_of(engine: Engine, number: int) -> str:
    """Return the status comment; empty if there is none."""
    found = [one.body for one in engine.lab.at("ada/directory").comments.of(number) if "engine-status" in one.body]
    return found[0] if found else ""
