"""An agent that is started again on its state directory asks whether what it knew is still so, and pays for nothing."""

from __future__ import annotations

import pytest
from engine import ENGINE, WRITES, Engine

from shared.workflow import Role


@pytest.mark.parametrize("state", ["machine-1", "machine-2"])
async def test_a_restart(engine: Engine, state: str) -> None:
    engine.script("[]")
    engine.variables["GITHUB_TOKEN"] = engine.lab.token(ENGINE, WRITES)
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
    asked: list[int] = []
    engine.lab.exchanges.observe(lambda one: asked.append(one.status))
    async with engine.agent(Role.WORKER, state=state) as worker:
        await engine.tick(worker)
    charged = [status for status in asked if status != 304]
    assert bool(charged) is (state == "machine-2"), "another machine knows nothing"
    assert len(asked) >= 3
    kept = engine.directory / state / "answers" / "answers.db"
    assert kept.stat().st_mode & 0o077 == 0
