"""A story whose agents look once in an hour: GitHub's webhooks wake them, through the daemon's own receiver."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import anyio
import pytest
from daemon_scene import line, lines
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine, demo_script

from lab.demo.stories import STORIES
from shared import process

pytestmark = pytest.mark.long

SECRET = "a-secret-of-the-webhook"
ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 480


def configured(engine: Engine, directory: Path) -> Path:
    """Write the configuration of a process of all three agents that polls once in an hour, and takes webhooks."""
    engine.scenario = demo_script(directory)
    engine.repository_settings |= {"approval": "auto", "merge": "auto", "poll_interval": 3600}
    engine.more_settings |= {"webhook": {"port": 0}, "lock": {"settle": 0}}
    path = engine.directory / "config.yml"
    path.write_text(engine.settings("state").model_dump_json(exclude_unset=True), encoding="utf-8")
    return path


async def test_a_story_is_carried_on_by_webhooks_alone(engine: Engine, tmp_path: Path) -> None:
    config, log = configured(engine, tmp_path), engine.directory / "run.log"
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    env["WORKFLOW_ENGINE_WEBHOOK_SECRET"] = SECRET
    argv = (sys.executable, "-m", "console", "run", REPOSITORY, "--config", str(config))
    with anyio.fail_after(PATIENCE_SECONDS):
        async with process.started(argv, cwd=ROOT, env=env, log=log) as child:
            port = (await line(log, "webhook_served"))["port"]
            while sum(one["event"] == "started" for one in lines(log)) < 3:  # noqa: ASYNC110  # another process
                await anyio.sleep(0.1)
            engine.lab.hook(REPOSITORY, f"http://127.0.0.1:{port}/webhook", SECRET)
            story = engine.lab.issue(REPOSITORY, STORIES[0].title, STORIES[0].body, author=OWNER, labels=("story",))
            while engine.issue(story.number).open:  # noqa: ASYNC110  # another process
                await anyio.sleep(0.1)
            child.send_signal(signal.SIGTERM)
            assert await child.wait() == 0
    assert [pull.merged_at is not None for pull in engine.lab.at(REPOSITORY).pulls.records.values()] == [True]
    assert engine.held_locks() == []
    told = {(one.event, one.status) for one in engine.lab.webhooks.deliveries}
    assert {("issues", 202), ("push", 202), ("check_run", 202), ("pull_request", 202)} <= told
    assert {status for _, status in told} <= {202, 200, 0}, "none was refused; agents that have ended hear nothing"
    assert SECRET.encode() not in log.read_bytes()
