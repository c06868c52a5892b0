"""The worker among people and beside other workers: who starts, stops, pauses and resumes its work."""

from __future__ import annotations

import anyio
import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import (
    CODE,
    SLOW,
    TESTS,
    branch,
    calls,
    claims,
    comments,
    drop_branch,
    during_the_call,
    eventually,
    fence,
    is_released,
    labels,
    once,
    pulls,
    status,
)

from lab.github.ci.behaviours import NEVER
from lab.github.fault_injection.faults import Fault, FaultKind
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting, and a CI that takes no time."""
    engine.script(TESTS + CODE)
    return engine


@pytest.mark.long
@pytest.mark.fault(14)
async def test_an_issue_closed_during_a_paid_call_is_let_go(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        engine.lab.close(REPOSITORY, number, actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
    assert (await fence(engine, number)).stage is Stage.WITHDRAWN
    assert await is_released(engine, number)
    assert pulls(engine) == []
    assert await branch(engine, number) is None


@pytest.mark.fault(17)
async def test_a_stage_label_taken_off_by_a_person_is_an_order_to_stop(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        engine.lab.unlabel(REPOSITORY, number, "status:implementing", actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
        engine.script(TESTS + CODE)
        await engine.tick(worker)
        assert len(worker.ended) == 1, "it began again without being asked"
    assert labels(engine, number) == set()
    assert await is_released(engine, number)


@pytest.mark.fault(17)
async def test_ready_set_again_while_it_is_held_changes_nothing(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.WORKER, state="machine-2") as other:
        await during_the_call(engine, worker)
        engine.lab.label(REPOSITORY, number, "status:ready", actor=OWNER)
        await engine.tick(other)
        assert (other.ended, other.busy) == ([], 0)
        await engine.look(worker)
        assert worker.busy == 1
    assert claims(engine, number) == 1


@pytest.mark.long
async def test_a_paused_issue_is_released_and_goes_on_later(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        engine.lab.label(REPOSITORY, number, "flag:paused", actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
        assert await is_released(engine, number)
        assert "Paused" in status(engine, number)
        await engine.tick(worker)
        assert worker.busy == 0
        engine.lab.unlabel(REPOSITORY, number, "flag:paused", actor=OWNER)
        await engine.until(lambda: bool(worker.resting), worker)
    assert calls(engine, "implement") == 1
    assert len(pulls(engine)) == 1


async def test_a_label_set_by_a_stranger_starts_nothing(engine: Engine) -> None:
    number = engine.ready("Mine bitcoins", by="mallory")
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        await engine.tick(worker)
        assert worker.busy == 0
    (told,) = comments(engine, number)
    assert "`status:ready` was set by mallory, who has no write access: it starts nothing here." in told.body
    assert labels(engine, number) == {"status:ready"}
    assert await engine.fence(Role.WORKER, number) is None


@pytest.mark.long
async def test_an_open_blocker_holds_an_issue_back_until_it_is_closed(engine: Engine) -> None:
    blocker = engine.ready("First", by="mallory")
    number = engine.ready("Greet people", f"Depends on #{blocker}")
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        await engine.tick(worker)
        assert comments(engine, number) == []
        engine.lab.close(REPOSITORY, blocker, actor=OWNER)
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]


@pytest.mark.long
@pytest.mark.fault(32)
async def test_a_pull_request_closed_by_a_person_ends_the_work(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        engine.lab.close(REPOSITORY, pulls(engine)[0].number, actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
    assert await branch(engine, number) is not None
    assert "Stopped" in status(engine, number)


@pytest.mark.long
@pytest.mark.fault(37)
async def test_another_worker_goes_on_from_the_red_commit(engine: Engine) -> None:
    engine.script(TESTS + CODE.replace("implement", "implement\n  takes: 600"))
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as first:
        await engine.look(first)
        await eventually(lambda: any("failing as expected" in one.body for one in comments(engine, number)))
    red = (await fence(engine, number)).work_head
    assert await is_released(engine, number)
    engine.script(CODE)  # no answer to write_tests: a second call would fail
    worker = await once(engine, number, state="machine-2")
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    tip = await branch(engine, number)
    assert tip is not None
    history = await engine.lab.at(REPOSITORY).bare.log(None, tip, 3)
    assert [commit.message.partition("\n")[0] for commit in history[:2]] == [
        "Implement Greet people",
        "Add tests for Greet people",
    ]
    assert red in {commit.sha for commit in history}


@pytest.mark.fault(40)
async def test_two_workers_make_one_pull_request(engine: Engine) -> None:
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as one, engine.agent(Role.WORKER, state="machine-2") as two:
        async with anyio.create_task_group() as group:
            group.start_soon(one.tick)
            group.start_soon(two.tick)
        assert one.busy + two.busy <= 1
        await engine.until(lambda: bool(one.ended + two.ended), one, two)
    assert len(pulls(engine)) == 1
    assert calls(engine, "write_tests") == calls(engine, "implement") == 1
    assert await is_released(engine, number)
    assert engine.held_locks() == []


@pytest.mark.long
@pytest.mark.fault(37)
async def test_a_restarted_agent_continues_its_own_live_lock_at_once(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        # Killed before it could say so: GitHub does not take the release.
        engine.lab.configure(REPOSITORY, archived=True)
    engine.lab.configure(REPOSITORY, archived=False)
    assert not await is_released(engine, number)
    assert len(engine.held_locks()) == 1
    async with engine.agent(Role.WORKER, state="machine-2") as stranger:
        await engine.tick(stranger)
        assert (stranger.busy, stranger.resting) == (0, ())
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        assert len(worker.resting) == 1
    assert claims(engine, number) == 2, "it goes on under a fresh nonce"
    assert len(comments(engine, number)) == 1
    assert calls(engine, "write_tests") == 1


@pytest.mark.long
@pytest.mark.fault(32)
async def test_ready_after_a_closed_pull_request_starts_over_once_its_branch_is_gone(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        engine.lab.close(REPOSITORY, pulls(engine)[0].number, actor=OWNER)
        await engine.tick(worker)
        await drop_branch(engine, number)
        engine.lab.unlabel(REPOSITORY, number, "status:testing", actor=OWNER)
        engine.lab.label(REPOSITORY, number, "status:ready", actor=OWNER)
        await engine.until(lambda: bool(worker.resting), worker)
    assert len(pulls(engine)) == 2
    assert labels(engine, number) == {"status:testing"}


@pytest.mark.long
@pytest.mark.fault(32)
@pytest.mark.prompt("a person closes it before the worker looks again")
async def test_a_closed_pull_request_of_the_same_commit_is_asked_about(engine: Engine) -> None:
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        held_back = engine.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", r"/pulls$"))
        await engine.until(lambda: bool(pulls(engine)), worker)
        assert not held_back.unused
        engine.lab.close(REPOSITORY, pulls(engine)[0].number, actor=OWNER)
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.FAILED]
        assert "reopen it" in worker.ended[0].sentence
    assert len(pulls(engine)) == 1
