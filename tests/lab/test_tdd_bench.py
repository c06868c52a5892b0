"""The bench with real pytest on small projects: honest cycles, broken tests, and tests that cheat."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from shared.errors import Misconfigured
from worker_agent.tdd.judge import judge_baseline, judge_green, judge_red
from worker_agent.tdd.pytest_runner import PytestRunner
from worker_agent.tdd.report import Kind, Outcome, TestResult, TestRun
from worker_agent.tdd.report_runner import ReportRunner
from worker_agent.tdd.run import Limits, TestBench
from worker_agent.tdd.runner import Runner
from worker_agent.tdd.verdict import ErrorType, RedVerdict

PYTEST = f"'{sys.executable}' -m pytest -q"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # other plugins double the time that each run takes to start
    "GITHUB_TOKEN": "canary",
    "MODEL_API_KEY": "canary",
    "DB_PASSWORD": "canary",
}
NEW = "tests/test_search.py"
BASE = {
    "directory/__init__.py": "def find(names, name):\n    return [other for other in names if other == name]\n",
    "tests/test_find.py": "from directory import find\n\ndef test_find():\n    assert find(['a'], 'a') == ['a']\n",
}
SEARCH = "from directory.search import search\n\ndef test_search():\n    assert search(['Ann'], 'n') == ['Ann']\n"


FOUND = "tests/test_find.py::test_find"
PASSED_BEFORE = TestRun({FOUND: TestResult(FOUND, "tests/test_find.py", Outcome.PASSED)})


@dataclass
class Project:
    """A checkout and a place for what tests write."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: dict(ENVIRONMENT))
    deadline_seconds: float = 60
    limits: Limits = field(default_factory=Limits)

    def write(self, files: dict[str, str]) -> None:
        for path, content in files.items():
            file = self.root / "checkout" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)

    async def run(
        self,
        files: dict[str, str] | None = None,
        runner: Runner | None = None,
        command: str = PYTEST,
        announced: tuple[str, ...] = (),
    ) -> TestRun:
        self.write(files or {})
        bench = TestBench(self.environment, self.deadline_seconds, self.limits)
        where, scratch = self.root / "checkout", self.root / "scratch"
        run = await bench.run(runner or PytestRunner(), command, where, scratch, announced)
        assert list(scratch.iterdir()) == [], "a run leaves nothing behind"
        return run


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write(BASE)
    (tmp_path / "scratch").mkdir()
    return made


def _red(baseline: TestRun, red: TestRun, *files: str) -> RedVerdict:
    return judge_red(baseline, red, changed_files=files, may_change=(), old_test_files_changed={})


async def test_an_honest_cycle_is_proved(project: Project) -> None:
    baseline = await project.run()
    assert judge_baseline(baseline).ok
    assert baseline.passed == {FOUND}

    red = await project.run({NEW: SEARCH})
    assert _red(baseline, red, NEW).red == (NEW,)
    assert red.broken_files[NEW].first_line == "ModuleNotFoundError: No module named 'directory.search'"

    green = await project.run(
        {"directory/search.py": "def search(names, text):\n    return [n for n in names if text in n]\n"}
    )
    verdict = judge_green(baseline, red, green, new_files=(NEW,))
    assert (verdict.ok, verdict.proven) == (True, (f"{NEW}::test_search",))
    assert green.one_line() == "2 passed"

    broken = await project.run({"directory/__init__.py": "def find(names, name):\n    return []\n"})
    regressed = judge_green(baseline, red, broken, new_files=(NEW,))
    assert (regressed.error, regressed.regressions) == (ErrorType.REGRESSION, (FOUND,))


