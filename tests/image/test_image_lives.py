"""The three agents in containers as the Compose file starts them: a story, health, a stop, a restart."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from deploy.conftest import AGENTS

from image.building import Image
from image.deployment import deployed
from image.waiting import until


@pytest.mark.parametrize("mode", ["container", "bubblewrap"])
async def test_a_story_is_told_and_merged(image: Image, tmp_path: Path, mode: str) -> None:
    async with deployed(image, tmp_path, mode) as deployment:
        with deployment.running():
            deployment.story()
            await deployment.merged()
            for agent in AGENTS:
                await deployment.healthy(agent)
                assert await deployment.containers[agent].stopped() == 0, deployment.logs()


async def test_a_container_is_healthy_while_its_agent_runs_and_only_then(image: Image, tmp_path: Path) -> None:
    async with deployed(image, tmp_path, "container") as deployment:
        worker = deployment.containers["worker"]
        with worker.started("sleep", "600"):
            await until(lambda: worker.agent_process > 0, deployment.logs)
            assert worker.healthy() == (False, f"No agent runs from {STATE}.")
        with worker.started():
            await deployment.healthy("worker")
            os.kill(worker.first_process, signal.SIGSTOP)
            assert worker.healthy() == (False, "The first process is stopped or dead.")
            os.kill(worker.first_process, signal.SIGCONT)
            assert worker.healthy() == (True, "An agent is running.")
        with worker.started("sleep", "600"):
            await until(lambda: worker.agent_process > 0, deployment.logs)
            assert worker.healthy() == (False, f"No agent runs from {STATE}.")


async def test_a_restarted_container_is_the_same_agent_and_goes_on(image: Image, tmp_path: Path) -> None:
    async with deployed(image, tmp_path, "container") as deployment:
        deployment.story()
        with deployment.running():
            await deployment.at_work()
            assert await deployment.containers["worker"].stopped() == 0, deployment.logs()
            before = identities(deployment.containers["worker"].place)
            with deployment.containers["worker"].started():
                await deployment.merged()
        assert identities(deployment.containers["worker"].place) == before != set()


STATE = "/var/lib/workflow-engine"


def identities(place: Path) -> set[str]:
    """Return the agents that the state on the volume knows."""
    return {path.name for path in (place / "worker-state/agents").glob("*.lock")}
