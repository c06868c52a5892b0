"""A worker that has more to poll than GitHub's limit of a minute allows: it polls less often, and says so."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest
from daemon_lives import OTHER, daemon
from engine import ENGINE, REPOSITORY, WRITES, Engine

from runtime.building.neighbours import Neighbours
from shared.telemetry.event_log import NoEventLog
from shared.telemetry.metrics import Figures
from shared.workflow import Role

pytestmark = pytest.mark.long


async def test_polls_are_stretched_for_all_agents_of_the_token_on_the_machine(engine: Engine) -> None:
    await engine.lab.repository(OTHER, {"README.md": "# Other\n"}, collaborators={ENGINE: "write"})
    async with daemon(engine, OTHER) as scene:
        token = engine.lab.token(ENGINE, WRITES)
        settings = scene.polling(1.0, write_interval_seconds=0.25)
        process = replace(scene.process, settings=settings, environment={"GITHUB_TOKEN": token})
        scene.life._process = process
        account = engine.lab.world.accounts[ENGINE].id
        neighbour = Neighbours(settings.state_dir, f"{settings.github.api_url} {account}", scene.clock)
        neighbour.join("reviewer-a", 998 * 60.0)
        neighbour.polls()
        for name in (REPOSITORY, OTHER):
            scene.answered[name].set()
        async with anyio.create_task_group() as group:
            group.start_soon(scene.life.run, scene.configuration, lambda: None)
            while not scene.life.live:  # noqa: ASYNC110  # it begins by itself
                await anyio.sleep(0.01)
            assert "polls every 133 s instead of 1 s" in scene.life.status()
            assert scene.life._loops is not None
            assert [round(loop.stretched(1.0)) for _, loop in scene.life._loops._polled] == [133, 133]
            figures = Figures(
                "worker-a", Role.WORKER, process.telemetry.tallies, process.telemetry.health, NoEventLog()
            )
            assert "workflow_engine_poll_interval_seconds 133.3" in figures.text().decode()
            assert neighbour.polls() == ()
            scene.clock.late = 60.0  # its next look
            assert neighbour.polls() == (120.0,)
            scene.orders.drain()
