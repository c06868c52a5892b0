"""Several repositories of one process: whoever waited longest is next, and who does not come holds up nobody."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
from fakes.agent import DONE, FakeAgent
from fakes.clock import HandClock

from shared.errors import Transient
from shared.loop.polling_loop import Loop
from shared.scheduling.slots import Slots


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
