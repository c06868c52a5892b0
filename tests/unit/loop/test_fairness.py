"""Several repositories of one process share its slots: claims, waits and ends of their items, and their turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
import pytest
from fakes.agent import DONE, HANG, FakeAgent
from fakes.clock import HandClock

from shared.errors import Transient
from shared.lock.lease import Lease
from shared.loop.claim_queue import LOOK_AGAIN_SECONDS, NO_SLOT, SkipBackoff
from shared.loop.polling_loop import Loop
from shared.scheduling.admission import Admission
from shared.scheduling.agent_contract import UNTIL_NEWS, Candidate, Claim, Ended, Rest, Result, Skip
from shared.scheduling.slots import LOOK_SECONDS, Slots


@dataclass
class Reader(FakeAgent):
    """An agent that reads for a while before it claims: `meanwhile` happens before it asks for a slot, `after` then."""

    meanwhile: list[Callable[[], Awaitable[object]]] = field(default_factory=list)
    after: list[Callable[[], Awaitable[object]]] = field(default_factory=list)

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        for one in self.meanwhile:
            await one()
        return partial(self._claim, candidate)

    async def _claim(self, candidate: Candidate) -> Lease | Skip:
        for one in self.after:
            await one()
        claim = await super().prepare(candidate)
        return claim if isinstance(claim, Skip) else await claim()


@pytest.mark.parametrize("reason", [anyio.get_cancelled_exc_class, lambda: RuntimeError("outside of the block")])
async def test_what_ends_a_claim_gives_its_slot_back(reason: Callable[[], object]) -> None:
    clock, second = HandClock(), FakeAgent([2])
    slots = Slots(1, clock)
    first = Reader([1])
    one = Loop(first, clock, slots=slots)
    if isinstance(reason(), Exception):
        with pytest.raises(RuntimeError, match="open"):
            await one.tick()  # `begin` fails
    else:
        first.after = [anyio.sleep_forever]
        async with one.open(), anyio.create_task_group() as group:
            group.start_soon(one.tick)
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
    async with Loop(second, clock, slots=slots).open() as two:
        await two.tick()
        await two.quiet()
    assert second.count("step 2") == 1


async def test_a_claim_whose_slot_a_waking_item_took_is_made_when_that_has_ended() -> None:
    clock, phase = HandClock(), anyio.Event()
    slots = Slots(1, clock)
    first, second = Reader([1], {1: [Rest("ci"), phase, DONE]}), Reader([2])
    async with Loop(first, clock, slots=slots).open() as one, Loop(second, clock, slots=slots).open() as two:
        await one.tick()
        await one.quiet()
        assert len(one.resting) == 1

        async def work() -> None:
            await anyio.wait_all_tasks_blocked()
            clock.seconds += LOOK_SECONDS

        second.meanwhile = [one.tick, work]
        await two.tick()
        assert (one.busy, two.busy, second.log) == (1, 0, [])
        assert two.skipped == (f"{second.repository}#2: {NO_SLOT}",)
        phase.set()
        await one.quiet()
        first.numbers.append(3)
        await one.tick()
        assert first.count("claim 3") == 0, "it is the other one's turn"
        second.meanwhile = []
        await two.tick()
        await two.quiet()
    assert second.count("step 2") == 1


async def test_a_woken_item_leaves_the_slot_to_others_while_it_looks() -> None:
    clock = HandClock()
    slots = Slots(1, clock)
    first, second = FakeAgent([1], {1: [Rest("ci"), HANG]}), FakeAgent([2], {2: [HANG]})
    async with Loop(first, clock, slots=slots).open() as one, Loop(second, clock, slots=slots).open() as two:
        await one.tick()
        await one.quiet()
        await one.tick()
        await anyio.wait_all_tasks_blocked()
        assert first.count("step 1") == 2
        await two.tick()
        assert two.busy == 1


@dataclass
class TakenSlot:
    """An item that has waited for CI and would go on, but whose slot another repository's item has taken."""

    admission: Admission = field(default_factory=Admission)
    clock: HandClock = field(default_factory=HandClock)
    phase: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self.slots = Slots(1, self.clock)
        self.agent = FakeAgent([1], {1: [Rest("ci"), None, DONE]})
        self.other = FakeAgent([2], {2: [self.phase, DONE]})
        self.one = Loop(self.agent, self.clock, slots=self.slots, admission=self.admission)
        self.two = Loop(self.other, self.clock, slots=self.slots)

    async def happen(self) -> None:
        """Come to the moment in which the item needs its slot."""
        await self.one.tick()
        await self.one.quiet()
        await self.two.tick()
        await self.one.tick()
        await self.one.quiet()


