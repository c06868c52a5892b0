"""The demonstration with real programs: from a story to a merge, at a scripted model, without a key."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cli.coding import program
from shared import process

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("backend", "version"), [("claude", "0.2.187"), ("codex", "0.169.0")])
async def test_a_real_program_plays_the_demonstration_to_its_merge(backend: str, version: str, root: Path) -> None:
    directory = program(backend, version).parent
    environment = {"PATH": f"{directory}{os.pathsep}{os.defpath}", "HOME": str(root), "PYTHONPATH": str(ROOT)}
    argv = (sys.executable, "-m", "console", "demo", "--llm", backend, "--directory", str(root / "demo"))
    finished = await process.run(argv, cwd=ROOT, env=environment)
    assert finished.code == 0, finished.text
    assert "no key, no cost" in " ".join(finished.text.split())
    assert "Merged, closed, and green." in finished.text
    assert not list((root / "demo").glob("run-*"))
