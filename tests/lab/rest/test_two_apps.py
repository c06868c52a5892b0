"""Worker and reviewer as two GitHub Apps: they take each other's word, and no other App's."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_scene import REVIEWER, STRANGER, WRITER, as_two_apps
from engine import REPOSITORY, Engine, demo_script
from worker_scene import CODE, TESTS, claims, comments, fence, labels, pulls

from lab.demo.stories import STORIES
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

CHANGES = "status:changes-requested"


async def test_a_story_goes_through_a_round_of_changes_to_its_merge(engine: Engine, tmp_path: Path) -> None:
    as_two_apps(engine)
    engine.scenario = demo_script(tmp_path)
    engine.repository_settings |= {"approval": "auto", "merge": "auto"}
    story = engine.lab.issue(REPOSITORY, STORIES[0].title, STORIES[0].body, author="ada", labels=("story",)).number
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: "status:specified" in labels(engine, story), planner)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(15):
            if not engine.issue(story + 1).open:
                break
            await engine.tick(worker, reviewer)
            engine.lab.clock.advance(5)  # a list that lags is not believed for some seconds
    assert not engine.issue(story + 1).open
    (pull,) = pulls(engine)
    assert (engine.issue(pull.number).author, pull.merged_by) == (WRITER, REVIEWER)
    assert (await fence(engine, story + 1)).round == 1
    told = [event for event in engine.lab.at(REPOSITORY).issues.events if event.event == "labeled"]
    assert {event.actor for event in told if event.detail["name"] == CHANGES} == {REVIEWER}


@pytest.mark.parametrize(
    ("actor", "known"),
    [
        pytest.param(STRANGER, True, id="an App of somebody else's"),
        pytest.param(REVIEWER, True, id="the reviewer's account, whose fence says nothing of it"),
        pytest.param(REVIEWER, False, id="a reviewer that the configuration does not name"),
    ],
)
async def test_a_label_of_an_app_alone_begins_nothing(engine: Engine, actor: str, known: bool) -> None:
    as_two_apps(engine, known=known)
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        (pull,) = pulls(engine)
        engine.lab.clock.advance(2)
        engine.lab.label(REPOSITORY, pull.number, CHANGES, actor=actor)
        before = claims(engine, number)
        for _ in range(3):
            await engine.tick(worker)
    assert [one.result for one in worker.ended] == [Result.HANDED_OVER]
    assert claims(engine, number) == before
    assert (await fence(engine, number)).stage is Stage.REVIEWING
    assert {one.author for one in comments(engine, number)} == {WRITER}
