"""A backend that keeps failing is left alone for a minute, then probed by one run."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from fakes.clock import HandClock

from shared.llm.circuit_breaker import FAILURES, PAUSE_SECONDS, PROBE_SECONDS, Breaker, CircuitBreaker
from shared.llm.port import CoderCall, Ending, Request, RunOutcome

REQUEST = Request(CoderCall.IMPLEMENT, "#1", "A thing", "developer", "Do it.")


@dataclass
class Backend:
    """Ends every run as `ending`, as soon as `gate` is open."""

    ending: Ending = Ending.TRANSIENT
    runs: int = 0
    gate: anyio.Event = field(default_factory=anyio.Event)
    name: str = "fake"

    async def run(self, request: Request) -> RunOutcome:
        self.runs += 1
        await self.gate.wait()
        return RunOutcome(self.ending)


@dataclass
class Scene:
    """A scene with two items' coders on one backend and one circuit breaker."""

    clock: HandClock = field(default_factory=HandClock)
    backend: Backend = field(default_factory=Backend)
    breaker: Breaker = field(default_factory=Breaker)
    limiter: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(2))

    def __post_init__(self) -> None:
        self.backend.gate.set()
        self.coder, self.other = (
            CircuitBreaker(self.backend, self.breaker, self.clock, self.limiter, lambda **facts: None) for _ in "ab"
        )

    async def fail(self, times: int = FAILURES) -> None:
        for _ in range(times):
            await self.coder.run(REQUEST)


@pytest.mark.fault(26)
async def test_five_failures_in_a_row_pause_the_backend_for_all_at_no_cost() -> None:
    scene = Scene()
    await scene.fail()
    outcome = await scene.other.run(REQUEST)
    assert scene.backend.runs == FAILURES
    at = datetime.fromtimestamp(scene.clock.now(), UTC)
    assert (outcome.ending, outcome.retry_at) == (Ending.OVERLOADED, at + timedelta(seconds=PAUSE_SECONDS))
    assert outcome.usage.cost_usd == 0
    assert "5 times in a row" in outcome.text


async def test_what_shows_that_it_answers_begins_the_row_anew() -> None:
    scene = Scene()
    await scene.fail(FAILURES - 1)
    scene.backend.ending = Ending.MALFORMED
    await scene.fail(1)
    scene.backend.ending = Ending.TRANSIENT
    await scene.fail(FAILURES - 1)
    assert (await scene.other.run(REQUEST)).ending is Ending.TRANSIENT


@pytest.mark.parametrize(("found", "runs"), [(Ending.COMPLETED, 3), (Ending.TRANSIENT, 1)])
async def test_after_the_pause_one_run_probes_for_all(found: Ending, runs: int) -> None:
    scene = Scene()
    await scene.fail()
    scene.clock.seconds += PAUSE_SECONDS
    scene.backend.runs, scene.backend.ending, scene.backend.gate = 0, found, anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(scene.coder.run, REQUEST)
        await anyio.wait_all_tasks_blocked()
        waits = await scene.other.run(REQUEST)
        assert waits.retry_at is not None
        assert waits.retry_at.timestamp() - scene.clock.now() == pytest.approx(PROBE_SECONDS)
        assert scene.backend.runs == 1
        scene.backend.gate.set()
    for _ in range(2):
        await scene.other.run(REQUEST)
    assert scene.backend.runs == runs


async def test_a_probe_that_we_cut_off_lets_the_next_one_try() -> None:
    scene = Scene()
    await scene.fail()
    scene.clock.seconds += PAUSE_SECONDS
    scene.backend.gate = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(scene.coder.run, REQUEST)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    scene.backend.gate.set()
    scene.backend.ending = Ending.COMPLETED
    assert (await scene.other.run(REQUEST)).ending is Ending.COMPLETED


async def test_only_so_many_runs_go_on_at_once() -> None:
    scene = Scene(limiter=anyio.CapacityLimiter(1))
    scene.backend.gate = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(scene.coder.run, REQUEST)
        group.start_soon(scene.other.run, REQUEST)
        await anyio.wait_all_tasks_blocked()
        assert scene.backend.runs == 1, "the other one waits for its turn"
        scene.backend.gate.set()
    assert scene.backend.runs == 2
