"""The test runners that there are, and which one a repository uses."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line
from worker_agent.tdd.runners.jest_runner import JestRunner
from worker_agent.tdd.runners.pytest_runner import PytestRunner
from worker_agent.tdd.runners.report_runner import ReportRunner
from worker_agent.tdd.runners.runner import Read, Runner
from worker_agent.tdd.runners.vitest_runner import VitestRunner

RUNNERS: tuple[Runner, ...] = (PytestRunner(), VitestRunner(), JestRunner())
"""In the order in which they are asked; a new runner is one line here."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What to run, and who understands it."""

    runner: Runner
    test_command: str


def choose(test_command: str | None, test_report: str | None, paths: Collection[str], read: Read) -> Choice:
    """The runner for a repository with these `paths`, and the configured or else the detected command.

    `test_report` is a glob in the checkout; it serves only commands that no runner knows. Raises
    `Misconfigured` with the sentence for the person when nothing fits.
    """
    if test_command is None:
        return _detected(paths, read)
    argv = command_line.split(test_command)
    runner = next((runner for runner in RUNNERS if runner.runs(argv)), None)
    if runner is not None:
        return Choice(runner, test_command)
    if test_report is not None:
        return Choice(ReportRunner(test_report), test_command)
    raise Misconfigured(
        f"test_command '{test_command}' calls no known test runner ({_known()}): "
        "set test_report to the JUnit XML that it writes."
    )


def _detected(paths: Collection[str], read: Read) -> Choice:
    for runner in RUNNERS:
        if found := runner.detect(paths, read):
            return Choice(runner, found)
    raise Misconfigured(f"No tests of a known runner ({_known()}) were found: set test_command and test_report.")


def _known() -> str:
    return ", ".join(runner.name for runner in RUNNERS)
