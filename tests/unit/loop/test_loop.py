"""The loop: what a tick begins, wakes, stops and leaves alone; what leaving it does."""

from __future__ import annotations

import anyio
import pytest
from fakes.agent import DONE, HANG, INTERVAL, FakeAgent
from fakes.clock import HandClock
from structlog.testing import capture_logs

from shared.errors import Blocked, NotAllowed, Transient
from shared.loop.claim_queue import BROKEN_ITEM_SECONDS, LOST_CLAIMS_PER_TICK
from shared.loop.polling_loop import MOST_ENDED, Loop
from shared.scheduling.agent_contract import Ended, Rest, Result, Skip
from shared.scheduling.slots import Slots

CI = Rest("ci")


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def loop_of(agent: FakeAgent, clock: HandClock, limit: int = 1) -> Loop:
    return Loop(agent, clock, slots=Slots(limit, clock), interval_seconds=INTERVAL)


async def test_an_item_is_claimed_worked_on_and_released(clock: HandClock) -> None:
    agent = FakeAgent([4], {4: [None, None, DONE]})
    async with loop_of(agent, clock).open() as loop:
        assert await loop.tick() == 1
        await loop.quiet()
        assert loop.ended == [DONE]
        assert agent.log == ["claim 4", "step 4", "step 4", "step 4", "release 4"]
        assert loop.busy == 0


async def test_only_the_newest_ends_are_remembered(clock: HandClock) -> None:
    numbers = range(MOST_ENDED + 20)
    agent = FakeAgent([], {number: [Ended(Result.FINISHED, f"{number}")] for number in numbers})
    async with loop_of(agent, clock).open() as loop:
        for number in numbers:
            agent.numbers = [number]
            await loop.tick()
            await loop.quiet()
    assert [end.sentence for end in loop.ended] == [str(number) for number in numbers[20:]]


@pytest.mark.parametrize(("limit", "begun"), [(1, [1]), (2, [1, 2]), (9, [1, 2, 3])])
async def test_no_more_items_begin_than_there_are_slots(clock: HandClock, limit: int, begun: list[int]) -> None:
    agent = FakeAgent([1, 2, 3], {number: [HANG] for number in (1, 2, 3)})
    async with loop_of(agent, clock, limit).open() as loop:
        await loop.tick()
        await loop.tick()
        assert [event for event in agent.log if event.startswith("claim")] == [f"claim {n}" for n in begun]


async def test_two_loops_share_their_slots_and_a_resting_item_takes_none(clock: HandClock) -> None:
    slots = Slots(1, clock)
    working = anyio.Event()
    first, second = FakeAgent([1], {1: [working, CI, HANG]}), FakeAgent([2], {2: [HANG]})
    async with (
        Loop(first, clock, slots=slots).open() as one,
        Loop(second, clock, slots=slots).open() as two,
    ):
        await one.tick()
        await two.tick()
        assert two.busy == 0
        working.set()
        await one.quiet()
        assert one.resting == (CI,)
        await two.tick()
        assert two.busy == 1
        first.numbers.append(3)
        await one.tick()
        assert first.count("claim 3") == 0


async def test_one_repository_does_not_take_all_the_slots(clock: HandClock) -> None:
    slots = Slots(3, clock, per_repository=2)
    first, second = (FakeAgent(numbers, {n: [HANG] for n in numbers}) for numbers in ([1, 2, 3], [4, 5, 6]))
    async with Loop(first, clock, slots=slots).open() as one, Loop(second, clock, slots=slots).open() as two:
        await one.tick()
        await two.tick()
        assert (one.busy, two.busy) == (2, 1)


async def test_after_an_item_has_ended_nothing_is_claimed_for_a_while(clock: HandClock) -> None:
    agent = FakeAgent([1])
    async with Loop(agent, clock, cooldown_seconds=10).open() as loop:
        for seconds, claims in ((0, 1), (9, 1), (1, 2)):
            clock.seconds += seconds
            await loop.tick()
            await loop.quiet()
            assert agent.count("claim 1") == claims, seconds


