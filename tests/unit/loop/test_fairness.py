"""Several repositories of one process: whoever waited longest is next, and who does not come holds up nobody."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from fakes.agent import DONE, FakeAgent
from fakes.clock import HandClock

from shared.errors import Transient
from shared.lock.lease import Lease
from shared.loop.polling_loop import Loop
from shared.scheduling.items import Candidate, Rest, Skip
from shared.scheduling.slots import NO_SLOT, Slots, reserved


@dataclass(eq=False)
class Repository:
    """A loop as the slots see it."""

    busy: int = 0
    pokes: int = 0

    def poke(self) -> None:
        self.pokes += 1


def three(limit: int = 1) -> tuple[Slots, Repository, Repository, Repository]:
    slots = Slots(limit)
    loops = Repository(), Repository(), Repository()
    for loop in loops:
        slots.join(loop)
    return slots, *loops


def test_a_repository_with_endless_work_does_not_keep_the_others_from_theirs() -> None:
    slots, eager, calm, last = three()
    assert slots.free(eager)
    eager.busy = 1
    assert [slots.free(calm), slots.free(last), slots.free(eager)] == [False, False, False]
    eager.busy = 0
    slots.vacated()
    assert (calm.pokes, last.pokes, eager.pokes) == (1, 0, 0), "who waited longest is told, nobody else"
    assert not slots.free(eager), "although it asks first"
    assert slots.free(calm)
    calm.busy = 1
    calm.busy = 0
    assert not slots.free(eager)
    assert slots.free(last)


def test_who_does_not_come_when_it_is_its_turn_loses_it() -> None:
    slots, eager, dead, _ = three()
    eager.busy = 1
    assert not slots.free(dead)
    eager.busy = 0
    assert not slots.free(eager)
    assert dead.pokes == 1, "it is told once more"
    assert slots.free(eager)


def test_with_room_for_all_nobody_waits_for_anybody() -> None:
    slots, one, two, three_ = three(limit=3)
    for loop in (one, two, three_):
        assert slots.free(loop)
        loop.busy = 1


def test_of_loops_that_look_side_by_side_no_more_begin_than_there_are_slots() -> None:
    slots, first, second, _ = three()
    with slots.looking(first), slots.claiming(first):
        assert slots.free(first)
        assert not slots.free(second), "what it would read for nothing is not read"
        assert reserved()
        with slots.claiming(second):
            assert not reserved()
        first.busy = 1
    assert second.pokes == 0
    first.busy = 0
    slots.vacated()
    assert second.pokes == 1, "it has not lost its turn"


def test_a_slot_that_a_claim_did_not_win_is_the_next_ones() -> None:
    slots, first, second, _ = three()
    with slots.looking(first), slots.claiming(first):
        assert slots.free(first)
        assert reserved()
        assert not slots.free(second)
    assert second.pokes == 1
    assert slots.free(second)


def test_looks_that_lead_to_nothing_let_more_loops_look() -> None:
    """Thousands of blocked issues in many repositories are not looked at one after the other."""
    slots, first, second, third = three()
    with slots.looking(first):
        assert slots.free(first)
        assert slots.free(first), "it goes on to its next candidate"
        assert [slots.free(second), slots.free(third)] == [False, False]
    assert (second.pokes, third.pokes) == (1, 1)
    with slots.looking(second), slots.looking(third):
        assert [slots.free(second), slots.free(third)] == [True, True]
        with slots.claiming(third):
            assert reserved()
        assert slots.free(second), "the claim was lost"


def test_outside_of_a_loop_a_claim_needs_no_slot() -> None:
    assert reserved()


@dataclass
class Reader(FakeAgent):
    """An agent that reads for a while before it claims; what happens meanwhile is `meanwhile`."""

    meanwhile: list[Callable[[], Awaitable[object]]] = field(default_factory=list)

    async def claim(self, candidate: Candidate) -> Lease | Skip:
        for one in self.meanwhile:
            await one()
        return await super().claim(candidate) if reserved() else NO_SLOT


async def test_a_claim_whose_slot_a_waking_item_took_is_made_when_that_has_ended() -> None:
    slots, clock, phase = Slots(1), HandClock(), anyio.Event()
    first, second = FakeAgent([1], {1: [Rest("ci"), phase, DONE]}), Reader([2])
    async with Loop(first, clock, slots=slots).open() as one, Loop(second, clock, slots=slots).open() as two:
        await one.tick()
        await one.quiet()
        assert len(one.resting) == 1
        second.meanwhile = [one.tick, anyio.wait_all_tasks_blocked]
        await two.tick()
        assert (one.busy, two.busy, second.log) == (1, 0, [])
        assert two.skipped == (f"{second.repository}#2: {NO_SLOT.reason}",)
        phase.set()
        await one.quiet()
        second.meanwhile, clock.seconds = [], clock.seconds + 1
        await two.tick()
        await two.quiet()
    assert second.count("step 2") == 1


async def test_a_failing_repository_gives_its_turn_away() -> None:
    slots, clock = Slots(1), HandClock()
    phase = anyio.Event()
    first, failing, third = FakeAgent([1], {1: [phase, DONE]}), FakeAgent([2]), FakeAgent([3])
    async with (
        Loop(first, clock, slots=slots, cooldown_seconds=60).open() as one,
        Loop(failing, clock, slots=slots, interval_seconds=0).open() as two,
        Loop(third, clock, slots=slots).open() as three_,
    ):
        await one.tick()
        await two.tick()
        assert failing.log == [], "it waits for its turn"
        failing.discovery = [Transient("502")]
        await two.run(anyio.Event(), most_ticks=1)
        phase.set()
        await one.quiet()
        await three_.tick()
        assert third.log[:1] == ["claim 3"], "nobody waits for a repository that cannot be asked"


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
