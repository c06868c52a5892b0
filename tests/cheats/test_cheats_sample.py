"""One cheat of each family, and every row of the table of failures whose end is quick: what `make test` runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from cheat_scene import scene_of
from python_corpus import CODE, GREEN, HONEST, NEW, RED, SEARCH

from worker_agent.tdd.phases.cycle import Retries


@pytest.mark.parametrize("cheat", ["red by its import alone", "forces green by a conftest"])
async def test_tests_that_cheat_are_refused(tmp_path: Path, cheat: str) -> None:
    files, error, _ = RED[cheat]
    scene = await scene_of(tmp_path, files, CODE, retries=Retries(tests=0))
    assert (await scene.story()).error == error
    assert scene.pushed == []


async def test_code_that_cheats_is_refused(tmp_path: Path) -> None:
    files, error, _ = GREEN["patches the runner by another name"]
    scene = await scene_of(tmp_path, {NEW: SEARCH}, files)
    assert (await scene.story()).error == error


async def test_honest_work_gets_through_and_what_proves_nothing_is_set_aside(tmp_path: Path) -> None:
    scene = await scene_of(tmp_path, *HONEST["with a test of nothing beside it"])
    assert (await scene.story()).error == ""
    assert scene.pushed[-1] == "refs/heads/auto/issue-42"
    assert "test_runs: passes whatever the code does" in scene.board.shown[0].notes