async def test_run_can_be_bounded(clock: HandClock) -> None:
    agent = FakeAgent([1], {1: [CI]}, discovery=[Transient("502")])
    async with Loop(agent, clock, interval_seconds=0).open() as loop:
        await loop.run(anyio.Event(), most_ticks=3)
    assert agent.count("claim 1") == 1


async def test_a_resting_item_keeps_its_lease_and_looks_again_at_the_next_tick(clock: HandClock) -> None:
    agent = FakeAgent([4], {4: [CI, CI, DONE]})
    async with loop_of(agent, clock).open() as loop:
        for steps in (1, 2):
            await loop.tick()
            await loop.quiet()
            assert agent.count("step 4") == steps
            assert agent.held == {4}
        await loop.tick()
        await loop.quiet()
        assert agent.count("claim 4") == 1
        assert loop.ended == [DONE]


async def test_an_order_is_obeyed_at_the_next_tick_whatever_the_item_does(clock: HandClock) -> None:
    agent = FakeAgent([1, 2], {1: [HANG], 2: [CI]})
    async with loop_of(agent, clock, 2).open() as loop:
        await loop.tick()
        await anyio.wait_all_tasks_blocked()
        agent.orders = {1: "closed", 2: "paused"}
        await loop.tick(claims=0)
        await loop.quiet()
        assert sorted(loop.ended, key=lambda end: end.sentence) == [
            Ended(Result.WITHDRAWN, "closed"),
            Ended(Result.WITHDRAWN, "paused"),
        ]
        assert agent.count("stop 1: closed") == agent.count("stop 2: paused") == 1
        assert agent.held == set()


async def test_an_item_that_cannot_be_asked_about_does_not_stop_the_tick(clock: HandClock) -> None:
    agent = FakeAgent([1], {1: [CI, DONE]}, orders={1: Transient("502")})
    async with loop_of(agent, clock).open() as loop:
        await loop.tick()
        await loop.quiet()
        await loop.tick(claims=0)
        await loop.quiet()
        assert loop.ended == [DONE]


async def test_lost_races_end_the_claims_of_a_tick(clock: HandClock) -> None:
    numbers = [1, 2, 3, 4, 5]
    agent = FakeAgent(numbers, claims={number: Skip("another agent won the claim") for number in numbers})
    async with loop_of(agent, clock).open() as loop:
        await loop.tick()
        assert len(agent.log) == len(set(agent.log)) == LOST_CLAIMS_PER_TICK
        assert agent.log[0] == "claim 1", "who has met nobody begins with the first"
        await loop.tick()
        assert len(agent.log) == 2 * LOST_CLAIMS_PER_TICK, "a lost race is no reason to look away"


async def test_who_has_lost_no_race_claims_strictly_in_order(clock: HandClock) -> None:
    numbers = list(range(1, 9))
    agent = FakeAgent(numbers, claims={number: Skip("not ready", 60) for number in numbers})
    async with loop_of(agent, clock).open() as loop:
        await loop.tick()
        assert agent.log == [f"claim {n}" for n in numbers]


async def test_a_skipped_item_is_left_alone_until_it_changes_or_its_time_is_over(clock: HandClock) -> None:
    agent = FakeAgent([1], claims={1: Skip("blocked by #2", 100)})
    async with loop_of(agent, clock).open() as loop:
        first = (("1", 0, 1), ("1", 0.5, 1), ("1", 0.5, 2), ("1", 59, 2), ("1", 1, 3), ("1", 99, 3), ("1", 1, 4))
        for version, seconds, looks in (*first, ("2", 0, 5), ("2", 1, 6), ("2", 60, 7), ("2", 99, 7)):
            agent.version = version
            clock.seconds += seconds
            await loop.tick()
            assert agent.count("claim 1") == looks, (version, seconds)


