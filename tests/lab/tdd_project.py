"""A small project on disk, run by the real bench with the pytest that runs these tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from project_pytest import PYTEST

from worker_agent.tdd.judging.judge import judge_red
from worker_agent.tdd.judging.verdict import RedVerdict
from worker_agent.tdd.runners.pytest_runner import PytestRunner
from worker_agent.tdd.runners.runner import Runner, Selection
from worker_agent.tdd.runners.test_bench import OutputLimits, TestBench, Tests
from worker_agent.tdd.runners.test_run import CaseOutcome, TestResult, TestRun

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
PASSED_BEFORE = TestRun({FOUND: TestResult(FOUND, "tests/test_find.py", CaseOutcome.PASSED)})


@dataclass
class Project:
    """A checkout and a place for what tests write."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: dict(ENVIRONMENT))
    deadline_seconds: float = 60
    limits: OutputLimits = field(default_factory=OutputLimits)

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
        selection: Selection | None = None,
    ) -> TestRun:
        self.write(files or {})
        bench = TestBench(self.environment, self.deadline_seconds, self.limits)
        where, scratch = self.root / "checkout", self.root / "scratch"
        run = await bench.run(Tests(runner or PytestRunner(), command, selection, announced), where, scratch)
        assert [path.name for path in scratch.iterdir()] == ["caches"], "a run leaves nothing else behind"
        return run


def new_project(place: Path) -> Project:
    """Check the base out below `place`."""
    made = Project(place)
    made.write(BASE)
    (place / "scratch").mkdir()
    return made


def judged(baseline: TestRun, red: TestRun, *files: str) -> RedVerdict:
    return judge_red(baseline, red, files=files)
