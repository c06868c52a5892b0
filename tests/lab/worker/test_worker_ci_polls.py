"""The cost of polling CI: nothing while the answers are the same, and no more often than configured."""

from __future__ import annotations

import pytest
from engine import REPOSITORY, Engine
from worker_scene import CODE, TESTS

from lab.github.ci.behaviours import NEVER
from shared.workflow import Role


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting."""
    engine.script(TESTS + CODE)
    return engine


@pytest.mark.prompt("it counts requests")
@pytest.mark.long
async def test_a_poll_of_unchanged_ci_is_two_requests_that_are_not_charged(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        for _ in range(3):
            await engine.tick(worker)
        before = len(engine.lab.exchanges)
        await engine.tick(worker)
        asked = list(engine.lab.exchanges)[before:]
    assert [one.status for one in asked] == [304] * 3, "the change list, check runs and statuses"


@pytest.mark.long
async def test_checks_are_looked_at_no_oftener_than_configured(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    engine.repository_settings["ci"] = {"interval": 3600}
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        for _ in range(3):
            await engine.tick(worker)
    assert [one for one in engine.lab.exchanges if one.path.endswith("/check-runs")] == []
