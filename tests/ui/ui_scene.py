"""The real programs for a person in a terminal: their commands on the path, a lab as their GitHub, an editor."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from engine import ENGINE, REPOSITORY, WRITES, Engine
from tmux_terminal import Terminal, terminal

ROOT = Path(__file__).parents[2]
PROGRAMS = {"planner-agent": "planner_agent", "worker-agent": "worker_agent", "workflow-engine": "console"}


def programs(directory: Path) -> Path:
    """Make a directory with the programs as they are installed."""
    place = directory / "bin"
    place.mkdir()
    for name, module in PROGRAMS.items():
        script(place / name, f'exec {shlex.quote(sys.executable)} -m {module} "$@"')
    return place


def script(file: Path, text: str) -> Path:
    """Write an executable shell script."""
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def configured(engine: Engine) -> Path:
    """Write the configuration of the person's machine."""
    path = engine.directory / "config.yml"
    repository = {"name": REPOSITORY, "llm_backend": "scripted", "poll_interval": 0.2, "approval": "terminal"}
    settings = {
        "repositories": [repository],
        "state_dir": str(engine.directory / "state"),
        "sandbox": "none",
        "github": {"api_url": engine.lab.url, "write_interval_seconds": 0},
        "lock": {"settle": 0},
        "llm": {"scenario": str(engine.scenario)},
    }
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


def variables(directory: Path, **more: str) -> dict[str, str]:
    """Return the person's environment."""
    return {
        "PATH": f"{programs(directory)}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        **more,
    }


@asynccontextmanager
async def person(engine: Engine, *, columns: int = 100, rows: int = 50, **more: str) -> AsyncIterator[Terminal]:
    """Open a terminal with the engine's token and a configuration."""
    environment = variables(
        engine.directory,
        GITHUB_TOKEN=engine.lab.token(ENGINE, WRITES),
        WORKFLOW_ENGINE_CONFIG=str(configured(engine)),
        **more,
    )
    async with terminal(engine.directory, environment, columns=columns, rows=rows) as one:
        yield one


def writes(engine: Engine) -> list[str]:
    """Return the writes through the API so far."""
    return [f"{one.method} {one.path}" for one in engine.lab.exchanges if one.method not in {"GET", "HEAD"}]
