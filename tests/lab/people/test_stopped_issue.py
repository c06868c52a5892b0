"""An issue and its pull request: a stop of the one holds the other, a repair of the one leaves the other alone."""

from __future__ import annotations

from collections.abc import Callable

import orphan_scene
import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine
from orphan_scene import issue, lose_label, one_life, pull_request, stage, writes
from worker_scene import CODE, REVIEW, TESTS, claims, comments, labels, once, pulls, status

from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting and approves it."""
    engine.script(TESTS + CODE + REVIEW)
    return engine


async def test_an_approved_pull_request_is_not_merged_while_its_issue_is_stopped(engine: Engine) -> None:
    number = engine.ready("Greet people")
    await once(engine, number)
    (pull,) = pulls(engine)
    assert await one_life(engine, Role.REVIEWER) == [Result.HANDED_OVER]  # people merge, so far
    assert "status:approved" in labels(engine, pull.number)
    engine.repository_settings |= {"merge": "auto"}
    lab, issues, said = engine.lab, engine.lab.at(REPOSITORY).issues, len(comments(engine, pull.number))
    stops: list[tuple[Callable[[], object], Callable[[], object]]] = [
        (
            lambda: lab.label(REPOSITORY, number, "flag:paused", actor=OWNER),
            lambda: lab.unlabel(REPOSITORY, number, "flag:paused", actor=OWNER),
        ),
        (
            lambda: lab.unlabel(REPOSITORY, number, "status:reviewing", actor=OWNER),
            lambda: lab.label(REPOSITORY, number, "status:reviewing", actor=OWNER),
        ),
        (lambda: lab.close(REPOSITORY, number, actor=OWNER), lambda: issues.reopen(number, OWNER)),
    ]
    for told, (stop, take_back) in enumerate(stops):
        lab.clock.advance(2)
        stop()
        before = len(writes(engine))
        assert await one_life(engine, Role.REVIEWER, ticks=2) == ([] if told else [Result.HANDED_OVER])
        assert "It is not merged while its issue is closed, locked, paused" in status(engine, pull.number)
        written = {one.partition(" ")[0] for one in writes(engine)[before:]}
        assert written == (set() if told else {"PATCH"}), "nothing is merged, and it is said once, in its own comment"
        take_back()
    assert len(comments(engine, pull.number)) == said
    assert await one_life(engine, Role.REVIEWER) == [Result.FINISHED]
    assert engine.lab.at(REPOSITORY).pulls.require(pull.number).merge_sha is not None


@pytest.mark.fault(15)
@pytest.mark.parametrize("round", [0, 1])
@pytest.mark.parametrize("shown", ["status:in-review", "status:approved", "status:failed"])
async def test_the_lost_label_of_an_issue_comes_back_and_its_pull_request_keeps_the_reviewers(
    engine: Engine, round: int, shown: str
) -> None:
    engine.repository_settings |= {"reviewers": (ENGINE,)}
    number = issue(engine, "status:reviewing")
    pull = await pull_request(engine, number, shown)
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull, round=round)
    lose_label(engine, "status:reviewing")
    assert await one_life(engine, Role.WORKER) == [Result.HANDED_OVER]
    assert labels(engine, number) == {"status:reviewing"}
    assert labels(engine, pull) == {shown}
    assert await stage(engine, Role.WORKER, number) is Stage.REVIEWING
    assert not [one for one in writes(engine) if "requested_reviewers" in one], "they were asked once"
    assert claims(engine, number) == 2, "by the agent that is gone, and once more"
    assert len(comments(engine, number)) == 1, "nothing is announced again"


async def test_while_a_pull_request_in_review_is_paused_nobody_claims_its_issue_to_repair_it(engine: Engine) -> None:
    number = issue(engine, "status:reviewing")
    pull = await pull_request(engine, number, "status:approved", "flag:paused")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull, round=1)
    lose_label(engine, "status:reviewing")
    assert await one_life(engine, Role.WORKER, ticks=3) == []
    assert claims(engine, number) == 0
    assert labels(engine, pull) == {"status:approved", "flag:paused"}
    assert await stage(engine, Role.WORKER, number) is Stage.REVIEWING, "it goes on when the flag is taken off"
