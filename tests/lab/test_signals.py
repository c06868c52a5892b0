"""Signals to real agent processes: what they hold is released, nothing is lost, the exit code says what happened."""

from __future__ import annotations

import json
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine

from shared import process
from shared.lock.codec import AckState, read_ack
from shared.models import Account, Comment

SLOW = "- {call: write_tests, takes: 600, edits: [{path: tests/test_x.py, content: ''}]}\n"


def configured(engine: Engine) -> Path:
    """A configuration file for a process of its own."""
    scenario = engine.directory / "slow.yml"
    scenario.write_text(SLOW, encoding="utf-8")
    repository = {"name": REPOSITORY, "llm_backend": "scripted", "test_command": f"'{sys.executable}' -m pytest -q"}
    path = engine.directory / "config.yml"
    path.write_text(
        json.dumps(
            {
                "repositories": [repository | {"poll_interval": 0.2}],
                "state_dir": str(engine.directory / "state"),
                "sandbox": "none",
                "github": {"api_url": engine.lab.url, "write_interval_seconds": 0},
                "lock": {"settle": 0},
                "llm": {"scenario": str(scenario)},
            }
        ),
        encoding="utf-8",
    )
    return path


def states(engine: Engine, number: int) -> list[AckState]:
    """What the ACKs of a thread say."""
    records = engine.lab.at(REPOSITORY).comments.of(number)
    nobody, then = Account(0, ""), datetime(2026, 1, 1, tzinfo=UTC)
    comments = (Comment(r.id, r.number, nobody, r.body, then, then) for r in records)
    return [ack.state for comment in comments if (ack := read_ack(comment))]


@pytest.mark.fault(37)
@pytest.mark.parametrize(
    ("words", "number", "code"),
    [
        ((), signal.SIGTERM, 0),
        ((), signal.SIGINT, 0),
        (("--once",), signal.SIGTERM, 143),
        (("--once",), signal.SIGINT, 130),
    ],
)
async def test_the_first_signal_releases_and_ends(
    engine: Engine, words: tuple[str, ...], number: signal.Signals, code: int
) -> None:
    issue = engine.lab.issue(
        REPOSITORY, "Add search", "AC1: it searches", author=OWNER, labels=("status:ready",)
    ).number
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    argv = (sys.executable, "-m", "worker_agent", "--config", str(configured(engine)), *words)
    root, log = Path(__file__).parents[2], engine.directory / "worker.log"
    with anyio.fail_after(60):
        async with process.started(argv, cwd=root, env=env, log=log) as child:
            while states(engine, issue) != [AckState.ACTIVE] or b"write tests" not in log.read_bytes():  # noqa: ASYNC110
                await anyio.sleep(0.1)
            child.send_signal(number)
            assert await child.wait() == code
    assert states(engine, issue) == [AckState.RELEASED]
    assert "status:implementing" in engine.issue(issue).labels, "the stage stays, so that any agent goes on"
    assert b"Traceback" not in log.read_bytes()
