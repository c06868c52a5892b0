"""A crash, a refusal or a person's order between two writes of the worker."""

from __future__ import annotations

import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, fence, labels, pulls

from lab.github.ci.behaviours import NEVER
from lab.github.fault_injection.faults import Fault, FaultKind
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

ROUND = """
- call: implement
  round: 1
  edits:
    - {path: directory/greeting.py, replace: {old: "return", new: "text ="}}
    - {path: directory/greeting.py, replace: {old: "{name}'", new: "{name}'; return text"}}
"""


@pytest.mark.prompt("it stops the agent between two writes of one tick")
async def test_a_hand_over_that_stops_between_its_two_labels_is_finished_by_the_next_agent(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(pulls(engine)), worker)
        # One by one by REST: the label of one item is set, that of the other never while this agent lives.
        engine.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", r"/graphql$", status=403, times=100))
        second = rf"/issues/{number}/labels$"
        engine.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", second, times=100))
        for _ in range(3):
            await engine.tick(worker)
            if (await fence(engine, number)).stage is Stage.REVIEWING:
                break
    both = [{one for one in labels(engine, n) if one.startswith("status:")} for n in (number, pulls(engine)[0].number)]
    assert sum("status:reviewing" in found for found in both) == 1, "it was to stop half-way"
    engine.lab.faults.clear()
    async with engine.agent(Role.WORKER) as again:
        await engine.until(lambda: "status:reviewing" in labels(engine, number), again)
    assert "status:reviewing" in labels(engine, pulls(engine)[0].number)


async def test_a_reviewer_who_cannot_be_asked_stops_nothing(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    engine.repository_settings |= {"reviewers": (ENGINE,)}
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert worker.ended[0].result is Result.HANDED_OVER
    assert labels(engine, number) == {"status:reviewing"}


async def test_a_pause_on_the_pull_request_of_a_round_of_changes_is_obeyed(engine: Engine) -> None:
    engine.script(TESTS + CODE + ROUND)
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        (pull,) = pulls(engine)
        engine.lab.ci_mood(REPOSITORY, NEVER)
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, pull.number, "Please see to it.", author=OWNER)
        engine.lab.label(REPOSITORY, pull.number, "status:changes-requested", actor=OWNER)
        await engine.until(lambda: "status:testing" in labels(engine, pull.number), worker)
        engine.lab.clock.advance(2)
        engine.lab.label(REPOSITORY, pull.number, "flag:paused", actor=OWNER)
        engine.lab.unlabel(REPOSITORY, pull.number, "status:testing", actor=OWNER)
        await engine.until(lambda: len(worker.ended) == 2, worker)
        assert worker.ended[1].result is Result.WITHDRAWN
    assert "status:testing" not in labels(engine, pull.number), "what a person took off was put back"
