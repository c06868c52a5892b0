"""A reply is lost, or a process ends, and no list shows yet what was made: it is there once all the same."""

from __future__ import annotations

import pytest
from engine import REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import CODE, REVIEW, TESTS, calls, comments, labels, pulls, status

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = [pytest.mark.long, pytest.mark.fault(11)]


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine whose coder knows one greeting, with an approving reviewer, and waits that take no time."""
    engine.clock = QuickClock(engine.lab.clock.advance)
    engine.script(TESTS + CODE + REVIEW)
    return engine


def reviews(engine: Engine) -> int:
    return len(engine.lab.at(REPOSITORY).pulls.reviews)


async def hand_over(engine: Engine) -> int:
    """Have a worker hand its pull request to review; return its number."""
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker, ticks=60)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    (pull,) = pulls(engine)
    return pull.number


async def test_a_comment_whose_reply_was_lost_is_gone_on_with_when_the_thread_shows_it(engine: Engine) -> None:
    number = engine.ready("Greet people")
    thread = rf"/issues/{number}/comments$"
    engine.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", thread))
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker, ticks=60)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert len(comments(engine, number)) == 1, "lock and status share it"
    assert f"#{pulls(engine)[0].number}" in status(engine, number)


@pytest.mark.prompt("the first process is to be gone before a second look shows it its review")
@pytest.mark.parametrize("machine", ["machine-1", "machine-2"])
async def test_a_review_that_a_dead_process_has_posted_is_neither_paid_for_nor_posted_again(
    engine: Engine, machine: str
) -> None:
    number = await hand_over(engine)
    engine.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", r"/reviews$"))
    async with engine.agent(Role.REVIEWER) as first:
        await engine.until(lambda: reviews(engine) == 1, first, ticks=60)
        assert first.ended == [], "it does not know that it was posted"
    asked = calls(engine, "review")
    engine.lab.faults.plan(Fault(FaultKind.STALE, "GET", r"/reviews$", missing=1, times=3))
    async with engine.agent(Role.REVIEWER, state=machine) as second:
        await engine.in_time(lambda: bool(second.ended), second)
    assert reviews(engine) == 1
    assert calls(engine, "review") == asked == 1
    assert labels(engine, number) == {"automated", "status:approved"}


async def test_a_review_that_never_arrived_is_posted_when_it_would_show(engine: Engine) -> None:
    await hand_over(engine)
    engine.lab.faults.plan(Fault(FaultKind.LOST_REQUEST, "POST", r"/reviews$"))
    async with engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(4):
            await engine.tick(reviewer)
        assert reviews(engine) == 0, "it may be there, and not shown"
        assert isinstance(engine.clock, QuickClock)
        engine.clock.skip(PATIENCE_SECONDS)
        await engine.until(lambda: bool(reviewer.ended), reviewer, ticks=60)
    assert reviews(engine) == calls(engine, "review") == 1


LATE = {
    "its labels": Fault(FaultKind.ERROR_BEFORE, "POST", r"/issues/2/labels$", status=404),
    "the list of the branch": Fault(FaultKind.STALE, "GET", r"/pulls$", missing=1, times=2),
}


@pytest.mark.parametrize("late", LATE)
async def test_a_pull_request_whose_reply_was_lost_is_found_when_it_is_shown(engine: Engine, late: str) -> None:
    number = engine.ready("Greet people")
    engine.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", r"/pulls$"))
    engine.lab.faults.plan(LATE[late])
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert [pull.number for pull in pulls(engine)] == [2]
    assert "status:failed" not in labels(engine, number)
    assert "status:reviewing" in labels(engine, 2)
