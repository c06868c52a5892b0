"""The table of failures, row by row: which error ends a cycle, after how many calls, and with which flag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from cheat_scene import PROJECT, Files, scene_of
from python_corpus import CODE, NEW, SEARCH

from shared.errors import RunFailed
from shared.llm.port import CoderCall
from shared.retry.failures import Category
from shared.workflow.labels import Flag
from worker_agent.errors import CycleAborted
from worker_agent.tdd.judging.verdict import ErrorType

BROKEN: Files = {NEW: "def test_search(:\n"}
EMPTY: Files = {"directory/search.py": "def search(names, text):\n    return None\n"}
REGRESSES: Files = {**CODE, "directory/__init__.py": "def find(names, name):\n    return []\n"}
PASSES: Files = {NEW: "from directory import find\n\n\ndef test_nobody():\n    assert find([], 'a') == []\n"}
REPEATS: Files = {NEW: PROJECT["tests/test_find.py"]}


@dataclass(frozen=True)
class Row:
    """The coder's files, attempt by attempt, and how the cycle ends."""

    tests: Files | list[Files]
    code: Files | list[Files]
    error: str
    test_calls: int
    code_calls: int
    attempts: int


ROWS = {
    "tests never compile": Row(BROKEN, CODE, "COMPILATION_ERROR", 6, 0, 0),
    "tests compile at the last retry": Row([BROKEN] * 5 + [{NEW: SEARCH}], CODE, "", 6, 1, 1),
    "new tests pass at once": Row(PASSES, CODE, "TEST_UNEXPECTED_PASS", 1, 0, 0),
    "one new test passes at once": Row({NEW: SEARCH, "tests/test_nobody.py": PASSES[NEW]}, CODE, "", 1, 1, 1),
    "new tests repeat old ones": Row(REPEATS, CODE, "DUPLICATE_TEST", 1, 0, 0),
    "one new test repeats": Row({NEW: SEARCH, "tests/test_again.py": REPEATS[NEW]}, CODE, "", 1, 1, 1),
    "tests fail for no accepted reason": Row(
        {NEW: "import pytest\n\n\n@pytest.mark.xfail(strict=True)\ndef test_search():\n    assert True\n"},
        CODE,
        "TEST_UNEXPECTED_FAIL",
        6,
        0,
        0,
    ),
    "tests cannot be made to pass": Row({NEW: SEARCH}, EMPTY, "IMPLEMENTATION_FAILED", 1, 3, 3),
    "tests pass at the last attempt": Row({NEW: SEARCH}, [EMPTY, EMPTY, CODE], "", 1, 3, 3),
    "old tests stay broken": Row({NEW: SEARCH}, REGRESSES, "REGRESSION", 1, 6, 0),
    "old tests are mended at the last retry": Row({NEW: SEARCH}, [REGRESSES] * 5 + [CODE], "", 1, 6, 1),
}


@pytest.mark.parametrize("name", ROWS)
async def test_each_row_has_its_retries_and_its_end(tmp_path: Path, name: str) -> None:
    row = ROWS[name]
    scene = await scene_of(tmp_path, row.tests, row.code)
    end = await scene.story(attempts=3)
    assert end.error == row.error, end.told
    calls = (scene.coder.count(CoderCall.WRITE_TESTS), scene.coder.count(CoderCall.IMPLEMENT))
    assert calls == (row.test_calls, row.code_calls)
    assert scene.held.fence.attempt == row.attempts
    moved = [ref for ref in scene.pushed if ref.startswith("refs/heads/")]
    assert moved == ([] if row.error else ["refs/heads/auto/issue-42"])


async def test_a_retry_is_told_what_was_refused_and_which_tests_broke(tmp_path: Path) -> None:
    scene = await scene_of(tmp_path, [BROKEN, {NEW: SEARCH}], [REGRESSES, EMPTY, CODE])
    assert (await scene.story(attempts=2)).error == ""
    prompts = [request.prompt for request in scene.coder.asked]
    assert "SyntaxError" not in prompts[0]
    assert "SyntaxError" in prompts[1]
    assert "tests/test_find.py::test_find" in prompts[3]
    assert "This is attempt 1 of 2" in prompts[3]
    assert "test_search" in prompts[4]
    assert "This is attempt 2 of 2" in prompts[4]


async def test_retries_before_a_pause_are_not_paid_for_again_after_it(tmp_path: Path) -> None:
    scene = await scene_of(tmp_path, [BROKEN, BROKEN, {}, {NEW: SEARCH}])
    scene.coder.limited = (CoderCall.WRITE_TESTS, 2)
    with pytest.raises(RunFailed) as paused:
        await scene.cycle.write_tests(scene.held, scene.issue)
    assert paused.value.category == Category.RATE
    assert scene.pushed == []
    await scene.cycle.write_tests(scene.held, scene.issue)
    assert [request.retry for request in scene.coder.asked] == [0, 1, 2, 2]
    assert scene.held.fence.phase == "green"


async def test_a_base_that_cannot_be_tested_costs_nothing(tmp_path: Path) -> None:
    project = {"tests/test_find.py": "import no_such_package\n"}
    scene = await scene_of(tmp_path, {NEW: SEARCH}, project=project)
    assert (await scene.story()).error == "WORKFLOW_ABORTED"
    assert scene.coder.asked == []


FLIPS = """import pathlib


def test_flips():
    seen = pathlib.Path({path!r})
    seen.write_text(seen.read_text() + "x" if seen.exists() else "x")
    assert len(seen.read_text()) != 2
"""


async def test_a_test_that_flips_between_two_runs_of_the_head_is_no_regression(tmp_path: Path) -> None:
    old = FLIPS.format(path=str(tmp_path / "seen"))
    scene = await scene_of(tmp_path, {NEW: SEARCH}, CODE, project={**PROJECT, "tests/test_flips.py": old})
    assert (await scene.story()).error == ""
    assert scene.coder.count(CoderCall.IMPLEMENT) == 1
    runs = len((tmp_path / "seen").read_text())
    assert runs == 3, "base, head, and what failed on the head once more: everything else runs the new tests alone"


@pytest.mark.parametrize("error", ErrorType)
def test_every_error_type_ends_with_its_flag(error: ErrorType) -> None:
    flag = Flag.PROBLEMATIC_TEST if error in _EXISTS else Flag.MANUAL_INTERVENTION
    assert CycleAborted(error, "It was given up.").flags == (flag,)


_EXISTS = {ErrorType.TEST_UNEXPECTED_PASS, ErrorType.DUPLICATE_TEST}
