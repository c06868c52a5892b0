"""Several repositories of one process: whoever waited longest is next, and who does not come holds up nobody."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import anyio
import pytest
from fakes.agent import DONE, HANG, FakeAgent
from fakes.clock import HandClock

from shared.errors import Transient
from shared.lock.lease import Lease
from shared.loop.claim_queue import NO_SLOT
from shared.loop.item_task import LOOK_SECONDS
from shared.loop.polling_loop import Loop
from shared.loop.skip_backoff import LOOK_AGAIN_SECONDS, SkipBackoff
from shared.scheduling.agent_contract import UNTIL_NEWS, Candidate, Claim, Rest, Skip
from shared.scheduling.slots import MOST_LOOKS, NO_SLOT, PATIENT_LOOKS, Slots


@dataclass(eq=False)
class Repository:
    """A loop as the slots see it."""

    in_work: int = 0
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
    eager.in_work = 1
    assert [slots.free(calm), slots.free(last), slots.free(eager)] == [False, False, False]
    eager.in_work = 0
    slots.vacated()
    assert (calm.pokes, last.pokes, eager.pokes) == (1, 0, 0), "who waited longest is told, nobody else"
    assert not slots.free(eager), "although it asks first"
    assert slots.free(calm)
    calm.in_work = 1
    calm.in_work = 0
    assert not slots.free(eager)
    assert slots.free(last)


def test_who_does_not_come_when_it_is_its_turn_is_passed_over_and_keeps_its_place() -> None:
    slots, eager, slow, last = three()
    eager.in_work = 1
    assert not slots.free(slow)
    eager.in_work = 0
    assert [slots.free(eager), slots.free(last)] == [False, False], "each waits for one look of its own"
    assert slow.pokes == 2, "it is told once more"
    assert slots.free(eager)
    eager.in_work = 1
    assert not slots.free(slow)
    eager.in_work = 0
    assert not slots.free(last), "it is not ahead of who has come late"
    assert slots.free(slow)
    assert slots.free(last)


def test_many_that_ask_while_the_next_one_is_on_its_way_do_not_pass_it_over() -> None:
    slots, begun = Slots(1), Repository(1)
    waiting = [Repository() for _ in range(200)]
    for loop in (begun, *waiting):
        slots.join(loop)
    assert not any(slots.free(loop) for loop in waiting)
    begun.in_work = 0
    slots.vacated()
    assert not any(slots.free(loop) for loop in reversed(waiting[1:]))
    assert slots.free(waiting[0])


def test_who_wants_no_slot_when_it_is_its_turn_passes_it_on() -> None:
    slots, eager, calm, last = three()
    eager.in_work = 1
    assert [slots.free(calm), slots.free(last)] == [False, False]
    eager.in_work = 0
    slots.vacated()
    slots.leave(calm)
    assert last.pokes == 1
    slots.leave(calm)
    assert last.pokes == 1, "who does not wait has nothing to pass on"


def test_a_loop_that_has_its_share_is_told_when_one_of_its_items_has_ended_and_is_in_nobodys_way() -> None:
    slots, full, other = Slots(3, per_loop=2), Repository(2), Repository()
    slots.join(full)
    slots.join(other)
    assert not slots.free(full)
    slots.vacated()
    assert full.pokes == 0
    assert slots.free(other)
    full.in_work = 1
    slots.vacated()
    assert full.pokes == 1


def test_a_long_look_does_not_keep_the_others_from_theirs_for_ever() -> None:
    slots, long, second, third = three()
    with slots.looking(long):
        assert slots.free(long)
        assert [slots.free(second) for _ in range(PATIENT_LOOKS)] == [False] * PATIENT_LOOKS
        assert slots.free(second)
        with slots.looking(second):
            assert slots.free(second)
            assert slots.free(long), "it goes on"
            assert not slots.free(third), "one look more for each that takes long"


def test_a_claim_without_a_slot_was_not_in_vain_and_is_the_next_one() -> None:
    slots, first, second, third = three()
    with slots.looking(third):
        assert slots.free(third)
    with slots.looking(second), slots.looking(first), slots.claiming(first):
        assert [slots.free(first), slots.free(second), slots.free(third)] == [True, True, False]
        assert slots.reserve(first)
        assert not slots.reserve(second)
        first.in_work = 1
    first.in_work = 0
    assert not slots.free(third)
    with slots.looking(second):
        assert slots.free(second), "who has read everything is ahead"
        assert not slots.free(third), "there was work: one look is enough for one slot"


def test_with_room_for_all_nobody_waits_for_anybody() -> None:
    slots, one, two, three_ = three(limit=3)
    for loop in (one, two, three_):
        assert slots.free(loop)
        loop.in_work = 1


def test_of_loops_that_look_side_by_side_no_more_begin_than_there_are_slots() -> None:
    slots, first, second, _ = three()
    with slots.looking(first), slots.claiming(first):
        assert slots.free(first)
        assert not slots.free(second), "what it would read for nothing is not read"
        assert slots.reserve(first)
        assert slots.reserve(first), "asked twice, it is the same slot"
        with slots.claiming(second):
            assert not slots.reserve(second)
        first.in_work = 1
    assert second.pokes == 0
    first.in_work = 0
    slots.vacated()
    assert second.pokes == 1, "it has not lost its turn"


def test_a_slot_that_a_claim_did_not_win_is_the_next_ones() -> None:
    slots, first, second, _ = three()
    with slots.looking(first), slots.claiming(first):
        assert slots.free(first)
        assert slots.reserve(first)
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
            assert slots.reserve(third)
        assert slots.free(second), "the claim was lost"


def test_a_claim_that_took_long_and_finds_no_slot_is_told_of_the_next_one() -> None:
    slots, long, second, _ = three()
    with slots.looking(long):
        assert slots.free(long)
        assert [slots.free(second) for _ in range(PATIENT_LOOKS + 1)][-1]
        second.in_work = 1
        assert not slots.reserve(long)
    second.in_work = 0
    slots.vacated()
    assert long.pokes == 1


def test_while_all_slots_are_taken_no_look_takes_long() -> None:
    slots, reading, waking, asking_ = three()
    with slots.looking(reading):
        assert slots.free(reading)
        waking.in_work = 1
        assert {slots.free(asking_) for _ in range(2 * PATIENT_LOOKS)} == {False}
        waking.in_work = 0
        assert not slots.free(asking_)


def test_a_claim_keeps_to_the_share_of_its_loop_when_items_have_come_back_meanwhile() -> None:
    slots, loop = Slots(5, per_loop=2), Repository(1)
    slots.join(loop)
    with slots.looking(loop), slots.claiming(loop):
        assert slots.free(loop)
        loop.in_work = 2
        assert not slots.reserve(loop)


def test_however_many_looks_lead_to_nothing_only_so_many_loops_look() -> None:
    slots, loops = Slots(1), [Repository() for _ in range(3 * MOST_LOOKS)]
    for loop in loops:
        with slots.looking(loop):
            slots.free(loop)
    with ExitStack() as stack:
        for loop in loops:
            stack.enter_context(slots.looking(loop))
        assert sum(slots.free(loop) for loop in loops) == 1 + MOST_LOOKS


@pytest.mark.parametrize("reason", [anyio.get_cancelled_exc_class, lambda: RuntimeError("outside of the block")])
async def test_what_ends_a_claim_gives_its_slot_back(reason: Callable[[], object]) -> None:
    slots, clock, second = Slots(1), HandClock(), FakeAgent([2])
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


async def test_an_item_that_was_woken_takes_a_slot_as_soon_as_it_goes_on_or_takes_long() -> None:
    clock, agent = HandClock(), FakeAgent([1, 2], {1: [Rest("ci"), None, HANG], 2: [Rest("ci"), HANG]})
    async with Loop(agent, clock, slots=Slots(2)).open() as loop:
        await loop.tick()
        await loop.quiet()
        assert (loop.in_work, len(loop.resting)) == (0, 2)
        await loop.tick()
        await anyio.wait_all_tasks_blocked()
        assert (loop.in_work, loop.busy, loop.resting) == (1, 2, ())
        clock.seconds += LOOK_SECONDS
        assert loop.in_work == 2


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


async def test_a_claim_whose_slot_a_waking_item_took_is_made_when_that_has_ended() -> None:
    slots, clock, phase = Slots(1), HandClock(), anyio.Event()
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
        assert not slots.free(Repository()), "it is its turn"
        second.meanwhile = []
        await two.tick()
        await two.quiet()
    assert second.count("step 2") == 1


async def test_a_failing_repository_gives_its_turn_away() -> None:
    slots, clock = Slots(1), HandClock()
    phase = anyio.Event()
    first, failing, third = Reader([1], {1: [phase, DONE]}), Reader([2]), Reader([3])
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


async def test_a_repository_whose_polls_have_ended_is_nobodys_turn() -> None:
    slots, clock, phase = Slots(1), HandClock(), anyio.Event()
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