async def test_an_item_whose_slot_was_taken_waits_for_one_with_its_lease_before_it_goes_on() -> None:
    scene = TakenSlot()
    async with scene.one.open(), scene.two.open():
        await scene.happen()
        assert (scene.agent.count("step 1"), scene.one.resting, scene.agent.held) == (2, (Rest("slot"),), {1})
        await scene.one.tick()
        await scene.one.quiet()
        assert (scene.agent.count("step 1"), scene.one.resting) == (2, (Rest("slot"),)), "a poll does not wake it"
        scene.phase.set()
        await anyio.wait_all_tasks_blocked()
        assert (scene.two.ended, scene.one.ended) == ([DONE], [DONE]), "no poll is needed"
    assert scene.agent.log == ["claim 1", *["step 1"] * 3, "release 1"]


async def test_an_order_of_a_person_ends_the_wait_for_a_slot() -> None:
    scene = TakenSlot()
    async with scene.one.open(), scene.two.open():
        await scene.happen()
        scene.agent.orders[1] = "withdrawn"
        await scene.one.tick()
        await anyio.wait_all_tasks_blocked()
        assert scene.one.ended == [Ended(Result.WITHDRAWN, "withdrawn")]
        scene.phase.set()
        await scene.two.quiet()
        scene.agent.orders, scene.agent.numbers = {}, [3]
        await scene.one.tick()
        await scene.one.quiet()
    assert scene.agent.count("step 1") == 2
    assert scene.agent.count("step 3") == 1, "the slot is not lost"


async def test_a_process_that_leaves_does_not_wait_for_a_slot() -> None:
    scene = TakenSlot()
    async with scene.one.open(), scene.two.open():
        await scene.happen()
        scene.admission.shut("it is drained")
        await anyio.wait_all_tasks_blocked()
        assert [end.result for end in scene.one.ended] == [Result.PARKED]
    assert scene.agent.count("step 1") == 2


@pytest.mark.parametrize("failure", [Transient("502"), KeyError("x"), None])
async def test_a_repository_that_fails_or_has_nothing_to_begin_gives_its_turn_away(failure: Exception | None) -> None:
    clock, phase, stop = HandClock(), anyio.Event(), anyio.Event()
    slots = Slots(1, clock)
    first, leaving, third = Reader([1], {1: [phase, DONE]}), Reader([2]), Reader([3])
    async with (
        Loop(first, clock, slots=slots, cooldown_seconds=60).open() as one,
        Loop(leaving, clock, slots=slots, interval_seconds=3600).open() as two,
        Loop(third, clock, slots=slots).open() as three_,
        anyio.create_task_group() as group,
    ):
        await one.tick()
        await two.tick()
        assert leaving.log == [], "it waits for its turn"
        leaving.discovery, leaving.numbers = [failure] if failure else [], []
        group.start_soon(two.run, stop)
        await anyio.wait_all_tasks_blocked()
        phase.set()
        await one.quiet()
        await three_.tick()
        assert third.log[:1] == ["claim 3"], "nobody waits for it"
        stop.set()


async def test_a_repository_whose_polls_have_ended_is_nobodys_turn() -> None:
    clock, phase = HandClock(), anyio.Event()
    slots = Slots(1, clock)
    first, ending, third = Reader([1], {1: [phase, DONE]}), Reader([2]), Reader([3])
    async with (
        Loop(first, clock, slots=slots, cooldown_seconds=60).open() as one,
        Loop(ending, clock, slots=slots, interval_seconds=0).open() as two,
        Loop(third, clock, slots=slots).open() as three_,
    ):
        await one.tick()
        await two.run(anyio.Event(), most_ticks=1)
        phase.set()
        await one.quiet()
        await three_.tick()
        assert third.log[:1] == ["claim 3"]
    assert ending.log == []


async def test_a_claim_without_a_slot_is_none_of_the_first_looks_at_an_item() -> None:
    clock, candidate = HandClock(), Candidate(1, "1")
    skipped = SkipBackoff(clock)
    for _ in range(3):
        skipped.defer(candidate, NO_SLOT)
        clock.seconds += 1
        assert candidate not in skipped
    skipped.add(candidate, Skip("it is not ready", UNTIL_NEWS))
    clock.seconds += LOOK_AGAIN_SECONDS[0]
    assert candidate not in skipped, "the look may have read an older state of it"


async def test_a_flood_of_news_does_not_become_a_flood_of_looks() -> None:
    agent, stop = FakeAgent([], discovery=[Transient("first"), Transient("second")]), anyio.Event()
    async with Loop(agent, HandClock(), interval_seconds=3600).open() as loop, anyio.create_task_group() as group:
        group.start_soon(loop.run, stop)
        await anyio.wait_all_tasks_blocked()
        for _ in range(50):
            loop.poke()
            await anyio.wait_all_tasks_blocked()
        assert len(agent.discovery) == 1, "it has looked once, and waits before it looks again"
        stop.set()
