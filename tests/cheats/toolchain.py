"""A small project of a compiled language on disk, run by the real bench with the toolchain of this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from worker_agent.tdd.proof.execution import fresh_names
from worker_agent.tdd.runners.control import Control, watched
from worker_agent.tdd.runners.runner import Runner, Selection
from worker_agent.tdd.runners.test_bench import TestBench, Tests
from worker_agent.tdd.runners.test_run import CaseOutcome, TestRun

_PASSED_ON = ("PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME")
"""Variables of this machine's environment that a toolchain needs."""

DEADLINE_SECONDS = 300


def needed(*programs: str) -> None:
    """Skip the test where one of the programs is not there."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} needed")


@dataclass
class Checkout:
    """One project below `place`; what is built for it is kept between its runs."""

    place: Path
    runner: Runner
    command: str
    environment: Mapping[str, str] = field(default_factory=lambda: toolchain_environment())

    def __post_init__(self) -> None:
        (self.place / "scratch").mkdir()
        shared = self.place.parent / "caches"  # of all tests of this process: a standard library is compiled once
        shared.mkdir(exist_ok=True)
        (self.place / "scratch" / "caches").symlink_to(shared)
        (self.place / "checkout").mkdir()

    @property
    def root(self) -> Path:
        """The directory of the project."""
        return self.place / "checkout"

    def write(self, files: Mapping[str, str | None]) -> None:
        """Lay files over the project; None removes one."""
        for path, content in files.items():
            file = self.root / path
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)

    async def run(
        self,
        files: Mapping[str, str | None] | None = None,
        selection: Selection | None = None,
        announced: tuple[str, ...] = (),
    ) -> TestRun:
        """Run the tests with `files` laid over the project."""
        self.write(files or {})
        bench = TestBench(self.environment, DEADLINE_SECONDS)
        tests = Tests(self.runner, self.command, selection, announced)
        return await bench.run(tests, self.root, self.place / "scratch")

    async def controlled(self, path: str) -> TestRun:
        """Run the tests with control tests in one file, then restore the file."""
        content = (self.root / path).read_bytes()
        control = self.runner.control(path, content, fresh_names(content))
        assert isinstance(control, Control)
        (self.root / path).write_bytes(control.content)
        run = await self.run()
        (self.root / path).write_bytes(content)
        return watched(run, control)


def toolchain_environment() -> dict[str, str]:
    """Return the variables of this machine that tests may see; rustup finds its toolchains in its installer's home."""
    found = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    rustup = Path.home() / ".rustup"
    return {"RUSTUP_HOME": str(rustup), **found} if rustup.is_dir() else found


def outcomes(run: TestRun) -> dict[str, str]:
    """Return the outcome of each test, for comparing at a glance."""
    return {test: result.outcome.value for test, result in run.results.items()}


def failing(run: TestRun) -> set[str]:
    """Return the tests that failed, not those that ended in an error."""
    return {test for test, result in run.results.items() if result.outcome is CaseOutcome.FAILED}
