"""Many repositories of one process, in virtual time: who begins what and when, and what is read for it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
from fakes.agent import DONE, FakeAgent
from rival_scene import LoopClock, VirtualTime

from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Candidate, Claim, Skip, Step
from shared.scheduling.slots import Slots

POLL_SECONDS, COOLDOWN_SECONDS = 30.0, 10.0

BLOCKED = Skip("blocked by another issue", 1800)


@dataclass
class Seconds:
    """Seconds to list the candidates, to read one closely, to work on it, and to see if a wait is over."""

    listing: float = 0.3
    reading: float = 1.5
    work: float = 60.0
    look: float = 3.0


@dataclass
class Plan(FakeAgent):
    """An agent of one repository. With `endless`, each item that is done is followed by another one."""

    takes: Seconds = field(default_factory=Seconds)
    endless: bool = False
    begun: list[float] = field(default_factory=list)
    going_on: set[int] = field(default_factory=set)
    """Items that were claimed, or whose last step ended, without a wait since."""
    working: set[int] = field(default_factory=set)
    """Items in a step that does not look whether a wait is over."""
    read: int = 0
    """Readings of a candidate that may be claimed."""

    @property
    def in_vain(self) -> int:
        """Readings for which there was no slot in the end."""
        return self.read - len(self.begun)

    async def discover(self) -> Sequence[Candidate]:
        await anyio.sleep(self.takes.listing)
        return await super().discover()

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        await anyio.sleep(self.takes.reading)
        got = await super().prepare(candidate)
        self.read += not isinstance(got, Skip)
        return got

    async def claim(self, number: int) -> Lease | Skip:
        self.begun.append(anyio.current_time())
        self.going_on.add(number)
        return await super().claim(number)

    async def step(self, held: Held) -> Step:
        number = held.fence.key.number
        if number in self.going_on:
            self.working.add(number)
        step = await self._step(held, number)
        self.working.discard(number)
        self.going_on = self.going_on | {number} if step is None else self.going_on - {number}
        return step

    async def _step(self, held: Held, number: int) -> Step:
        if number not in self.steps:
            await anyio.sleep(self.takes.work)
            self.numbers.remove(number)
            self.numbers += [number + 1000] * self.endless
            return DONE
        await anyio.sleep(self.takes.look)
        return await super().step(held)


@dataclass
class Shift:
    """The sights of a shift: most items at work at once, and the seconds in which a slot was free for ready work."""

    most_at_once: int = 0
    idle_seconds: int = 0


def shift(plans: Sequence[Plan], seconds: float, *, limit: int = 1, seed: int = 1) -> Shift:
    """Let one process work for so many seconds."""
    return anyio.run(_shift, plans, seconds, limit, seed, backend_options={"loop_factory": VirtualTime})


async def _shift(plans: Sequence[Plan], seconds: float, limit: int, seed: int) -> Shift:
    random.seed(seed)  # the loops' own pauses
    slots, seen, loops = Slots(limit, LoopClock()), Shift(), list[Loop]()
    async with anyio.create_task_group() as group:
        for plan in plans:
            one = Loop(plan, LoopClock(), slots=slots, interval_seconds=POLL_SECONDS, cooldown_seconds=COOLDOWN_SECONDS)
            loops.append(one)
            group.start_soon(_driven, one)
        for _ in range(int(seconds)):
            await anyio.sleep(1)
            busy = sum(len(plan.working) for plan in plans)
            ready = any(number not in (*plan.held, *plan.claims) for plan in plans for number in plan.numbers)
            seen.most_at_once = max(seen.most_at_once, busy)
            seen.idle_seconds += ready and busy < limit
        group.cancel_scope.cancel()
    return seen


async def _driven(loop: Loop) -> None:
    async with loop.open():
        await loop.run(anyio.Event())
