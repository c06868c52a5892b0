"""A person at a terminal beside a planner that polls: nobody begins a story between its opening and the claim."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine import OWNER, REPOSITORY, Engine, demo_script
from terminal_scene import conversation, issues

from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long


class Meanwhile:
    """A planner on another machine that looks right before each request that the terminal's planner sends."""

    def __init__(self, planner: Loop) -> None:
        self.planner = planner
        self.looks = 0
        self._looking = False

    async def __call__(self, method: str, path: str) -> None:
        if self._looking or method == "GET":
            return
        self._looking = True
        await self.planner.tick()
        await self.planner.quiet()
        self.looks += 1
        self._looking = False


@pytest.fixture
def engine(engine: Engine, tmp_path: Path) -> Engine:
    """Return an engine with a coder that knows the demo's first story."""
    engine.scenario = demo_script(tmp_path)
    return engine


@pytest.mark.parametrize("existing", [False, True], ids=["typed", "an issue without a label"])
async def test_no_other_planner_begins_what_a_terminal_has_agreed_on(engine: Engine, existing: bool) -> None:
    told = ["Add user search", ""]
    if existing:
        told = [str(engine.lab.issue(REPOSITORY, "Add user search", "By name.", author=OWNER).number)]
    async with engine.agent(Role.PLANNER, state="machine-2") as planner:
        meanwhile = Meanwhile(planner)
        engine.lab.interludes.append(meanwhile)
        ended = await conversation(engine, *told, "y")
        assert planner.ended == []
    assert ended is not None
    assert ended.result is Result.HANDED_OVER
    assert meanwhile.looks >= 5, "it looked between opening, claim, label, plan and specifications"
    story, specification = issues(engine)
    assert set(story.labels) == {"story", "status:specified"}
    assert set(specification.labels) == {"status:ready"}
    comments = [one.body for one in engine.lab.at(REPOSITORY).comments.of(story.number)]
    assert len([body for body in comments if "\nACK:" in body]) == 1
    assert len([body for body in comments if "This plan was approved at a terminal" in body]) == 1