KINDS = {
    "test_first.py": ("from directory import search\n", Kind.FIRST_PARTY_IMPORT),
    "test_attribute.py": ("import directory\nX = directory.search\n", Kind.FIRST_PARTY_IMPORT),
    "test_announced.py": ("import phonebook\n", Kind.FIRST_PARTY_IMPORT),
    "test_third.py": ("import no_such_module\n", Kind.THIRD_PARTY_IMPORT),
    "test_third_name.py": ("from anyio import no_such_name\n", Kind.THIRD_PARTY_IMPORT),
    "test_syntax.py": ("def test_x(:\n", Kind.SYNTAX),
    "test_tabs.py": ("def test_x():\n  pass\n    pass\n", Kind.SYNTAX),
    "test_raises.py": ("raise RuntimeError('directory')\n", Kind.COLLECTION),
    "sub/conftest.py": ("import directory.fixtures\n", Kind.FIRST_PARTY_IMPORT),
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
        {**files, "tests/test_bodies.py": BODIES, "tests/sub/test_x.py": ""}, announced=("phonebook",)
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
        "TestC::test_parameters[a]": (Outcome.PASSED, None),
        "TestC::test_parameters[b::c]": (Outcome.FAILED, Kind.ASSERTION_OR_EXCEPTION),
        "TestC::test_parameters[|]": (Outcome.FAILED, Kind.ASSERTION_OR_EXCEPTION),
        "test_inside": (Outcome.FAILED, Kind.FIRST_PARTY_IMPORT),
        "test_fixture": (Outcome.ERROR, Kind.MISSING_FIXTURE),
        "test_setup": (Outcome.ERROR, Kind.ASSERTION_OR_EXCEPTION),
        "test_teardown": (Outcome.ERROR, Kind.OTHER),
        "test_both": (Outcome.FAILED, Kind.ASSERTION_OR_EXCEPTION),
        "test_strict": (Outcome.FAILED, Kind.OTHER),
        "test_expected": (Outcome.SKIPPED, None),
        "test_skipped": (Outcome.SKIPPED, None),
        "test_leaves": (Outcome.FAILED, Kind.ASSERTION_OR_EXCEPTION),
    }


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({NEW: "def test_search():\n    assert True\n"}, ErrorType.TEST_UNEXPECTED_PASS),
        ({NEW: "import no_such_module\n" + SEARCH}, ErrorType.COMPILATION_ERROR),
        ({NEW: "def test_search(nope):\n    pass\n"}, ErrorType.COMPILATION_ERROR),
        (
            {NEW: "def test_new():\n    assert 0\n", "tests/test_find.py": SEARCH + BASE["tests/test_find.py"]},
            ErrorType.COMPILATION_ERROR,
        ),
        ({"tests/conftest.py": "import directory.fixtures\n", NEW: SEARCH}, ErrorType.COMPILATION_ERROR),
    ],
    ids=["passes at once", "third party", "fixture", "old file broken", "conftest broken"],
)
async def test_what_is_not_red(project: Project, files: dict[str, str], error: ErrorType) -> None:
    verdict = _red(PASSED_BEFORE, await project.run(files), *files)
    assert verdict.error is error
    assert verdict.details


@pytest.mark.fault(28)
async def test_tests_that_never_end_are_stopped_at_the_deadline(project: Project) -> None:
    project.deadline_seconds = 1.5
    run = await project.run({NEW: "import time\n\ndef test_endless():\n    time.sleep(600)\n"})
    assert (run.finished, run.timed_out, run.results) == (False, True, {})
    assert run.one_line() == "stopped at the deadline"
    assert _red(TestRun(), run, NEW).error is ErrorType.TEST_UNEXPECTED_FAIL


@pytest.mark.fault(27)
async def test_a_process_that_a_test_leaves_behind_is_gone(project: Project) -> None:
    leave = "import subprocess, pathlib\n\ndef test_leave():\n    child = subprocess.Popen(['sleep', '600'])\n"
    run = await project.run(
        {NEW: leave + "    pathlib.Path('pid').write_text(str(child.pid))\n    child.returncode = 0\n"}
    )
    assert run.results[f"{NEW}::test_leave"].outcome is Outcome.PASSED
    pid = int((project.root / "checkout/pid").read_text())
    for _ in range(1000):
        if not _alive(pid):
            break
        await anyio.sleep(0.01)  # killed, but the kernel may not be done with it
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except FileNotFoundError:
        return False


def _report_path(then: str) -> str:
    head = "import os, sys\n\ndef test_x():\n    (path,) = [a.partition('=')[2] for a in sys.argv if 'junitxml' in a]\n"
    return f"{head}    {then}\n    os._exit(0)\n"


OLD = '<testsuite><testcase name="test_x" classname="tests.test_search" file="tests/test_search.py"/></testsuite>'
PASSING = "import os, signal, pytest\n\ndef test_first():\n    pass\n\ndef test_x():\n    "
CHEATS: dict[str, tuple[dict[str, str], int]] = {
    "leaves with success": ({NEW: PASSING + "os._exit(0)\n"}, 0),
    "ends the session with success": ({NEW: PASSING + "pytest.exit('', returncode=0)\n"}, 0),
    "conftest ends the session": ({"conftest.py": "import pytest\npytest.exit('bye', returncode=0)\n"}, 4),
    "is killed": ({NEW: PASSING + "os.kill(os.getpid(), signal.SIGKILL)\n"}, -9),
    "puts pipes in place of report and output": (
        {
            NEW: _report_path(
                "log = path.replace('report.xml', 'output.log'); os.unlink(log); os.mkfifo(log); os.mkfifo(path)"
            )
        },
        0,
    ),
    "links the report to another": (
        {NEW: _report_path("os.symlink(os.path.abspath('old.xml'), path)"), "old.xml": OLD},
        0,
    ),
    "writes a bomb as the report": ({NEW: _report_path("open(path, 'w').write('<!DOCTYPE x><testsuites/>')")}, 0),
}


