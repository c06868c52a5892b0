"""An agent's share of an account's limits, if it sees in the fences which others work under the account."""

from __future__ import annotations

import pytest
from engine import ENGINE, REVIEWER, Engine
from worker_scene import CODE, TESTS

from shared.workflow import Role

pytestmark = pytest.mark.long


@pytest.mark.prompt("it counts requests")
@pytest.mark.parametrize(
    ("account", "share", "expected"),
    [(ENGINE, None, 1 / 2), (ENGINE, 0.75, 0.75), (REVIEWER, None, 1)],
    ids=["the same account", "a configured number wins", "another account"],
)
async def test_a_second_agent_sees_the_first_one_at_work(
    engine: Engine, account: str, share: float | None, expected: float
) -> None:
    engine.script(TESTS + CODE)
    engine.ready("Greet people")
    api = {"api_url": engine.lab.url, "write_interval_seconds": 0.0}
    async with engine.agent(Role.WORKER) as first:
        await first.tick()
        assert engine.chronicles[Role.WORKER].health.share() == 1, "it has seen nobody but itself"
        engine.account, engine.more_settings = account, {"github": api | {"share": share}}
        since = len(list(engine.lab.exchanges))
        async with engine.agent(Role.PLANNER, state="machine-2") as second:
            await second.tick()
            assert engine.chronicles[Role.PLANNER].health.share() == pytest.approx(expected)
        asked = {one.path.partition("?")[0] for one in list(engine.lab.exchanges)[since:] if ".git/" not in one.path}
        assert not any("/git/" in path or "/commits" in path for path in asked), "nothing was asked of GitHub for it"
