"""A ceiling over all agents: the second issue waits, for every agent, until the first pull request has ended."""

from __future__ import annotations

from functools import partial

import pytest
from engine import OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import CODE, SLOW, TESTS, during_the_call, eventually, labels, pulls

from shared.reconcile.sweep import SWEEP_SECONDS
from shared.workflow import Role

pytestmark = pytest.mark.long


async def test_no_second_pull_request_is_opened_beside_the_first(engine: Engine) -> None:
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    engine.repository_settings["ceilings"] = {"open_pull_requests": 1}
    engine.script(TESTS + CODE)
    first = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.WORKER, state="machine-2") as other:
        await engine.until(lambda: bool(pulls(engine)), worker)
        second = engine.ready("Greet people twice")
        for _ in range(3):
            await engine.tick(worker)
            await engine.tick(other)
        assert labels(engine, second) == {"status:ready"}
        assert len(pulls(engine)) == 1
        engine.lab.at(REPOSITORY).issues.close(pulls(engine)[0].number, OWNER)
        engine.lab.at(REPOSITORY).issues.close(first, OWNER)
    async with engine.agent(Role.WORKER, state="machine-3") as third:
        for _ in range(2):  # a sweep finds that the first has ended, by two looks
            await engine.tick(third)
            clock.skip(SWEEP_SECONDS + 1)
        await engine.until(lambda: "status:ready" not in labels(engine, second), third)


async def test_what_was_begun_goes_on_under_a_lowered_ceiling(engine: Engine) -> None:
    engine.script(SLOW)
    async with engine.agent(Role.WORKER) as one, engine.agent(Role.WORKER, state="machine-2") as two:
        for worker in (one, two):
            number = engine.ready("Greet people")
            await engine.look(worker)
            await eventually(partial(is_begun, engine, number))
    engine.repository_settings["ceilings"] = {"in_work": 1}
    third = engine.ready("Greet people once more")
    async with engine.agent(Role.WORKER, state="machine-1") as again:
        await during_the_call(engine, again)
        assert again.busy == 1
    assert labels(engine, third) == {"status:ready"}


async def test_an_account_begins_no_more_than_it_may_have_in_work(engine: Engine) -> None:
    engine.more_settings["in_work_per_account"] = 1
    engine.script(SLOW)
    first = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as one, engine.agent(Role.WORKER, state="machine-2") as two:
        await engine.look(one)
        await eventually(partial(is_begun, engine, first))
        second = engine.ready("Greet people twice")
        await engine.look(two)
        assert labels(engine, second) == {"status:ready"}
        assert "in_work_per_account" in str(two.skipped)


def is_begun(engine: Engine, number: int) -> bool:
    return "status:implementing" in labels(engine, number)
