"""Tests that never end, cheat, leave things behind or look around: the bench holds."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tdd_project import BASE, FOUND, NEW, SEARCH, Project, judged, new_project

from worker_agent.tdd.judging.judge import judge_baseline, judge_green
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.runners.test_bench import OutputLimits
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestRun


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


@pytest.mark.fault(28)
async def test_tests_that_never_end_are_stopped_at_the_deadline(project: Project) -> None:
    project.deadline_seconds = 1.5
    run = await project.run({NEW: "import time\n\ndef test_endless():\n    time.sleep(600)\n"})
    assert (run.finished, run.timed_out, run.results) == (False, True, {})
    assert run.one_line() == "stopped at the deadline"
    assert judged(TestRun(), run, NEW).error is ErrorType.TEST_UNEXPECTED_FAIL


@pytest.mark.fault(27)
async def test_a_process_that_a_test_leaves_behind_is_gone(project: Project) -> None:
    leave = "import subprocess, pathlib\n\ndef test_leave():\n    child = subprocess.Popen(['sleep', '600'])\n"
    run = await project.run(
        {NEW: leave + "    pathlib.Path('pid').write_text(str(child.pid))\n    child.returncode = 0\n"}
    )
    assert run.results[f"{NEW}::test_leave"].outcome is CaseOutcome.PASSED
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


def _report_path(then: str, leave: str = "os._exit(0)") -> str:
    head = "import os, sys\n\ndef test_x():\n    (path,) = [a.partition('=')[2] for a in sys.argv if 'junitxml' in a]\n"
    return f"{head}    {then}\n    {leave}\n"


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
                "log = os.path.join(os.path.dirname(path), 'output.log')\n    os.unlink(log); os.mkfifo(log)\n"
                "    os.unlink(path); os.mkfifo(path)"
            )
        },
        0,
    ),
    "links the report to another": (
        {NEW: _report_path("os.unlink(path); os.symlink(os.path.abspath('old.xml'), path)"), "old.xml": OLD},
        0,
    ),
    "puts a directory in place of the report": ({NEW: _report_path("os.unlink(path); os.mkdir(path)")}, 0),
    "writes the report and then lets the real one follow": (
        {NEW: _report_path(f"open(path, 'w').write({OLD!r})", leave="assert 0")},
        1,
    ),
    "rewrites the report when the session ends": (
        {
            NEW: _report_path(
                f"import atexit; atexit.register(lambda: (open(path, 'w').write({OLD!r}), os._exit(0)))",
                leave="assert 0",
            )
        },
        0,
    ),
    "writes a report that says otherwise than its exit code": (
        {NEW: _report_path(f"open(path, 'w').write({OLD!r}); os._exit(1)")},
        1,
    ),
    "writes more than a report may hold": (
        {NEW: _report_path("out = open(path, 'w')\n    for _ in range(60): out.write(' ' * 2**20)")},
        0,
    ),
    "takes the report out of the pipe": (
        {
            NEW: _report_path(
                "import threading; threading.Thread(target=lambda: open(path).read(), daemon=True).start()"
            )
        },
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
    assert judge_green(run, run, run, files=(NEW,)).error is ErrorType.IMPLEMENTATION_FAILED


async def test_a_conftest_that_turns_failures_into_passes_makes_nojudged(project: Project) -> None:
    hook = "import pytest\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    hook += "    report = yield\n    report.outcome = 'passed'\n    return report\n"
    run = await project.run({"conftest.py": hook, NEW: "def test_x():\n    assert 0\n"})
    assert judged(TestRun(), run, NEW).error is ErrorType.TEST_UNEXPECTED_PASS


async def test_names_decide_where_the_exit_code_lies(project: Project) -> None:
    lie = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    run = await project.run({"conftest.py": lie, NEW: "def test_x():\n    assert 0\n"})
    assert run.code == 0
    assert run.failed == {f"{NEW}::test_x"}


LOOK = """import os, pathlib, tempfile

def test_surroundings():
    seen = "\\n".join(f"{name}={value}" for name, value in sorted(os.environ.items()))
    seen += f"\\nhome={pathlib.Path.home()}\\ntmp={tempfile.gettempdir()}"
    pathlib.Path("seen").write_text(seen)
"""


async def test_tests_see_no_secret_and_write_to_their_own_home(project: Project) -> None:
    run = await project.run({NEW: LOOK})
    assert run.results[f"{NEW}::test_surroundings"].outcome is CaseOutcome.PASSED
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
    project.limits = OutputLimits(file_bytes=2**20, tail_chars=500)
    flood = "def test_flood(tmp_path):\n    (tmp_path / 'x').write_bytes(bytes(2**21))\n"
    run = await project.run({NEW: flood})
    assert "File too large" in run.results[f"{NEW}::test_flood"].message
    assert run.passed == {FOUND}
    assert len(run.output_tail) == 500


async def test_a_checkout_with_too_many_files_is_known_in_part_and_refuses_what_it_does_not_know(
    project: Project,
) -> None:
    project.limits = OutputLimits(paths=0)
    run = await project.run({NEW: SEARCH})
    assert run.broken_files[NEW].kind is FailureKind.THIRD_PARTY_IMPORT
