"""The planner on a whole GitHub: real HTTP, real git, a scripted coder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine, demo_script
from judge import Judge

from config.state import StateDirectory
from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.server import Lab
from lab.github.world.issues import IssueRecord
from planner_agent.build import build
from runtime.building.assembly import Process, opened
from shared.loop import Loop, RealClock
from shared.specification import read
from shared.workflow import Role, Stage


@asynccontextmanager
async def engine(directory: Path, **settings: Any) -> AsyncIterator[Engine]:
    judge = Judge()
    async with Lab(directory / "github") as lab:
        lab.exchanges.observe(judge)
        async with Engine.of(lab, directory, demo_script(directory), **settings) as engine:
            yield engine
        assert lab.unlisted == []
        assert lab.faults.unused == []
    assert judge.complaints == []
    assert judge.judged > 0


async def tick(engine: Engine, state: str = "machine-1") -> list[str]:
    """A planner on the machine `state` looks once; what became of the stories it took."""
    settings = engine.settings(state)
    environment = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    with StateDirectory(settings.state_dir).open().claim_identity(Role.PLANNER, None) as identity:
        async with opened(Process(settings, Role.PLANNER, RealClock(), identity, environment)) as (parts,):
            loop = Loop(build(parts), parts.clock)
            async with loop.open():
                await loop.tick()
                await loop.quiet()
    return [str(ended.result) for ended in loop.ended]


def story(engine: Engine, *, by: str = OWNER) -> int:
    """`by` writes a story and labels it; returns its number."""
    text = "People know a part of the name only."
    return engine.lab.issue(REPOSITORY, "Add user search", text, author=by, labels=("story",)).number


def specifications(engine: Engine) -> list[IssueRecord]:
    """The issues that the engine created."""
    issues = engine.lab.at(REPOSITORY).issues
    return [one for one in issues.records.values() if one.author == ENGINE and not one.is_pull]


async def test_a_story_is_specified_and_closed_with_its_specification(tmp_path: Path) -> None:
    async with engine(tmp_path, approval="auto") as one:
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


@pytest.mark.parametrize(("by", "told"), [("the engine", "the story is done"), (OWNER, "Closed by a maintainer")])
async def test_a_story_that_is_found_closed_says_who_closed_it(tmp_path: Path, by: str, told: str) -> None:
    """The engine stops between closing it and taking its label off; the next sweep finds both alike."""
    async with engine(tmp_path, approval="auto") as one:
        number = story(one)
        assert await tick(one) == ["handed over"]
        if by == OWNER:
            one.lab.close(REPOSITORY, number, actor=OWNER)
        else:
            (specification,) = specifications(one)
            one.lab.close(REPOSITORY, specification.number, actor=OWNER)
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
    """The planner's status comment of a story."""
    bodies = [one.body for one in engine.lab.at(REPOSITORY).comments.records.values() if one.number == number]
    (said,) = (body for body in bodies if "engine-status" in body.partition("\n")[0])
    return said


@pytest.mark.parametrize("by", ["mallory", OWNER])
async def test_a_plan_waits_for_the_approval_of_somebody_with_write_access(tmp_path: Path, by: str) -> None:
    async with engine(tmp_path) as one:
        number = story(one)
        assert await tick(one) == ["parked"]
        one.lab.comment(REPOSITORY, number, "/approve", author=by)
        assert await tick(one, "machine-2") == (["handed over"] if by == OWNER else [])
        assert len(specifications(one)) == (by == OWNER)


@pytest.mark.parametrize("kind", [FaultKind.LOST_REPLY, FaultKind.LOST_REQUEST])
async def test_a_lost_reply_makes_no_second_specification(tmp_path: Path, kind: FaultKind) -> None:
    async with engine(tmp_path, approval="auto") as one:
        story(one)
        one.lab.faults.plan(Fault(kind, "POST", "/issues$"))
        assert await tick(one) == []
        assert len(specifications(one)) == (kind is FaultKind.LOST_REPLY)
        assert await tick(one, "machine-2") == ["handed over"]
        assert len(specifications(one)) == 1