async def test_many_refusals_do_not_count_as_lost_races(clock: HandClock) -> None:
    agent = FakeAgent(list(range(1, 9)), {8: [HANG]}, {number: Skip("not ready", 60) for number in range(1, 8)})
    async with loop_of(agent, clock).open() as loop:
        assert await loop.tick() == 1


@pytest.mark.parametrize("error", [Transient("502"), NotAllowed("no"), RuntimeError("a bug")])
async def test_an_item_that_cannot_be_claimed_does_not_keep_others_away(clock: HandClock, error: Exception) -> None:
    agent = FakeAgent([1, 2], claims={1: error})
    async with loop_of(agent, clock).open() as loop:
        await loop.tick()
        await loop.quiet()
        assert loop.ended == [DONE]
        agent.numbers = [1]
        await loop.tick()
        assert agent.count("claim 1") == 1  # not asked again at once


async def test_a_refused_claim_is_an_error_in_the_log_once_for_each_version(clock: HandClock) -> None:
    agent = FakeAgent([1], claims={1: NotAllowed("This token may not push.")})
    with capture_logs() as events:
        async with loop_of(agent, clock).open() as loop:
            for version in ("1", "1", "2"):
                agent.version = version
                clock.seconds += 2 * INTERVAL
                await loop.tick()
    assert agent.count("claim 1") == 3
    refused = [(event["log_level"], event["error"]) for event in events if event["event"] == "claim_refused"]
    assert refused == [("error", "This token may not push.")] * 2
    assert [event for event in events if event["event"] == "item_skipped"] == []


@pytest.mark.parametrize("error", [NotAllowed("403"), RuntimeError("a bug")])
async def test_an_item_whose_failure_cannot_be_told_is_not_begun_again_at_once(
    clock: HandClock, error: Exception
) -> None:
    agent = FakeAgent([1], {1: [Blocked("refused")]}, failing=error)
    async with loop_of(agent, clock).open() as loop:
        await loop.tick()
        await loop.quiet()
        assert [end.result for end in loop.ended] == [Result.FAILED]
        agent.version = "2"  # our own comments change it
        await loop.tick()
        assert agent.count("claim 1") == 1
        clock.seconds += BROKEN_ITEM_SECONDS
        await loop.tick()
        assert agent.count("claim 1") == 2


async def test_leaving_the_block_stops_the_work_and_releases(clock: HandClock) -> None:
    agent = FakeAgent([1, 2], {1: [HANG], 2: [CI]})
    async with loop_of(agent, clock, 2).open() as loop:
        await loop.tick()
        await anyio.wait_all_tasks_blocked()
        assert agent.held == {1, 2}
    assert agent.held == set()
    assert not any(event.startswith(("stop", "fail")) for event in agent.log)


async def test_an_error_of_the_block_comes_out_as_itself(clock: HandClock) -> None:
    agent = FakeAgent([1], {1: [HANG]})

    async def fails_inside() -> None:
        async with loop_of(agent, clock).open() as loop:
            await loop.tick()
            await anyio.wait_all_tasks_blocked()
            raise NotAllowed

    with pytest.raises(NotAllowed):
        await fails_inside()
    assert agent.held == set()


async def test_a_tick_belongs_inside_the_block(clock: HandClock) -> None:
    with pytest.raises(RuntimeError, match="open"):
        await loop_of(FakeAgent([1]), clock).tick()


async def test_run_survives_bad_ticks_and_ends_when_told(clock: HandClock) -> None:
    stop = anyio.Event()

    class Stopping(FakeAgent):
        async def stop(self, held: object, reason: str) -> None:
            raise AssertionError

        async def revoked(self, number: int) -> str | None:
            stop.set()
            return None

    agent = Stopping([1], {1: [CI]}, discovery=[Transient("502"), RuntimeError("a bug")])
    async with Loop(agent, clock, interval_seconds=0).open() as loop:
        await loop.run(stop, most_ticks=50)
        assert agent.count("claim 1") == 1
        assert agent.held == {1}
