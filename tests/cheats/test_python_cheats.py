"""Coders that cheat on a Python project: each is refused with the right error, each honest one gets through."""

from __future__ import annotations

from pathlib import Path

import pytest
from cheat_scene import scene_of
from python_corpus import CODE, GREEN, HONEST, NEW, RED, SEARCH

from shared.llm.port import CoderCall


@pytest.mark.parametrize("cheat", RED)
async def test_tests_that_cheat_are_refused(tmp_path: Path, cheat: str) -> None:
    files, error, sentence = RED[cheat]
    scene = await scene_of(tmp_path, files, CODE, test_retries=0)
    end = await scene.story()
    assert (end.error, sentence in end.told) == (error, True), end.told
    assert [ref for ref in scene.pushed if ref.startswith("refs/heads/")] == []
    if not scene.coder.count(CoderCall.IMPLEMENT):
        assert scene.pushed == [], "nothing is recorded of tests that are refused on the base"


@pytest.mark.parametrize("cheat", GREEN)
async def test_code_that_cheats_is_refused(tmp_path: Path, cheat: str) -> None:
    files, error, sentence = GREEN[cheat]
    scene = await scene_of(tmp_path, {NEW: SEARCH}, files, regression_retries=0)
    end = await scene.story()
    assert (end.error, sentence in end.told) == (error, True), end.told
    assert [ref for ref in scene.pushed if ref.startswith("refs/heads/")] == []


@pytest.mark.parametrize("way", HONEST)
async def test_honest_work_gets_through(tmp_path: Path, way: str) -> None:
    tests, code = HONEST[way]
    scene = await scene_of(tmp_path, tests, code)
    end = await scene.story()
    assert end.error == "", end.told
    assert scene.pushed[-1] == "refs/heads/auto/issue-42"


@pytest.mark.parametrize("phase", ["red", "green"])
async def test_tests_that_sleep_are_stopped(tmp_path: Path, phase: str) -> None:
    sleeps = "import time\n\n\ndef search(names, text):\n    time.sleep(600)\n"
    tests = {
        "red": {NEW: "import time\n\n\ndef test_search():\n    time.sleep(600)\n    assert 0\n"},
        "green": {NEW: SEARCH},
    }
    scene = await scene_of(
        tmp_path, tests[phase], {"directory/search.py": sleeps}, deadline_seconds=2.0, test_retries=0
    )
    end = await scene.story()
    assert end.error == {"red": "TEST_UNEXPECTED_FAIL", "green": "IMPLEMENTATION_FAILED"}[phase]
    assert "stopped at the deadline" in end.told
