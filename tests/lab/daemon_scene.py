"""An agent as a process of its own: its configuration, its log lines, and what its locks say."""

from __future__ import annotations

import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
from engine import REPOSITORY, Engine
from project_pytest import ALONE

from shared.lock.codec import AckState
from shared.lock.comment import read_ack
from shared.models import Account, Comment

SLOW = "- {call: write_tests, takes: 600, edits: [{path: tests/test_x.py, content: ''}]}\n"


def configured(engine: Engine) -> Path:
    """Write a configuration file for a separate process."""
    scenario = engine.directory / "slow.yml"
    scenario.write_text(SLOW, encoding="utf-8")
    repository = {
        "name": REPOSITORY,
        "llm_backend": "scripted",
        "test_command": f"{ALONE} {shlex.quote(sys.executable)} -m pytest -q",
    }
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
    """Return the states of the ACKs in a thread."""
    records = engine.lab.at(REPOSITORY).comments.of(number)
    nobody, then = Account(0, ""), datetime(2026, 1, 1, tzinfo=UTC)
    comments = (Comment(r.id, r.number, nobody, r.body, then, then) for r in records)
    return [ack.state for comment in comments if (ack := read_ack(comment))]


def lines(log: Path) -> list[dict[str, Any]]:
    """Return the lines logged so far; a last line that is still being written is left out."""
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.startswith("{") and line.endswith("\n")]


async def line(log: Path, event: str) -> dict[str, Any]:
    """Wait for the first line of this event, and return it."""
    while True:
        for one in lines(log):
            if one["event"] == event:
                return one
        await anyio.sleep(0.1)
