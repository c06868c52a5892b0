"""From a story to a merge with the real programs at a model server that is not ours, each through the model proxy."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cli.coding import program
from cli.foreign_model import KEY, running
from shared import process

ROOT = Path(__file__).parents[2]
MADE = ROOT / ".demo" / "env"

VARIABLES = {"claude": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"), "codex": ("OPENAI_API_KEY", "OPENAI_BASE_URL")}

PROGRAMS = [("claude", "0.2.187"), ("claude", "0.2.111"), ("codex", "0.163.0"), ("codex", "0.169.0")]


async def demonstrated(backend: str, version: str, place: Path, more: Mapping[str, str]) -> process.Finished:
    """Run the demonstration as a person starts it, with one program and these additional variables."""
    directory = program(backend, version).parent
    if (MADE / ".ready").exists():  # by the set-up of this checkout: making it again would take longer than the story
        shutil.copytree(MADE, place / "the demo" / "env", symlinks=True)
    path = {"PATH": f"{directory}{os.pathsep}{os.defpath}", "HOME": str(place), "PYTHONPATH": str(ROOT)}
    argv = (sys.executable, "-m", "console", "demo", "--llm", backend, "--directory", str(place / "the demo"))
    return await process.run(argv, cwd=ROOT, env={**path, **more})


@pytest.mark.parametrize(("backend", "version"), PROGRAMS, ids=["-".join(one) for one in PROGRAMS])
async def test_a_story_is_merged_at_a_server_that_somebody_else_wrote(backend: str, version: str, root: Path) -> None:
    async with running(root, backend) as server:
        key, url = VARIABLES[backend]
        finished = await demonstrated(backend, version, root, {key: KEY, url: server.url})
        seen = await server.journal()
    assert finished.code == 0, finished.text
    assert "Merged, closed, and green." in finished.text
    assert {entry["response"]["status"] for entry in seen} == {200}, "nothing was asked that it did not know"
    assert len(seen) >= 9
    assert KEY not in finished.text
