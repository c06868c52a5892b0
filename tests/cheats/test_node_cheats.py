"""vitest and jest on real small projects: honest work gets through, coders that cheat are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import node_corpus
import pytest
from cheat_scene import End, Files, Scene, scene_of
from node_tools import command, offer, project, tools

from shared.llm.port import CoderCall
from worker_agent.tdd.runners.registry import choose

RUNNERS = ("vitest", "jest")
WAYS = sorted(node_corpus.ways("vitest", ""))
RED = sorted(node_corpus.red("vitest", ""))
GREEN = sorted(node_corpus.green("vitest"))


async def _scene(place: Path, runner: str, tests: Files, code: Files, **more: Any) -> Scene:
    modules = tools()
    offer(modules, place)
    return await scene_of(place, tests, code, project=project(runner), test_command=command(runner, modules), **more)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("way", WAYS)
async def test_honest_work_gets_through(tmp_path: Path, runner: str, way: str) -> None:
    tests, code = node_corpus.ways(runner, project(runner)["test/find.test.js"])[way]
    scene = await _scene(tmp_path, runner, tests, code)
    end = await scene.story()
    assert end.error == "", end.told
    assert scene.pushed[-1] == "refs/heads/auto/issue-42"


def assert_refused(end: End, errors: str, sentences: str) -> None:
    """Assert one of these errors and sentences: the control test that meets a cheat first is drawn at random."""
    assert end.error in errors.split("|"), end.told
    assert any(sentence in end.told for sentence in sentences.split("|")), end.told


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("cheat", RED)
async def test_tests_that_cheat_are_refused(tmp_path: Path, runner: str, cheat: str) -> None:
    files, error, sentence = node_corpus.red(runner, project(runner)["test/find.test.js"])[cheat]
    scene = await _scene(tmp_path, runner, files, node_corpus.code(runner, node_corpus.WORKS), test_retries=0)
    end = await scene.story()
    assert_refused(end, error, sentence)
    assert [ref for ref in scene.pushed if ref.startswith("refs/heads/")] == []
    if not scene.coder.count(CoderCall.IMPLEMENT):
        assert scene.pushed == [], "nothing is recorded of tests that are refused on the base"


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("cheat", GREEN)
async def test_code_that_cheats_is_refused(tmp_path: Path, runner: str, cheat: str) -> None:
    files, error, sentence = node_corpus.green(runner)[cheat]
    scene = await _scene(tmp_path, runner, node_corpus.honest(runner), files, regression_retries=0)
    end = await scene.story()
    assert_refused(end, error, sentence)
    assert [ref for ref in scene.pushed if ref.startswith("refs/heads/")] == []


@pytest.mark.parametrize("runner", RUNNERS)
def test_the_runner_of_a_project_is_detected(runner: str) -> None:
    files = {path: text.encode() for path, text in project(runner).items()}
    assert choose(None, None, files.keys(), files.get).runner.name == runner
