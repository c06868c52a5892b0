"""`cooldown` and `max_iterations`: the pause after an item, and the end after so many looks; time passes by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from fakes.agent import DONE, HANG, FakeAgent
from fakes.clock import HandClock

from shared.errors import Blocked, Transient
from shared.loop import polling_loop
from shared.loop.polling_loop import Loop
from shared.loop.real_clock import RealClock
from shared.scheduling.agent_contract import Candidate, Ended, Rest, Result, Skip
from shared.scheduling.slots import Slots

CI = Rest("ci")


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


class Counted(FakeAgent):
    """Knows how often it was asked what there is to do, and may do something then."""

    looks: int = 0
    then: Callable[[int], object] = staticmethod(lambda look: None)

    async def discover(self) -> Any:
        self.looks += 1
        self.then(self.looks)
        return await super().discover()


async def ticked(loop: Loop) -> None:
    await loop.tick()
    await loop.quiet()


@pytest.mark.parametrize(
    "end", [DONE, Blocked("no tests"), Ended(Result.PARKED, "waits")], ids=["done", "failed", "parked"]
)
async def test_however_an_item_ends_the_next_one_is_not_claimed_before_the_cooldown(clock: HandClock, end: Any) -> None:
    agent = FakeAgent([1], {1: [end]})
    async with Loop(agent, clock, cooldown_seconds=10).open() as loop:
        await ticked(loop)
        agent.numbers = [2]
        for seconds, claims in ((0, 0), (9.5, 0), (0.5, 1)):
            clock.seconds += seconds
            await ticked(loop)
            assert agent.count("claim 2") == claims, seconds


async def test_the_cooldown_begins_with_the_end_and_not_with_the_claim(clock: HandClock) -> None:
    agent = FakeAgent([1], {1: [CI, DONE]})
    async with Loop(agent, clock, cooldown_seconds=10).open() as loop:
        await ticked(loop)
        clock.seconds += 60
        await ticked(loop)
        assert loop.ended == [DONE]
        agent.numbers = [2]
        await ticked(loop)
        assert agent.count("claim 2") == 0
        clock.seconds += 10
        await ticked(loop)
        assert agent.count("claim 2") == 1


async def test_what_is_held_goes_on_during_a_cooldown_and_what_is_only_skipped_begins_none(clock: HandClock) -> None:
    agent = FakeAgent([1, 2], {1: [CI, CI, CI, DONE]})
    async with Loop(agent, clock, slots=Slots(2, clock), cooldown_seconds=10).open() as loop:
        await ticked(loop)
        assert loop.ended == [DONE]
        await ticked(loop)
        await ticked(loop)
        assert agent.count("step 1") == 3
    agent = FakeAgent([1, 2], claims={1: Skip("blocked by #3", 60)})
    async with Loop(agent, clock, cooldown_seconds=10).open() as loop:
        await ticked(loop)
        assert agent.count("claim 2") == 1


async def test_what_comes_during_a_cooldown_is_claimed_at_its_end_and_not_an_interval_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A webhook tells of an item once; nobody tells of it again when the cooldown is over."""
    monkeypatch.setattr(polling_loop, "POKED_SECONDS", 0.4)
    agent, stop = Counted([1]), anyio.Event()

    def come() -> None:
        if loop.ended and agent.numbers == [1]:
            agent.numbers = [2]
            loop.poke()

    async with Loop(agent, RealClock(), interval_seconds=3600, cooldown_seconds=0.2).open() as loop:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(loop.run, stop)
                while len(loop.ended) < 2:
                    come()
                    await anyio.sleep(0.01)
                stop.set()
    assert (agent.count("claim 1"), agent.count("claim 2")) == (1, 1)
    assert agent.looks <= 4, "one at the start, one for the news, one after the cooldown, perhaps one more"


async def test_a_failing_look_after_a_cooldown_is_not_repeated_without_a_pause() -> None:
    agent, failed = Counted([1]), anyio.Event()

    def fails(look: int) -> None:
        if look == 2:
            agent.numbers = [2]
        elif look > 2:
            failed.set()
            raise Transient("GitHub answers 502")

    agent.then = fails
    async with Loop(agent, RealClock(), interval_seconds=3600, cooldown_seconds=0.2).open() as loop:
        await ticked(loop)
        async with anyio.create_task_group() as group:
            group.start_soon(loop.run, anyio.Event())
            with anyio.fail_after(20):
                await failed.wait()
            await anyio.sleep(0.3)  # longer than the cooldown: nothing repeats the look
            group.cancel_scope.cancel()
    assert (agent.looks, agent.count("claim 2")) == (3, 0)


