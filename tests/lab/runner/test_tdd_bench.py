"""The bench with real pytest on small projects: honest cycles, broken tests, other commands."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from project_pytest import PYTEST
from tdd_project import BASE, FOUND, NEW, PASSED_BEFORE, SEARCH, Project, judged, new_project

from shared.errors import Misconfigured
from worker_agent.tdd.judging.judge import judge_baseline, judge_green
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.proof.execution import fresh_names
from worker_agent.tdd.runners.control import watched
from worker_agent.tdd.runners.pytest_runner import PytestRunner
from worker_agent.tdd.runners.report_runner import ReportRunner
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


async def test_an_honest_cycle_is_proved(project: Project) -> None:
    baseline = await project.run()
    assert judge_baseline(baseline).ok
    assert baseline.passed == {FOUND}

    red = await project.run({NEW: SEARCH})
    assert judged(baseline, red, NEW).red == (NEW,)
    assert red.broken_files[NEW].first_line == "ModuleNotFoundError: No module named 'directory.search'"

    green = await project.run(
        {"directory/search.py": "def search(names, text):\n    return [n for n in names if text in n]\n"}
    )
    verdict = judge_green(baseline, red, green, files=(NEW,))
    assert (verdict.ok, verdict.proven) == (True, (f"{NEW}::test_search",))
    assert green.one_line() == "2 passed"

    broken = await project.run({"directory/__init__.py": "def find(names, name):\n    return []\n"})
    regressed = judge_green(baseline, red, broken, files=(NEW,))
    assert (regressed.error, regressed.regressions) == (ErrorType.REGRESSION, (FOUND,))


KINDS = {
    "test_first.py": ("from directory import search\n", FailureKind.FIRST_PARTY_IMPORT),
    "test_attribute.py": ("import directory\nX = directory.search\n", FailureKind.FIRST_PARTY_IMPORT),
    "test_announced.py": ("import phonebook\n", FailureKind.FIRST_PARTY_IMPORT),
    "test_third.py": (
        "import os\nos.mkdir('no_such_module')\nimport no_such_module.x\n",
        FailureKind.THIRD_PARTY_IMPORT,
    ),
    "test_third_name.py": ("from anyio import no_such_name\n", FailureKind.THIRD_PARTY_IMPORT),
    "test_syntax.py": ("def test_x(:\n", FailureKind.SYNTAX),
    "test_tabs.py": ("def test_x():\n  pass\n    pass\n", FailureKind.SYNTAX),
    "test_raises.py": ("raise RuntimeError('directory')\n", FailureKind.COLLECTION),
    "sub/conftest.py": ("import directory.fixtures\n", FailureKind.FIRST_PARTY_IMPORT),
}
BODIES = """
import pytest
class TestC:
    @pytest.mark.parametrize("value", ["a", "b::c", "|"])
    def test_parameters(self, value): assert value == "a"
def test_inside(): from directory import search
def test_fixture(nope): pass
@pytest.fixture
def broken(): import directory; return directory.search
def test_setup(broken): pass
@pytest.fixture
def untidy():
    yield
    raise ValueError("left over")
def test_teardown(untidy): pass
def test_both(untidy): assert 0
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.mark.xfail
def test_expected(): assert 0
def test_skipped(): pytest.skip("later")
def test_leaves(): raise SystemExit(0)
"""


async def test_every_kind_of_failure_is_told_apart(project: Project) -> None:
    files = {f"tests/{name}": content for name, (content, _) in KINDS.items()}
    run = await project.run(
        {**files, "tests/test_bodies.py": BODIES, "tests/sub/test_x.py": ""}, announced=("phonebook.py",)
    )
    assert (run.finished, run.code) == (True, 1)
    kinds = {path.removeprefix("tests/"): result.kind for path, result in run.broken_files.items()}
    assert kinds == {name.removesuffix("/conftest.py"): kind for name, (_, kind) in KINDS.items()}
    found = {
        test.removeprefix("tests/test_bodies.py::"): (result.outcome, result.kind)
        for test, result in run.results.items()
        if result.file == "tests/test_bodies.py"
    }
    assert found == {
        "TestC::test_parameters[a]": (CaseOutcome.PASSED, None),
        "TestC::test_parameters[b::c]": (CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION),
        "TestC::test_parameters[|]": (CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION),
        "test_inside": (CaseOutcome.FAILED, FailureKind.FIRST_PARTY_IMPORT),
        "test_fixture": (CaseOutcome.ERROR, FailureKind.MISSING_FIXTURE),
        "test_setup": (CaseOutcome.ERROR, FailureKind.ASSERTION_OR_EXCEPTION),
        "test_teardown": (CaseOutcome.ERROR, FailureKind.OTHER),
        "test_both": (CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION),
        "test_strict": (CaseOutcome.FAILED, FailureKind.OTHER),
        "test_expected": (CaseOutcome.SKIPPED, None),
        "test_skipped": (CaseOutcome.SKIPPED, None),
        "test_leaves": (CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION),
    }


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({NEW: "def test_search():\n    assert True\n"}, ErrorType.TEST_UNEXPECTED_PASS),
        ({"tests/conftest.py": "import directory.fixtures\n", NEW: SEARCH}, ErrorType.COMPILATION_ERROR),
    ],
    ids=["passes at once", "conftest broken"],
)
async def test_what_is_not_judged(project: Project, files: dict[str, str], error: ErrorType) -> None:
    verdict = judged(PASSED_BEFORE, await project.run(files), *files)
    assert verdict.error is error
    assert verdict.details


async def test_an_old_file_that_needs_the_new_name_is_red_too(project: Project) -> None:
    files = {NEW: "def test_new():\n    assert 0\n", "tests/test_find.py": SEARCH + BASE["tests/test_find.py"]}
    verdict = judged(PASSED_BEFORE, await project.run(files), *files)
    assert (verdict.error, set(verdict.red)) == (None, {"tests/test_find.py", f"{NEW}::test_new"})


async def test_only_selected_files_and_functions_run(project: Project) -> None:
    files = {
        NEW: "import os\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    assert 0\n",
        "tests/deep/test_c.py": "raise RuntimeError\n",
        "other/test_d.py": "raise RuntimeError\n",
    }
    run = await project.run(files, selection=Selection(frozenset({NEW})))
    assert (run.finished, set(run.results), run.broken_files) == (True, {f"{NEW}::test_a", f"{NEW}::test_b"}, {})
    one = await project.run(selection=Selection(frozenset({NEW}), frozenset({f"{NEW}::test_a"})))
    assert (one.finished, set(one.results)) == (True, {f"{NEW}::test_a"})


PARAMETERS = """
import pytest, secrets

