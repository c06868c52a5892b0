"""One item in work: what each error of a step leads to, how it backs off, and how it is stopped."""

from __future__ import annotations

import anyio
import pytest
from fakes.agent import DONE, HANG, INTERVAL, FakeAgent
from item_task_scene import Work, ended
from structlog.testing import capture_logs

from shared.errors import Blocked, Gone, Lost, NotAllowed, RunFailed, Transient
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.scheduling.agent_contract import Ended, Rest, Result
from shared.workflow import Stage

UNTELLABLE = (Blocked("no"), RunFailed("no", category="turns-used-up", final=Blocked("no")))
"""Errors that go to a person at once: raised by the step itself, and by the paid run in it."""


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (Blocked("The branch is protected."), "The branch is protected."),
        (NotAllowed("403 on the label"), "403 on the label"),
        (KeyError("x"), "The engine met an error of its own: KeyError."),
    ],
)
async def test_what_repeating_would_not_change_goes_to_a_person(error: Exception, sentence: str) -> None:
    agent = FakeAgent([4], {4: [None, error]})
    assert await ended(agent) == Ended(Result.FAILED, sentence)
    assert agent.log == ["step 4", "step 4", f"fail 4: {sentence}", "release 4"]


async def test_an_error_of_our_own_is_logged_with_its_traceback() -> None:
    with capture_logs() as events:
        await ended(FakeAgent([4], {4: [KeyError("x")]}))
    failed = next(event for event in events if event["event"] == "step_failed")
    assert failed["exc_info"] is True


async def test_a_lost_lease_ends_silently() -> None:
    agent = FakeAgent([4], {4: [Lost("another agent has taken over")]})
    assert await ended(agent) == Ended(Result.LOST, "another agent has taken over")
    assert agent.log == ["step 4", "release 4"]


async def test_a_lease_lost_to_the_heartbeat_ends_silently() -> None:
    agent = FakeAgent([4], {4: [DONE]}, holding=Lost("no heartbeat succeeded in time"))
    assert await ended(agent) == Ended(Result.LOST, "no heartbeat succeeded in time")


@pytest.mark.parametrize(
    ("failing", "end"),
    [
        (Lost("taken over"), Ended(Result.LOST, "taken over")),
        (ValueError("x"), Ended(Result.FAILED, "The engine met an error of its own: ValueError.")),
    ],
)
async def test_an_error_while_telling_a_person_stays_in_the_item(failing: Exception, end: Ended) -> None:
    agent = FakeAgent([4], {4: [Blocked("no")]}, failing=failing)
    work = Work(agent)
    await work.run()
    assert work.ended == end
    assert work.item.broken is (end.result is Result.FAILED)
    assert agent.held == set()


@pytest.mark.parametrize("error", UNTELLABLE)
async def test_what_could_not_be_told_is_told_at_the_next_tick_without_another_step(error: Exception) -> None:
    work = Work(FakeAgent([4], {4: [error]}, failing=Transient("502")))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        assert (work.item.resting, work.agent.held) == (Rest("backoff", sentence="502"), {4})
        work.agent.failing = None
        work.item.wake()
    assert work.agent.log == ["step 4", *["fail 4: no"] * 2, "release 4"]
    assert work.ended == Ended(Result.FAILED, "no")
    assert not work.item.broken


@pytest.mark.parametrize("error", UNTELLABLE)
async def test_telling_backs_off_when_it_fails_again(error: Exception) -> None:
    work = Work(FakeAgent([4], {4: [error]}, failing=Transient("502")))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        for told in (1, 2, 2):
            await anyio.wait_all_tasks_blocked()
            assert work.agent.count("fail 4: no") == told
            work.item.wake()
        work.clock.seconds += 2 * INTERVAL
        work.item.wake()
        await anyio.wait_all_tasks_blocked()
        assert (work.agent.count("fail 4: no"), work.steps) == (3, 1)
        group.cancel_scope.cancel()


@pytest.mark.fault(12)
async def test_an_item_that_is_gone_ends_without_a_word_and_its_fence_remembers() -> None:
    work = Work(FakeAgent([4], {4: [Gone("410")]}, failing=Gone("410")))
    await work.run()
    assert work.ended == Ended(Result.WITHDRAWN, "it is gone: 410")
    assert not work.item.broken
    assert work.stage is Stage.WITHDRAWN


@pytest.mark.fault(12)
async def test_an_item_that_is_gone_when_it_is_stopped_ends_the_same() -> None:
    work = Work(FakeAgent([4], {4: [HANG]}, stopping=Gone("410")))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        work.item.revoke("the issue is gone")
    assert work.ended == Ended(Result.WITHDRAWN, "the issue is gone")
    assert work.stage is Stage.WITHDRAWN


async def test_something_gone_that_is_not_the_item_goes_to_a_person() -> None:
    work = Work(FakeAgent([4], {4: [Gone("the log of a job")]}))
    await work.run()
    assert work.ended == Ended(Result.FAILED, "the log of a job")
    assert work.stage is Stage.IMPLEMENTING


@pytest.mark.fault(14)
async def test_an_order_cancels_a_running_step() -> None:
    work = Work(FakeAgent([4], {4: [HANG]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        work.item.revoke("the issue was closed")
        work.item.revoke("and again")
    assert work.ended == Ended(Result.WITHDRAWN, "the issue was closed")
    assert work.agent.log == ["step 4", "stop 4: the issue was closed", "release 4"]


async def test_an_order_ends_a_rest_even_one_that_backs_off() -> None:
    work = Work(FakeAgent([4], {4: [Transient("1"), Transient("2"), HANG]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        work.item.wake()
        await anyio.wait_all_tasks_blocked()
        work.item.revoke("paused")
    assert work.ended == Ended(Result.WITHDRAWN, "paused")
    assert work.agent.log == ["step 4", "step 4", "stop 4: paused", "release 4"]


@pytest.mark.parametrize(
    ("error", "result"),
    [(Transient("502"), Result.LOST), (Blocked("423"), Result.FAILED), (KeyError("x"), Result.FAILED)],
)
async def test_an_error_while_stopping_stays_in_the_item(error: Exception, result: Result) -> None:
    work = Work(FakeAgent([4], {4: [HANG]}, stopping=error))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        work.item.revoke("closed")
    assert work.ended is not None
    assert work.ended.result is result
    assert work.agent.held == set()


class LateWrite(FakeAgent):
    """The step that was cancelled has moved the fence meanwhile: the first try to end it is refused."""

    async def stop(self, held: Held, reason: str) -> None:
        await super().stop(held, reason)
        if self.count("stop 4: closed") == 1:
            raise Transient("An earlier write of this epoch arrived late; looking again.")
        await advance(held, FenceChange(stage=Stage.WITHDRAWN))


async def test_an_order_is_carried_out_although_the_cancelled_step_has_moved_the_fence() -> None:
    work = Work(LateWrite([4], {4: [HANG]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        work.item.revoke("closed")
    assert work.ended == Ended(Result.WITHDRAWN, "closed")
    assert work.stage is Stage.WITHDRAWN
    assert work.agent.count("stop 4: closed") == 2
