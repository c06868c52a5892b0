"""`python -m unittest` on a small project, run by the real bench."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from tdd_project import Project

from worker_agent.tdd.proof.execution import fresh_names
from worker_agent.tdd.runners.control import watched
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import FailureKind, TestRun
from worker_agent.tdd.runners.unittest_runner import UnittestRunner

UNITTEST = f"{shlex.quote(sys.executable)} -m unittest"
OLD = "tests/test_find.py"
NEW = "tests/test_search.py"
BASE = {
    "directory/__init__.py": "def find(names, name):\n    return [other for other in names if other == name]\n",
    "tests/__init__.py": "",
    OLD: (
        "import unittest\nfrom directory import find\n\n\nclass TestFind(unittest.TestCase):\n"
        "    def test_find(self):\n        self.assertEqual(find(['a'], 'a'), ['a'])\n\n"
        "    def test_each(self):\n        for name in 'ab':\n            with self.subTest(name):\n"
        "                self.assertEqual(find([name], name), [name])\n"
    ),
}
FOUND = {f"{OLD}::TestFind::test_find", f"{OLD}::TestFind::test_each"}
SEARCH = (
    "import unittest\nfrom directory.search import search\n\n\nclass TestSearch(unittest.TestCase):\n"
    "    def test_search(self):\n        self.assertEqual(search(['Ann'], 'n'), ['Ann'])\n"
)
WORKS = {"directory/search.py": "def search(names, text):\n    return [name for name in names if text in name]\n"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    (tmp_path / "scratch").mkdir()
    made.write(BASE)
    return made


async def _run(project: Project, files: dict[str, str] | None = None, *, selection: Selection | None = None) -> TestRun:
    return await project.run(files, UnittestRunner(), UNITTEST, selection=selection)


async def test_an_honest_cycle_of_unittest(project: Project) -> None:
    base = await _run(project)
    assert (base.finished, base.code, set(base.passed)) == (True, 0, FOUND), base.output_tail

    red = await _run(project, {NEW: SEARCH})
    assert (red.finished, set(red.passed), red.broken_files[NEW].kind) == (True, FOUND, FailureKind.FIRST_PARTY_IMPORT)
    assert red.broken_files[NEW].first_line == "ModuleNotFoundError: No module named 'directory.search'"

    green = await _run(project, WORKS)
    assert green.passed == FOUND | {f"{NEW}::TestSearch::test_search"}

    damaged = await _run(project, {"directory/__init__.py": "def find(names, name):\n    return []\n"})
    assert (damaged.finished, set(damaged.failed)) == (True, FOUND)
    assert all(damaged.results[test].asserted for test in FOUND)


async def test_only_the_selected_files_of_unittest_run(project: Project) -> None:
    broken = {"tests/test_other.py": "import nowhere\n", NEW: SEARCH}
    run = await _run(project, {**broken, **WORKS}, selection=Selection(frozenset({NEW})))
    assert (run.finished, set(run.passed), run.broken_files) == (True, {f"{NEW}::TestSearch::test_search"}, {})


async def test_of_a_selected_file_of_unittest_only_the_named_methods_run(project: Project) -> None:
    one = Selection(frozenset({OLD}), frozenset({f"{OLD}::TestFind::test_each"}))
    assert set((await _run(project, selection=one)).results) == {f"{OLD}::TestFind::test_each"}
    whole = Selection(frozenset({OLD}), frozenset({f"{OLD}::TestFind::test_each", OLD}))
    assert set((await _run(project, selection=whole)).results) == FOUND, "where a file is named as a whole, all of it"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("import nowhere\n", FailureKind.THIRD_PARTY_IMPORT),
        ("def x(:\n", FailureKind.SYNTAX),
        ("raise ValueError\n", FailureKind.COLLECTION),
    ],
)
async def test_why_a_module_of_unittest_was_not_loaded(project: Project, body: str, kind: FailureKind) -> None:
    run = await _run(project, {NEW: body})
    assert (run.finished, run.broken_files[NEW].kind) == (True, kind), run.broken_files[NEW].message


async def test_control_methods_of_unittest(project: Project) -> None:
    content = BASE[OLD].encode()
    control = UnittestRunner().control(OLD, content, fresh_names(content))
    assert control is not None
    run = watched(await _run(project, {OLD: control.content.decode()}), control)
    assert (run.controlled, run.code, set(run.passed)) == (True, 0, FOUND)


async def test_a_test_of_unittest_that_leaves_proves_nothing(project: Project) -> None:
    leaves = "import os, unittest\n\n\nclass TestX(unittest.TestCase):\n    def test_x(self):\n        os._exit(0)\n"
    run = await _run(project, {NEW: leaves})
    assert (run.finished, run.passed) == (False, frozenset())
