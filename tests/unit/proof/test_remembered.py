"""Runs of base commits on this machine's disk: made once, read back the same, never taken from a broken file."""

from __future__ import annotations

from pathlib import Path

from worker_agent.tdd import test_runs
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestResult, TestRun
from worker_agent.tdd.test_runs import BaseRuns

RUN = TestRun(
    {"a.py::x": TestResult("a.py::x", "a.py", CaseOutcome.FAILED, FailureKind.SYNTAX, "odd \udcff", asserted=True)},
    {"b.py": TestResult("b.py", "b.py", CaseOutcome.ERROR, FailureKind.COLLECTION)},
    code=1,
    seconds=2.5,
)


def files(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


class Counted:
    """A suite that counts how often it runs."""

    def __init__(self, run: TestRun = RUN) -> None:
        self.times = 0
        self._run = run

    async def __call__(self) -> TestRun:
        self.times += 1
        return self._run


async def test_a_base_is_run_once_for_all_agents_of_a_machine(tmp_path: Path) -> None:
    suite = Counted()
    first = await BaseRuns(tmp_path / "runs").of("t" * 40, ["pytest"], suite)
    second = await BaseRuns(tmp_path / "runs").of("t" * 40, ["pytest"], suite)
    assert (first, second, suite.times) == (RUN, RUN, 1)


async def test_another_command_is_another_run(tmp_path: Path) -> None:
    suite, runs = Counted(), BaseRuns(tmp_path)
    await runs.of("t" * 40, ["pytest"], suite)
    await runs.of("t" * 40, ["pytest -x"], suite)
    assert suite.times == 2


async def test_a_run_that_was_cut_short_is_not_remembered(tmp_path: Path) -> None:
    suite, runs = Counted(TestRun(finished=False)), BaseRuns(tmp_path)
    await runs.of("t" * 40, ["pytest"], suite)
    await runs.of("t" * 40, ["pytest"], suite)
    assert (suite.times, files(tmp_path)) == (2, [])


async def test_a_broken_file_is_run_anew(tmp_path: Path) -> None:
    suite, runs = Counted(), BaseRuns(tmp_path)
    await runs.of("t" * 40, ["pytest"], suite)
    for file in files(tmp_path):
        file.write_text('{"results": 3}')
    assert await runs.of("t" * 40, ["pytest"], suite) == RUN
    assert suite.times == 2


async def test_without_a_directory_nothing_is_remembered() -> None:
    suite, runs = Counted(), BaseRuns(None)
    await runs.of("t" * 40, ["pytest"], suite)
    await runs.of("t" * 40, ["pytest"], suite)
    assert suite.times == 2


async def test_the_oldest_runs_go(tmp_path: Path) -> None:
    runs = BaseRuns(tmp_path)
    for number in range(test_runs.MOST_BASE_RUNS + 3):
        await runs.of(f"{number:040x}", ["pytest"], Counted())
    assert len(files(tmp_path)) == test_runs.MOST_BASE_RUNS
