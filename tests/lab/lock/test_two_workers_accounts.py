"""Two workers with an account each: the second one sees what the first one holds when it knows that account."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from engine import ENGINE, REPOSITORY, REVIEWER, WRITES, Engine
from worker_scene import SLOW, claims, comments, during_the_call

from shared.loop.polling_loop import Loop
from shared.workflow import Role

pytestmark = pytest.mark.long

SECOND = "engine-two"
LONGER_THAN_A_HEARTBEAT = 600


@asynccontextmanager
async def second(engine: Engine, *, known: bool) -> AsyncIterator[Loop]:
    """Run a worker on another machine, as another account; `known` says whether it has been told of the first one."""
    engine.lab.configure(REPOSITORY, collaborators={ENGINE: "write", REVIEWER: "write", SECOND: "write"})
    engine.variables["GITHUB_TOKEN"] = engine.lab.token(SECOND, WRITES)
    github = {"api_url": engine.lab.url, "write_interval_seconds": 0.0}
    accounts = [engine.lab.account(login).id for login in (ENGINE, SECOND)]
    engine.more_settings["github"] = github | ({"accounts": accounts} if known else {})
    async with engine.agent(Role.WORKER, state="machine-2") as worker:
        yield worker


async def test_an_issue_that_another_account_holds_is_left_alone(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as first, second(engine, known=True) as other:
        await during_the_call(engine, first)
        engine.lab.clock.advance(LONGER_THAN_A_HEARTBEAT)
        await engine.look(other)
        await other.quiet()
        assert claims(engine, number) == 1
        assert {one.author for one in comments(engine, number)} == {ENGINE}


async def test_whoever_may_move_a_fence_holds_the_item_although_nobody_named_its_account(engine: Engine) -> None:
    """The comment of an account that nobody named proves nothing; the fence holds the item whatever the account."""
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as first, second(engine, known=False) as other:
        await during_the_call(engine, first)
        engine.lab.clock.advance(LONGER_THAN_A_HEARTBEAT)
        await engine.look(other)
        await other.quiet()
        assert claims(engine, number) == 1
        assert other.busy == 0
