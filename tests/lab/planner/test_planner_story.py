"""The planner on a whole GitHub: real HTTP, real git, a scripted coder."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine, demo_script
from fakes.clock import QuickClock

from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.world.issues import IssueRecord
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.specification import read
from shared.workflow import Role, Stage


@pytest.fixture
def one(engine: Engine, tmp_path: Path) -> Engine:
    """Return an engine with the demo's project and a coder that knows its first story."""
    engine.scenario = demo_script(tmp_path)
    return engine


async def tick(engine: Engine, state: str = "machine-1") -> list[str]:
    """Have a planner on the machine `state` look once; return the results of the stories that it took."""
    async with engine.agent(Role.PLANNER, state=state) as loop:
        await engine.tick(loop)
    return [str(ended.result) for ended in loop.ended]


def story(engine: Engine, *, by: str = OWNER) -> int:
    """Write a story as `by` and label it; return its number."""
    text = "People know a part of the name only."
    return engine.lab.issue(REPOSITORY, "Add user search", text, author=by, labels=("story",)).number


def specifications(engine: Engine) -> list[IssueRecord]:
    """Return the issues that the engine created."""
    issues = engine.lab.at(REPOSITORY).issues
    return [one for one in issues.records.values() if one.author == ENGINE and not one.is_pull]


async def test_a_story_is_specified_and_closed_with_its_specification(one: Engine) -> None:
    one.repository_settings["approval"] = "auto"
    number = story(one)
    assert await tick(one) == ["handed over"]
    assert set(one.issue(number).labels) == {"story", "status:specified"}
    (specification,) = specifications(one)
    assert (specification.title, set(specification.labels)) == ("Search users by name", {"status:ready"})
    assert len(read(specification.body or "").criteria) == 3
    assert await tick(one) == []
    one.lab.close(REPOSITORY, specification.number, actor=OWNER)
    assert await tick(one, "machine-2") == ["finished"]
    assert not one.issue(number).open
    fence = await one.fence(Role.PLANNER, number)
    assert fence is not None
    assert fence.stage is Stage.DONE


@pytest.mark.prompt("one request is lost at one moment")
@pytest.mark.parametrize(("by", "told"), [("the engine", "the story is done"), (OWNER, "Closed by a maintainer")])
async def test_a_story_that_is_found_closed_says_who_closed_it(one: Engine, by: str, told: str) -> None:
    """The engine stops between closing it and taking its label off; the next sweep finds both alike."""
    one.repository_settings["approval"] = "auto"
    number = story(one)
    assert await tick(one) == ["handed over"]
    if by == OWNER:
        one.lab.close(REPOSITORY, number, actor=OWNER)
    else:
        (specification,) = specifications(one)
        one.lab.close(REPOSITORY, specification.number, actor=OWNER)
        one.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", "/graphql$", status=403))  # by REST, one by one
        one.lab.faults.plan(Fault(FaultKind.LOST_REQUEST, "DELETE", "/labels/"))
        assert await tick(one) == []
    assert set(one.issue(number).labels) == {"story", "status:specified"}
    assert await tick(one, "machine-2") == []
    fence, said = await one.fence(Role.PLANNER, number), told_of(one, number)
    assert set(one.issue(number).labels) == {"story"}
    assert fence is not None
    assert fence.stage is Stage.DONE
    assert told in said


def told_of(engine: Engine, number: int) -> str:
    """Return the planner's status comment of a story."""
    bodies = [one.body for one in engine.lab.at(REPOSITORY).comments.records.values() if one.number == number]
    (said,) = (body for body in bodies if "engine-status" in body.partition("\n")[0])
    return said


@pytest.mark.parametrize("by", ["mallory", OWNER])
async def test_a_plan_waits_for_the_approval_of_somebody_with_write_access(one: Engine, by: str) -> None:
    number = story(one)
    assert await tick(one) == ["parked"]
    one.lab.comment(REPOSITORY, number, "/approve", author=by)
    assert await tick(one, "machine-2") == (["handed over"] if by == OWNER else [])
    assert len(specifications(one)) == (by == OWNER)


@pytest.mark.prompt("one request is lost at one moment")
@pytest.mark.parametrize("kind", [FaultKind.LOST_REPLY, FaultKind.LOST_REQUEST])
async def test_a_lost_reply_makes_no_second_specification(one: Engine, kind: FaultKind) -> None:
    one.repository_settings["approval"] = "auto"
    one.clock = clock = QuickClock(one.lab.clock.advance)
    story(one)
    one.lab.faults.plan(Fault(kind, "POST", "/issues$"))
    assert await tick(one) == []
    assert len(specifications(one)) == (kind is FaultKind.LOST_REPLY)
    if kind is FaultKind.LOST_REQUEST:
        assert await tick(one, "machine-2") == []
        assert specifications(one) == [], "it may be there, and not shown"
        clock.skip(PATIENCE_SECONDS)
    assert await tick(one, "machine-2") == ["handed over"]
    assert len(specifications(one)) == 1
