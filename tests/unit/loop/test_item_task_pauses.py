"""One item in work: how it pauses after failures, and what ends a pause."""

from __future__ import annotations

import math
from datetime import timedelta

import anyio
import pytest
from fakes.agent import DONE, HANG, INTERVAL, FakeAgent
from fakes.clock import HandClock
from fakes.lock_server import EPOCH
from item_task_scene import Work

from shared.errors import RunFailed, Transient, UnknownOutcome
from shared.github.errors import Limited, NotShown
from shared.lock.fence import Wait
from shared.loop.item_task import BACKOFF_CAP_SECONDS, LATE_SECONDS
from shared.loop.polling_loop import Loop
from shared.retry.failures import SCHEDULE_SECONDS
from shared.scheduling.agent_contract import Rest, Result

CI = Rest("ci")


async def test_passing_failures_rest_and_the_pauses_double() -> None:
    work = Work(FakeAgent([4], {4: [Transient("502")]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        for failures, pause in enumerate((0, 2, 4, 8, 16, BACKOFF_CAP_SECONDS / INTERVAL, 30), start=1):
            assert work.item.resting == Rest("backoff", sentence="502")
            assert work.steps == failures
            if pause:
                work.clock.seconds += pause * INTERVAL - 1
                work.item.wake()
                await anyio.wait_all_tasks_blocked()
                assert work.steps == failures, "it looked again too early"
                work.clock.seconds += 1
            work.item.wake()
            await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert work.ended is None
    assert work.agent.held == set()


async def test_a_limit_makes_no_pause_grow() -> None:
    limit = Limited(EPOCH, "you ask too often")
    work = Work(FakeAgent([4], {4: [limit, limit, limit, limit, Transient("502"), DONE]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        for steps in range(1, 6):
            assert work.steps == steps
            work.item.wake()
            await anyio.wait_all_tasks_blocked()
    assert work.ended == DONE


async def test_a_good_step_ends_the_back_off() -> None:
    agent = FakeAgent([4], {4: [Transient("1"), Transient("2"), CI, Transient("3"), DONE]})
    work = Work(agent)
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        for pause in (0, 2 * INTERVAL, 0, 0):
            work.clock.seconds += pause
            work.item.wake()
            await anyio.wait_all_tasks_blocked()
    assert work.ended == DONE


class Leaping(HandClock):
    """Time passes whenever somebody looks at it."""

    def boot(self) -> float:
        self.seconds += LATE_SECONDS
        return self.seconds


async def test_what_is_only_late_is_looked_for_again_however_seldom_one_polls() -> None:
    agent = FakeAgent([4], {4: [CI, NotShown("commit 1", 0.5), NotShown("commit 1", 1.0), DONE]})
    async with Loop(agent, Leaping(), interval_seconds=86_400).open() as loop:
        await loop.tick()
        await loop.quiet()
        await loop.tick()  # somebody has told of the commit; from here on nobody tells anything
        stop = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(loop.run, stop)
            with anyio.fail_after(30):
                while not loop.ended:  # noqa: ASYNC110  # the loop has no event for it
                    await anyio.sleep(0.001)
            stop.set()
    assert loop.ended[0] == DONE


async def test_while_looks_fail_what_is_due_is_not_looked_for_without_a_pause() -> None:
    agent, clock = FakeAgent([4], {4: [NotShown("commit 1", 0.5)]}), HandClock()
    async with Loop(agent, clock, interval_seconds=86_400).open() as loop:
        await loop.tick()
        await loop.quiet()
        clock.seconds += 10 * LATE_SECONDS
        agent.discovery = [Transient("the hourly budget is used up")] * 1000
        stop = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(loop.run, stop)
            with anyio.move_on_after(5):
                await anyio.wait_all_tasks_blocked()
            stop.set()
    assert len(agent.discovery) >= 998


async def test_the_pauses_of_what_is_late_are_short_and_double() -> None:
    work = Work(FakeAgent([4], {4: [NotShown("commit 1", 0.5)]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        for pause in (1, 2, 4, 8):
            assert work.item.due == work.clock.seconds + pause * LATE_SECONDS
            work.clock.seconds += pause * LATE_SECONDS
            work.item.wake()
            await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()


async def test_other_waits_have_no_end_of_their_own() -> None:
    work = Work(FakeAgent([4], {4: [CI, Transient("502"), Transient("502"), HANG]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        for _ in range(3):
            await anyio.wait_all_tasks_blocked()
            assert work.item.due == math.inf
            work.clock.seconds += BACKOFF_CAP_SECONDS
            work.item.wake()
        group.cancel_scope.cancel()


async def through_failures(*answers: Exception) -> Work:
    """Run the item through each of these failures and their pauses."""
    work = Work(FakeAgent([4], {4: [*answers, HANG]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        for _ in answers:
            await anyio.wait_all_tasks_blocked()
            work.clock.seconds += BACKOFF_CAP_SECONDS
            work.item.wake()
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    return work


@pytest.mark.fault(24)
async def test_failed_runs_are_repeated_by_their_schedule_and_then_go_to_a_person() -> None:
    tries = len(SCHEDULE_SECONDS)
    work = await through_failures(*[RunFailed("It was cut.")] * tries)
    assert work.ended is None
    assert work.steps == tries + 1
    assert work.fence.failures == f"transient={tries}"
    work = await through_failures(*[RunFailed("It was cut.")] * (tries + 1))
    assert work.ended is not None
    assert work.ended.result is Result.FAILED
    assert f"{tries + 1} times" in work.ended.sentence
    assert work.agent.count(f"fail 4: {work.ended.sentence}") == 1


async def test_free_failures_are_repeated_for_ever_and_do_not_count_as_paid_ones() -> None:
    tries = len(SCHEDULE_SECONDS)
    storm: list[Exception] = [UnknownOutcome("lost reply")] * (tries + 3)
    work = await through_failures(*storm, RunFailed("cut"))
    assert work.ended is None
    assert work.steps == tries + 5
    assert work.fence.failures == "transient=1"


async def test_a_wait_after_a_failed_run_stands_in_the_fence_and_nothing_wakes_it_early() -> None:
    work = Work(FakeAgent([4], {4: [RunFailed("cut"), RunFailed("cut"), DONE]}))
    async with anyio.create_task_group() as group:
        group.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        work.item.wake()
        await anyio.wait_all_tasks_blocked()
        wait = work.fence.wait
        assert wait is not None
        assert work.item.resting == Rest("backoff", wait.until, "cut")
        assert work.agent.count("wait 4: cut") == 1
        work.clock.seconds += 59
        work.item.wake()
        await anyio.wait_all_tasks_blocked()
        assert work.steps == 2
        work.clock.seconds += 1
        work.item.wake()
    assert work.ended == DONE
    assert work.steps == 3


@pytest.mark.fault(26)
async def test_a_long_wait_lets_go_of_the_item() -> None:
    reset = EPOCH + timedelta(hours=5)
    work = Work(FakeAgent([4], {4: [RunFailed("limit", category="usage-limit", reset=reset)]}))
    await work.run()
    assert work.ended is not None
    assert work.ended.result is Result.PARKED
    assert work.fence.wait == Wait("usage-limit", reset)
    assert work.fence.failures == ""
    assert work.agent.held == set()
