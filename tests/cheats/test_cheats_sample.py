"""One cheat of each family, and every row of the table of failures whose end is quick: what `make test` runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from cheat_scene import scene_of
from python_corpus import CODE, GREEN, HONEST, NEW, RED, SEARCH

from shared.llm.port import CoderCall


@pytest.mark.parametrize("cheat", ["red by its import alone", "forces green by a conftest"])
async def test_tests_that_cheat_are_refused(tmp_path: Path, cheat: str) -> None:
    files, error, _ = RED[cheat]
    scene = await scene_of(tmp_path, files, CODE, test_retries=0)
    assert (await scene.story()).error == error
    assert [ref for ref in scene.pushed if ref.startswith("refs/heads/")] == []


async def test_code_that_cheats_is_refused(tmp_path: Path) -> None:
    files, error, _ = GREEN["patches the runner by another name"]
    scene = await scene_of(tmp_path, {NEW: SEARCH}, files)
    assert (await scene.story()).error == error


async def test_honest_work_gets_through_and_better_tests_are_asked_for_where_one_proves_nothing(tmp_path: Path) -> None:
    scene = await scene_of(tmp_path, *HONEST["with better tests when one proved nothing"])
    assert (await scene.story()).error == ""
    assert scene.pushed[-1] == "refs/heads/auto/issue-42"
    assert [request.call for request in scene.coder.asked] == [
        CoderCall.WRITE_TESTS,
        CoderCall.IMPLEMENT,
        CoderCall.WRITE_TESTS,
    ]
    assert "test_runs: it passes although the code was damaged" in scene.coder.asked[-1].prompt
