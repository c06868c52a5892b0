"""Times of polls: loops that start together do not stay in step."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from fakes.agent import FakeAgent
from fakes.clock import HandClock
from rival_scene import LoopClock, VirtualTime

from shared.loop.polling_loop import JITTER, LOOK_SECONDS, Loop
from shared.scheduling.agent_contract import Candidate

SECONDS = 1.0
LEAVE_SECONDS = 500.0
LOOPS = 40


class Timed(FakeAgent):
    """Notes when it was asked to look."""

    def __init__(self) -> None:
        super().__init__([])
        self.looks: list[float] = []

    async def discover(self) -> Sequence[Candidate]:
        self.looks.append(anyio.current_time())
        return await super().discover()


async def test_loops_that_start_together_are_apart_from_their_second_look_on() -> None:
    agents, clock = [Timed() for _ in range(LOOPS)], HandClock()

    async def run(agent: Timed) -> None:
        async with Loop(agent, clock, interval_seconds=SECONDS).open() as loop:
            await loop.run(anyio.Event(), most_ticks=3)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for agent in agents:
                group.start_soon(run, agent)
    first, second, third = zip(*(agent.looks for agent in agents), strict=True)
    assert max(second) - min(second) > max(first) - min(first) + SECONDS / 2
    assert min(later - earlier for earlier, later in zip(second, third, strict=True)) >= SECONDS * 0.99
    assert min(later - earlier for earlier, later in zip(first, second, strict=True)) < SECONDS * (1 - JITTER)


def test_a_poll_that_was_far_away_comes_soon_when_others_have_stopped_polling() -> None:
    first, second, third = anyio.run(_looks_of_the_last, backend_options={"loop_factory": VirtualTime})
    assert LEAVE_SECONDS <= second - first <= LEAVE_SECONDS + LOOK_SECONDS, "the hour is not waited for"
    assert third - second <= SECONDS * (1 + JITTER)


async def _looks_of_the_last() -> list[float]:
    agent = Timed()
    async with Loop(agent, LoopClock(), interval_seconds=SECONDS).open() as loop:
        left = anyio.current_time() + LEAVE_SECONDS
        loop.stretched = lambda seconds: seconds if anyio.current_time() >= left else 1_000_000.0
        await loop.run(anyio.Event(), most_ticks=3)
    return agent.looks