@pytest.mark.fault(24)
@pytest.mark.parametrize("cheat", CHEATS)
async def test_a_run_that_ends_early_is_not_finished_whatever_its_exit_code(project: Project, cheat: str) -> None:
    files, code = CHEATS[cheat]
    run = await project.run(files)
    assert (run.finished, run.timed_out, run.code) == (False, False, code)
    baseline = judge_baseline(run)
    assert baseline.error is ErrorType.WORKFLOW_ABORTED
    assert judge_green(run, run, run, new_files=(NEW,)).error is ErrorType.IMPLEMENTATION_FAILED


async def test_a_conftest_that_turns_failures_into_passes_makes_no_red(project: Project) -> None:
    hook = "import pytest\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    hook += "    report = yield\n    report.outcome = 'passed'\n    return report\n"
    run = await project.run({"conftest.py": hook, NEW: "def test_x():\n    assert 0\n"})
    assert _red(TestRun(), run, NEW).error is ErrorType.TEST_UNEXPECTED_PASS


async def test_names_decide_where_the_exit_code_lies(project: Project) -> None:
    lie = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    run = await project.run({"conftest.py": lie, NEW: "def test_x():\n    assert 0\n"})
    assert run.code == 0
    assert run.failed == {f"{NEW}::test_x"}


async def test_an_empty_suite_is_a_finished_run(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / "scratch").mkdir()
    run = await project.run({"README.md": "nothing"})
    assert (run.code, run.finished, run.one_line()) == (5, True, "no tests")
    assert judge_baseline(run).ok


LOOK = """import os, pathlib, tempfile

def test_surroundings():
    seen = "\\n".join(f"{name}={value}" for name, value in sorted(os.environ.items()))
    seen += f"\\nhome={pathlib.Path.home()}\\ntmp={tempfile.gettempdir()}"
    pathlib.Path("seen").write_text(seen)
"""


async def test_tests_see_no_secret_and_write_to_their_own_home(project: Project) -> None:
    run = await project.run({NEW: LOOK})
    assert run.results[f"{NEW}::test_surroundings"].outcome is Outcome.PASSED
    seen = (project.root / "checkout/seen").read_text()
    assert "canary" not in seen
    lines = dict(line.split("=", 1) for line in seen.splitlines())
    scratch = str(project.root / "scratch") + "/run-"
    assert lines["home"].startswith(scratch)
    assert lines["tmp"].startswith(scratch)
    files = {path.relative_to(project.root / "checkout").as_posix() for path in (project.root / "checkout").rglob("*")}
    assert files == {"directory", "tests", NEW, "seen", *BASE}, "neither caches nor reports in the checkout"


@pytest.mark.fault(28)
async def test_a_file_over_the_limit_fails_its_test_alone(project: Project) -> None:
    project.limits = Limits(file_bytes=2**20, tail_chars=500)
    flood = "def test_flood(tmp_path):\n    (tmp_path / 'x').write_bytes(bytes(2**21))\n"
    run = await project.run({NEW: flood})
    assert "File too large" in run.results[f"{NEW}::test_flood"].message
    assert run.passed == {FOUND}
    assert len(run.output_tail) == 500


async def test_a_checkout_with_too_many_files_is_known_in_part_and_refuses_what_it_does_not_know(
    project: Project,
) -> None:
    project.limits = Limits(paths=1)
    run = await project.run({NEW: SEARCH})
    assert run.broken_files[NEW].kind is Kind.THIRD_PARTY_IMPORT


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
    assert "/no/such/python" in run.output_tail


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
    run = await project.run(runner=ReportRunner("out/*.xml"), command=f"'{sys.executable}' write.py")
    assert run.finished
    assert {test: result.outcome for test, result in run.results.items()} == {
        "sum.js::Sum::adds": Outcome.PASSED,
        "sum.js::Sum::fails": Outcome.FAILED,
    }
    assert (project.root / "outside.xml").exists()


async def test_a_command_without_its_report_is_not_finished(project: Project) -> None:
    run = await project.run(runner=ReportRunner("out/*.xml"), command="echo all is well")
    assert (run.finished, run.code, run.output_tail) == (False, 0, "all is well\n")
