"""Failed runs in the lab: each ends in its wait or with a person, and another agent goes on from the wait."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from engine import Engine
from worker_scene import CODE, TESTS, calls, fence, labels, once, status

from lab.github.clock import LabClock
from shared.loop.polling_loop import Loop
from shared.retry.failures import SCHEDULE_SECONDS
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long


def failing(ending: str, times: int | None = None) -> str:
    """Return a script whose first call fails so, `times` times or always."""
    if times is None:
        return f"- call: write_tests\n  fails: {ending}\n"
    fails = f"- call: write_tests\n  fails: {ending}\n  times: {times}\n"
    return TESTS.replace("- call: write_tests\n", fails, 1) + CODE


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine whose agents' clock the test moves."""
    engine.clock = LabClock()
    return engine


@asynccontextmanager
async def worker(engine: Engine, state: str = "machine-1") -> AsyncIterator[Loop]:
    """Run one worker as far as its first rest."""
    async with engine.agent(Role.WORKER, state=state) as loop:
        await engine.tick(loop)
        yield loop


def pass_time(engine: Engine, seconds: float) -> None:
    """Let time pass for the agents and for GitHub."""
    assert isinstance(engine.clock, LabClock)
    engine.clock.advance(seconds)
    engine.lab.clock.advance(seconds)


@pytest.mark.fault(24)
async def test_a_passing_failure_waits_by_its_schedule_and_then_goes_to_a_person(engine: Engine) -> None:
    engine.script(failing("transient"))
    number = engine.ready("Greet people")
    async with worker(engine) as loop:
        for seconds in SCHEDULE_SECONDS:
            seen = await fence(engine, number)
            assert seen.wait is not None
            assert (seen.wait.until - seen.at).total_seconds() == pytest.approx(seconds, abs=2)
            assert seen.attempt == 0
            pass_time(engine, seconds + 2)
            await engine.tick(loop)
        assert [end.result for end in loop.ended] == [Result.FAILED]
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    assert "6 times" in status(engine, number)
    assert "transient" in status(engine, number)


@pytest.mark.fault(26)
async def test_a_rate_limit_is_waited_out_and_spends_nothing(engine: Engine) -> None:
    engine.script(failing("overloaded", 5))
    number = engine.ready("Greet people")
    async with worker(engine) as loop:
        for count in range(1, 5):
            assert (await fence(engine, number)).failures == f"API_RATE_LIMIT={count}"
            pass_time(engine, 2**count + 2)
            await engine.tick(loop)
        pass_time(engine, 20)
        await engine.tick(loop)
        seen = await fence(engine, number)  # the fifth failure in a row has paused the backend for everybody
        assert seen.wait is not None
        assert (seen.wait.reason, seen.failures) == ("usage-limit", "API_RATE_LIMIT=5")
        pass_time(engine, 60)
        await engine.until(lambda: bool(loop.ended), loop)
        assert [end.result for end in loop.ended] == [Result.HANDED_OVER]
    seen = await fence(engine, number)
    assert (seen.attempt, seen.failures, seen.paid_runs, seen.wait) == (1, "", 0, None)


@pytest.mark.fault(26)
async def test_another_agent_goes_on_from_the_wait_and_not_before_its_end(engine: Engine) -> None:
    engine.script(failing("transient", 2))
    number = engine.ready("Greet people")
    async with worker(engine) as loop:
        await engine.tick(loop)  # the first pause is none; the second is a minute
    before = await fence(engine, number)
    assert before.wait is not None
    engine.script(TESTS + CODE)  # what has failed is written down on the first machine only
    async with engine.agent(Role.WORKER, state="machine-2") as other:
        await engine.tick(other)
        assert "waits until" in other.skipped[0]
        assert (await fence(engine, number)).oid == before.oid
        pass_time(engine, 61)
        await engine.until(lambda: bool(other.ended), other)
        assert [end.result for end in other.ended] == [Result.HANDED_OVER]
    assert (await fence(engine, number)).attempt == 1


@pytest.mark.parametrize(
    ("ending", "advice"),
    [("auth", "key or login"), ("persistent", "agent's log")],
)
@pytest.mark.fault(22)
async def test_what_cannot_pass_goes_to_a_person_at_once(engine: Engine, ending: str, advice: str) -> None:
    engine.script(failing(ending))
    number = engine.ready("Greet people")
    await once(engine, number)
    assert calls(engine, "write_tests") == 1
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    assert advice in status(engine, number)
    assert (await fence(engine, number)).attempt == 0


async def test_a_person_s_new_order_does_not_wait(engine: Engine) -> None:
    engine.script(failing("transient", 2))
    number = engine.ready("Greet people")
    async with worker(engine) as loop:
        await engine.tick(loop)
        assert (await fence(engine, number)).wait is not None
        engine.lab.unlabel("ada/directory", number, "status:implementing", actor="ada")
        await engine.until(lambda: bool(loop.ended), loop)
        engine.lab.label("ada/directory", number, "status:ready", actor="ada")
        await engine.until(lambda: len(loop.ended) > 1, loop)
        assert loop.ended[-1].result is Result.HANDED_OVER


@pytest.mark.parametrize(("who", "results"), [("ada", [Result.HANDED_OVER]), ("mallory", [])])
async def test_only_an_order_of_somebody_with_write_access_ends_a_released_wait(
    engine: Engine, who: str, results: list[Result]
) -> None:
    engine.script(failing("transient", 2))
    number = engine.ready("Greet people")
    async with worker(engine) as loop:
        await engine.tick(loop)
    assert (await fence(engine, number)).failures == "transient=2"
    engine.script(TESTS + CODE)
    engine.lab.label("ada/directory", number, "status:ready", actor=who)
    async with engine.agent(Role.WORKER, state="machine-2") as other:
        for _ in range(6):
            await engine.tick(other)
        assert [end.result for end in other.ended] == results
        assert any("waits" in why for why in other.skipped) is not bool(results)


async def test_phases_pass_between_agents_of_different_roles(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER, state="tester", plays="test-automation") as tester:
        await engine.until(lambda: bool(tester.ended), tester)
        assert tester.ended[0].sentence == "the next step is for the role developer"
        seen = await fence(engine, number)
        assert (seen.phase, seen.next_role) == ("green", "developer")
        await engine.tick(tester)
        assert "for the role developer" in tester.skipped[0]
    async with engine.agent(Role.WORKER, state="coder", plays="developer") as coder:
        await engine.until(lambda: bool(coder.ended), coder)
        assert [end.result for end in coder.ended] == [Result.HANDED_OVER]
    assert calls(engine, "write_tests") == calls(engine, "implement") == 1
    assert (await fence(engine, number)).next_role == ""
