"""Items that wait without a worker: their status is true, however it ended; a person's end is asked about once."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, branch, calls, claims, comments, fence, is_released, labels, pulls, status

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

FIX = """
- call: fix_ci
  edits:
    - {path: directory/greeting.py, replace: {old: "def greet", new: "# greets\\ndef greet"}}
"""


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting, and a CI that takes no time."""
    engine.script(TESTS + CODE)
    return engine


def answered(engine: Engine) -> int:
    """Return the number of requests that were answered in full; an unchanged answer costs nothing."""
    return len([one for one in engine.lab.exchanges if one.status != 304 and ".git/" not in one.path])


@pytest.mark.fault(37)
async def test_a_hand_over_that_nobody_was_told_of_is_told_by_the_next_worker(engine: Engine) -> None:
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(pulls(engine)), worker)
        assert "Waiting for CI" in status(engine, number)
        lost = Fault(FaultKind.ERROR_BEFORE, "PATCH", r"/issues/comments/\d+$", times=2)
        engine.lab.faults.plan(lost)  # what tells of the hand-over; the release would tell it too
        for _ in range(5):
            await worker.tick()
            await worker.quiet()
            if (await fence(engine, number)).stage is Stage.REVIEWING:
                break
    assert (await fence(engine, number)).stage is Stage.REVIEWING
    assert "Waiting for CI" in status(engine, number), "it was to end before it could say so"
    assert labels(engine, number) == {"status:testing"}, "by this label it is found again"
    async with engine.agent(Role.WORKER, state="machine-2") as again:
        await engine.until(lambda: "status:reviewing" in labels(engine, number), again)
        await engine.until(lambda: bool(again.ended), again)
    assert "CI is green" in status(engine, number)
    assert "| Stage | reviewing |" in status(engine, number)
    assert (len(comments(engine, number)), claims(engine, number)) == (1, 2)


@pytest.mark.fault(32)
async def test_a_pull_request_that_a_person_closes_while_it_rests_is_asked_about_once(engine: Engine) -> None:
    engine.script(TESTS + CODE + ROUND)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        (pull,) = pulls(engine)
        engine.lab.clock.advance(2)
        engine.lab.close(REPOSITORY, pull.number, actor=OWNER)
        await engine.until(lambda: len(worker.ended) == 2, worker)
        assert worker.ended[1].result is Result.WITHDRAWN
        assert worker.ended[1].sentence == f"pull request #{pull.number} was closed without being merged"
        told = status(engine, number)
        assert f"#{pull.number} was closed without being merged" in told
        assert "set `status:changes-requested` on it to have it changed" in told
        assert (await fence(engine, number)).stage is Stage.WITHDRAWN
        engine.lab.clock.advance(2)
        await engine.tick(worker)
        seen, said = answered(engine), len(comments(engine, number))
        for _ in range(3):
            engine.lab.clock.advance(60)
            await engine.tick(worker)
        assert answered(engine) == seen, "it asks once, and rests"
        assert (len(comments(engine, number)), status(engine, number)) == (said, told)
        assert labels(engine, number) == {"status:reviewing"}, "nothing else is touched"
        assert not engine.issue(pull.number).open, "nothing is reopened"
        assert await branch(engine, number) is not None
        assert await is_released(engine, number)
        # What it was told to do works.
        engine.lab.at(REPOSITORY).issues.reopen(pull.number, OWNER)
        engine.lab.comment(REPOSITORY, pull.number, "Please see to it.", author=OWNER)
        engine.lab.label(REPOSITORY, pull.number, "status:changes-requested", actor=OWNER)
        await engine.until(lambda: len(worker.ended) == 3, worker)
        assert worker.ended[2].result is Result.HANDED_OVER
    assert (len(pulls(engine)), calls(engine, "implement")) == (1, 1 + 1)
