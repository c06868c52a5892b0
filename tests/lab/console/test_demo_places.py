"""The demonstration's commands hold wherever it plays: a path may have spaces and quotes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lab.demo.environment import python_in
from lab.demo.setup import Stage, furnish
from lab.demo.stories import STORIES
from lab.github.server import Lab
from worker_agent.tdd.runners import command_line


@pytest.mark.parametrize("name", ["a place", "a stranger's place", 'the "other" one'])
async def test_the_test_command_names_the_python_of_the_demonstration(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    stage = Stage(root, root / "env")
    async with Lab(root / "github") as lab:
        await furnish(lab, stage, STORIES[:1])
    (repository,) = yaml.safe_load(stage.config.read_text(encoding="utf-8"))["repositories"]
    argv = command_line.split(repository["test_command"])
    assert argv == (str(python_in(root / "env")), "-m", "pytest", "-q")