class Thing:
    pass

@pytest.mark.parametrize("thing", [repr(Thing()), f"/tmp/tmp{secrets.token_hex(4)}/x"])
def test_thing(thing): pass
"""


async def test_ids_stay_the_same_from_run_to_run(project: Project) -> None:
    first = await project.run({NEW: PARAMETERS})
    again = await project.run()
    assert first.passed == again.passed
    assert f"{NEW}::test_thing[TMP/x]" in first.passed


DOCUMENTED = '''def double(number):
    """
    >>> double(2)
    4
    """
    return number + number
'''


async def test_doctests_have_ids_of_their_own(project: Project) -> None:
    command = f"{PYTEST} --doctest-modules --doctest-glob=*.md"
    run = await project.run({"directory/double.py": DOCUMENTED, "guide.md": ">>> 1 + 1\n3\n"}, command=command)
    assert run.finished
    assert run.passed == {FOUND, "directory/double.py::directory.double.double"}
    assert run.failed == {"guide.md::guide.md"}


CONTROLLED = {
    "functions": BASE["tests/test_find.py"],
    "methods": (
        "import unittest\n\n\nclass TestFind(unittest.TestCase):\n"
        "    def test_find(self):\n        self.assertTrue(1)\n"
    ),
    "methods that need something first": (
        "from unittest import TestCase\n\n\nclass TestFind(TestCase):\n    def setUp(self):\n        self.a = 1\n\n"
        "    def test_find(self):\n        self.assertTrue(self.a)\n"
    ),
}


@pytest.mark.parametrize("style", CONTROLLED)
async def test_control_tests_among_the_files_own(project: Project, style: str) -> None:
    content = CONTROLLED[style].encode()
    control = PytestRunner().control(NEW, content, fresh_names(content))
    assert control is not None
    run = watched(await project.run({NEW: control.content.decode()}), control)
    assert (run.controlled, run.code, len(run.passed), run.failed) == (True, 0, 2, frozenset())


async def test_an_empty_suite_is_a_finished_run(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / "scratch").mkdir()
    run = await project.run({"README.md": "nothing"})
    assert (run.code, run.finished, run.one_line()) == (5, True, "no tests")
    assert judge_baseline(run).ok


async def test_ids_are_relative_to_the_checkout_wherever_the_configuration_is(project: Project) -> None:
    command = f"{PYTEST} -x --color=yes sub"
    files = {
        "sub/pytest.ini": "[pytest]\naddopts = -p no:terminalreporter\n",
        "sub/test_a.py": "def test_a():\n    assert 0\n",
    }
    run = await project.run({**files, "sub/test_b.py": "def test_b():\n    pass\n"}, command=command)
    assert run.failed == {"sub/test_a.py::test_a"}
    assert run.passed == {"sub/test_b.py::test_b"}


async def test_a_command_that_does_not_exist_is_told(project: Project) -> None:
    run = await project.run(command="/no/such/python -m pytest")
    assert (run.finished, run.code) == (False, 127)
    assert "There is no `/no/such/python` on this machine: install it" in run.output_tail


async def test_a_command_that_says_127_by_itself_is_not_called_missing(project: Project) -> None:
    run = await project.run({"conftest.py": "import os\nos._exit(127)\n"})
    assert (run.finished, run.code) == (False, 127)
    assert "on this machine" not in run.output_tail


async def test_a_command_that_is_not_understood_never_starts(project: Project) -> None:
    with pytest.raises(Misconfigured):
        await project.run(command="touch started")
    assert not (project.root / "checkout/started").exists()


WRITE = """import pathlib
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/new.xml").write_text(
    '<testsuite><testcase classname="Sum" name="adds" file="sum.js"/>'
    '<testcase classname="Sum" name="fails" file="sum.js"><failure message="no"/></testcase></testsuite>'
)
"""


async def test_any_command_counts_by_the_report_that_it_writes_itself(project: Project) -> None:
    old = '<testsuite><testcase name="committed"/></testsuite>'
    (project.root / "outside.xml").write_text(old)
    project.write({"out/old.xml": old, "write.py": WRITE})
    (project.root / "checkout/out/link.xml").symlink_to(project.root / "outside.xml")
    run = await project.run(runner=ReportRunner("out/*.xml"), command=f"{shlex.quote(sys.executable)} write.py")
    assert run.finished
    assert {test: result.outcome for test, result in run.results.items()} == {
        "sum.js::Sum::adds": CaseOutcome.PASSED,
        "sum.js::Sum::fails": CaseOutcome.FAILED,
    }
    assert (project.root / "outside.xml").exists()


async def test_a_command_without_its_report_is_not_finished(project: Project) -> None:
    run = await project.run(runner=ReportRunner("out/*.xml"), command="echo all is well")
    assert (run.finished, run.code, run.output_tail) == (False, 0, "all is well\n")
