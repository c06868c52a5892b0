"""Stage labels that say something else than the fence: repaired when they are ours, obeyed when a person moved them."""

from __future__ import annotations

import orphan_scene
import pytest
from engine import OWNER, REPOSITORY, Engine
from orphan_scene import forget_comments, issue, lose_label, one_life, pull_request, stage, writes
from structlog.testing import capture_logs
from worker_scene import SLOW, calls, claims, comments, during_the_call, eventually, labels

from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine whose coder never ends if it is asked."""
    engine.script(SLOW)
    return engine


@pytest.mark.fault(15)
async def test_a_label_whose_definition_was_deleted_comes_back_from_the_fence(engine: Engine) -> None:
    number = issue(engine, "status:reviewing")
    pull = await pull_request(engine, number, "status:reviewing")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull)
    lose_label(engine, "status:reviewing")
    assert await one_life(engine, Role.WORKER) == [Result.HANDED_OVER]
    assert labels(engine, number) == labels(engine, pull) == {"status:reviewing"}
    assert calls(engine, "implement") == 0
    assert await stage(engine, Role.WORKER, number) is Stage.REVIEWING


@pytest.mark.fault(15)
async def test_a_run_whose_label_is_deleted_goes_on(engine: Engine) -> None:
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        lose_label(engine, "status:implementing")
        engine.lab.comment(REPOSITORY, number, "Where is the label?", author=OWNER)  # so that the list shows it anew
        await engine.look(worker)
        assert worker.busy == 1
        engine.lab.label(REPOSITORY, number, "status:implementing", actor=OWNER)
        engine.lab.unlabel(REPOSITORY, number, "status:implementing", actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN], "now it was a person"


@pytest.mark.fault(16)
async def test_the_second_stage_label_of_an_issue_in_review_is_taken_off(engine: Engine) -> None:
    number = issue(engine, "STATUS:Reviewing", "status:failed", "status:fooo", "bug")
    pull = await pull_request(engine, number, "status:reviewing")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull)
    with capture_logs() as events:
        assert await one_life(engine, Role.WORKER) == [Result.HANDED_OVER]
    left = {name.casefold() for name in labels(engine, number)}
    assert left == {"status:reviewing", "status:fooo", "bug"}
    hints = [event for event in events if event["event"] == "unknown_stage_label"]
    assert [(hint["number"], hint["label"]) for hint in hints] == [(number, "status:fooo")]


@pytest.mark.fault(16)
async def test_a_label_in_capitals_is_the_label(engine: Engine) -> None:
    number = issue(engine, "STATUS:REVIEWING")
    pull = await pull_request(engine, number, "Status:Reviewing")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull)
    assert await one_life(engine, Role.WORKER) == []
    assert writes(engine) == []


@pytest.mark.fault(12)
@pytest.mark.fault(13)
@pytest.mark.parametrize("how", ["deleted", "transferred"])
async def test_an_issue_that_goes_away_during_a_paid_call_ends_it_and_nothing_is_written_there(
    engine: Engine, how: str
) -> None:
    number = engine.ready("Greet people")
    await engine.lab.repository("ada/elsewhere", {"README.md": "else"}, collaborators={"engine-bot": "write"})
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        await eventually(lambda: any(engine.directory.glob("machine-1/workspaces/*/issue-*/tree/.git/index")))
        (tree,) = engine.directory.glob("machine-1/workspaces/*/issue-*/tree")
        (tree / "half.py").write_text("done = 'by half'\n")
        if how == "deleted":
            engine.lab.delete(REPOSITORY, number)
        else:
            arrived = engine.lab.transfer(REPOSITORY, number, "ada/elsewhere", actor=OWNER).number
        before = len(writes(engine))
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
        await engine.tick(worker)
        assert worker.busy == 0
    assert await stage(engine, Role.WORKER, number) is Stage.WITHDRAWN
    (patch,) = engine.directory.glob("machine-1/kept/*/issue-*/*/patch.diff")
    assert "+done = 'by half'" in patch.read_text()
    assert all(f"/repos/{REPOSITORY}/" in one for one in writes(engine)[before:])
    forget_comments(engine, number)
    if how == "transferred":
        elsewhere = engine.lab.at("ada/elsewhere")
        assert len(elsewhere.comments.of(arrived)) == 1, "only the ACK that went along with it"
        assert elsewhere.issues.require(arrived).open


@pytest.mark.fault(17)
async def test_ready_on_an_issue_in_review_begins_nothing_while_its_pull_request_is_open(engine: Engine) -> None:
    number = issue(engine, "status:reviewing", "status:ready")
    pull = await pull_request(engine, number, "status:reviewing")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull)
    await one_life(engine, Role.WORKER, ticks=2)
    assert labels(engine, number) == {"status:reviewing"}
    assert claims(engine, number) == 2, "by the agent that is gone, and once more"
    assert [one.body for one in comments(engine, pull)] == []
    assert calls(engine, "write_tests") == 0
