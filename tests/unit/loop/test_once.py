"""`--once`: exactly one item, to its end; what it says when there is none, and when it was refused."""

from __future__ import annotations

import anyio
import pytest
from fakes.agent import DONE, INTERVAL, FakeAgent
from fakes.clock import HandClock

from shared.errors import Blocked, Gone, Misconfigured, NotAllowed, Transient, Unauthorized
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Ended, Rest, Result, Skip
from shared.scheduling.slots import Slots

CI = Rest("ci")


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def loop_of(agent: FakeAgent, clock: HandClock) -> Loop:
    return Loop(agent, clock, interval_seconds=INTERVAL)


async def test_nothing_to_do(clock: HandClock) -> None:
    async with loop_of(FakeAgent([]), clock).open() as loop:
        assert await once(loop, wait=True) is None


async def test_one_item_is_taken_however_many_slots_there_are(clock: HandClock) -> None:
    agent = FakeAgent([1, 2, 3], {1: [CI, CI, DONE]})
    async with Loop(agent, clock, slots=Slots(3, clock), interval_seconds=0).open() as loop:
        assert await once(loop, wait=True) == DONE
    assert [event for event in agent.log if event.startswith("claim")] == ["claim 1"]
    assert agent.count("step 1") == 3


async def test_without_waiting_it_ends_at_the_first_wait(clock: HandClock) -> None:
    agent = FakeAgent([1], {1: [None, CI]})
    async with loop_of(agent, clock).open() as loop:
        assert await once(loop, wait=False) == CI
    assert agent.held == set()


async def test_a_failed_item_is_the_answer(clock: HandClock) -> None:
    agent = FakeAgent([1, 2], {1: [Blocked("no tests")]})
    async with loop_of(agent, clock).open() as loop:
        assert await once(loop, wait=True) == Ended(Result.FAILED, "no tests")
    assert agent.count("claim 2") == 0


async def test_a_bad_tick_does_not_drop_the_item(clock: HandClock) -> None:
    agent = FakeAgent([1], {1: [CI, DONE]})
    async with Loop(agent, clock, interval_seconds=0).open() as loop:
        await loop.tick()
        await loop.quiet()
        agent.discovery = [Transient("502")]
        assert await once(loop, wait=True) == DONE


async def test_with_nothing_in_work_a_bad_tick_is_the_answer(clock: HandClock) -> None:
    agent = FakeAgent([1], discovery=[Transient("502")])
    async with loop_of(agent, clock).open() as loop:
        with pytest.raises(Transient, match="502"):
            await once(loop, wait=True)


async def test_a_stop_ends_the_wait(clock: HandClock) -> None:
    agent, stop = FakeAgent([1], {1: [CI]}), anyio.Event()
    async with loop_of(agent, clock).open() as loop, anyio.create_task_group() as group:
        group.start_soon(_stop_when_resting, loop, stop)
        ended = await loop.once(stop, wait=True)
        assert ended == Ended(Result.LOST, "stopped by a signal")
    assert agent.held == set()


async def _stop_when_resting(loop: Loop, stop: anyio.Event) -> None:
    with anyio.fail_after(20):
        while not loop.resting:
            await anyio.wait_all_tasks_blocked()
    stop.set()


@pytest.mark.parametrize("error", [NotAllowed("403 on push"), Unauthorized(), Misconfigured("no such path")])
async def test_a_refused_claim_is_raised(clock: HandClock, error: Exception) -> None:
    agent = FakeAgent([1, 2], claims={1: error})
    async with loop_of(agent, clock).open() as loop:
        with pytest.raises(type(error)) as raised:
            await once(loop, wait=True)
    assert raised.value is error
    assert agent.log == ["claim 1"]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (Transient("GitHub answers 502."), "GitHub answers 502."),
        (Gone("It was deleted."), "It was deleted."),
        (KeyError("x"), "The engine met an error of its own: KeyError."),
    ],
)
async def test_a_claim_that_failed_is_a_failure_when_nothing_else_is_there(
    clock: HandClock, error: Exception, sentence: str
) -> None:
    agent = FakeAgent([1], claims={1: error})
    async with loop_of(agent, clock).open() as loop:
        assert await once(loop, wait=True) == Ended(Result.FAILED, sentence)
    agent = FakeAgent([1, 2], claims={1: error})
    async with loop_of(agent, clock).open() as loop:
        assert await once(loop, wait=True) == DONE


async def test_it_can_say_why_nothing_was_taken(clock: HandClock) -> None:
    agent = FakeAgent([1, 2], claims={1: Skip("blocked by #2", 60), 2: Skip("worker-7 holds it", 300)})
    async with loop_of(agent, clock).open() as loop:
        assert await once(loop, wait=True) is None
        assert loop.skipped == ("ada/thing#1: blocked by #2", "ada/thing#2: worker-7 holds it")


async def test_repositories_that_share_a_slot_are_tried_one_after_the_other(clock: HandClock) -> None:
    slots = Slots(1, clock)
    lost = FakeAgent([1, 2], claims={1: Skip("another agent won the claim"), 2: Skip("not ready", 60)})
    first = Loop(lost, clock, slots=slots)
    second = Loop(FakeAgent([3], {3: [CI, CI, DONE]}), clock, slots=slots, interval_seconds=0)
    async with first.open(), second.open():
        assert await once(first, wait=True) is None
        assert await once(second, wait=True) == DONE


async def test_a_failure_to_be_tried_again_carries_its_sentence(clock: HandClock) -> None:
    agent = FakeAgent([1], {1: [Transient("The disk is full.")]})
    async with loop_of(agent, clock).open() as loop:
        assert await once(loop, wait=False) == Rest("backoff", sentence="The disk is full.")


async def once(loop: Loop, *, wait: bool) -> Ended | Rest | None:
    """Run `loop.once`, with a limit because a fault could keep it running for ever."""
    with anyio.fail_after(20):
        return await loop.once(anyio.Event(), wait=wait)
    raise AssertionError
