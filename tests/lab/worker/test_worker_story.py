"""The worker on a whole GitHub: real HTTP, real git, real tests, a scripted coder."""

from __future__ import annotations

from pathlib import Path

from engine import REPOSITORY, Engine, demo_script
from worker_scene import BODY

from shared.workflow import Role, Stage


async def test_a_hand_labelled_issue_becomes_a_green_pull_request(engine: Engine, tmp_path: Path) -> None:
    engine.scenario = demo_script(tmp_path)
    number = engine.ready("Search users by name", BODY)
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: "status:reviewing" in engine.issue(number).labels, worker)
        (pull,) = engine.lab.at(REPOSITORY).pulls.opened_onto("main")
        assert set(engine.issue(pull.number).labels) == {"status:reviewing", "automated"}
        fence = await engine.fence(Role.WORKER, number)
    assert fence is not None
    assert fence.stage is Stage.REVIEWING
    assert fence.attempt == 2