async def test_nobody_looks_more_often_because_of_a_cooldown_without_candidates(clock: HandClock) -> None:
    agent = Counted([1])
    async with Loop(agent, clock, interval_seconds=3600, cooldown_seconds=10).open() as loop:
        await ticked(loop)
        agent.numbers = []
        with anyio.move_on_after(0.2):
            await loop.run(anyio.Event())
    assert agent.looks == 2


async def test_a_single_item_is_not_waited_after_and_a_restart_waits_for_nothing(clock: HandClock) -> None:
    agent = FakeAgent([1, 2])
    for claims in (1, 2):
        async with Loop(agent, clock, interval_seconds=0, cooldown_seconds=3600).open() as loop:
            with anyio.fail_after(20):
                assert await loop.once(anyio.Event(), wait=True) == DONE
        assert agent.count("claim 1") == claims
    assert clock.seconds == HandClock().seconds, "nobody let time pass"


async def test_each_repository_has_a_cooldown_of_its_own(clock: HandClock) -> None:
    first, second = FakeAgent([1]), FakeAgent([2])
    slots = Slots(1, clock)
    one, two = (Loop(agent, clock, slots=slots, cooldown_seconds=10) for agent in (first, second))
    async with one.open(), two.open():
        await ticked(one)
        await ticked(two)
        assert (first.count("claim 1"), second.count("claim 2")) == (1, 1)
        clock.seconds += 9
        await ticked(one)
        await ticked(two)
        assert (first.count("claim 1"), second.count("claim 2")) == (1, 1)
        clock.seconds += 1
        await ticked(two)
        assert (first.count("claim 1"), second.count("claim 2")) == (1, 2)


@pytest.mark.parametrize("most", [1, 3])
async def test_an_agent_ends_after_so_many_looks_bad_ones_included(clock: HandClock, most: int) -> None:
    agent = Counted([1], {1: [CI]}, discovery=[Transient("502")])
    async with Loop(agent, clock, interval_seconds=0).open() as loop:
        with anyio.fail_after(20):
            await loop.run(anyio.Event(), most_ticks=most)
    assert agent.looks == most
    assert agent.held == set()


async def test_without_a_number_only_an_order_ends_it(clock: HandClock) -> None:
    agent, stop = Counted([]), anyio.Event()
    agent.then = lambda look: stop.set() if look == 40 else None
    async with Loop(agent, clock, interval_seconds=0).open() as loop:
        with anyio.fail_after(20):
            await loop.run(stop, most_ticks=0)
    assert agent.looks == 40


async def test_what_the_last_look_has_begun_comes_to_the_end_of_its_step(clock: HandClock) -> None:
    paid = anyio.Event()
    agent = FakeAgent([1], {1: [paid, DONE]})
    async with Loop(agent, clock, interval_seconds=0).open() as loop, anyio.create_task_group() as group:
        group.start_soon(lambda: loop.run(anyio.Event(), most_ticks=1))
        await anyio.wait_all_tasks_blocked()
        assert agent.held == {1}
        paid.set()
    assert loop.ended == [DONE]


async def test_looks_are_counted_for_each_repository_and_anew_after_a_restart(clock: HandClock) -> None:
    first, second, slots = Counted([1], {1: [HANG]}), Counted([2]), Slots(1, clock)
    second.claims = {2: Skip("not ready")}
    one = Loop(first, clock, slots=slots, interval_seconds=0)
    two = Loop(second, clock, slots=slots, interval_seconds=0)
    async with one.open(), two.open():
        await one.tick()
        with anyio.fail_after(20):
            await two.run(anyio.Event(), most_ticks=5)
            await two.run(anyio.Event(), most_ticks=2)
    assert (first.looks, second.looks) == (1, 7)


async def test_a_single_item_is_worked_on_however_many_looks_it_takes(clock: HandClock) -> None:
    agent = Counted([1], {1: [CI] * 9 + [DONE]})
    async with Loop(agent, clock, interval_seconds=0).open() as loop:
        with anyio.fail_after(20):
            assert await loop.once(anyio.Event(), wait=True) == DONE
    assert agent.looks == 10
    assert Candidate(1, "1") in await agent.discover()
