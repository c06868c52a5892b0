"""The known test runners, and the choice of a repository's runner."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line, package_scripts
from worker_agent.tdd.runners.bats_runner import BatsRunner
from worker_agent.tdd.runners.cargo_runner import CargoRunner
from worker_agent.tdd.runners.dotnet_runner import DotnetRunner
from worker_agent.tdd.runners.go_runner import GoRunner
from worker_agent.tdd.runners.javascript import JavaScriptRunner
from worker_agent.tdd.runners.jest_runner import JestRunner
from worker_agent.tdd.runners.maven_runner import GradleRunner, MavenRunner
from worker_agent.tdd.runners.minitest_runner import MinitestRunner
from worker_agent.tdd.runners.mocha_runner import MochaRunner
from worker_agent.tdd.runners.node_runner import NodeRunner
from worker_agent.tdd.runners.phpunit_runner import PhpunitRunner
from worker_agent.tdd.runners.pytest_runner import PytestRunner
from worker_agent.tdd.runners.report_runner import ReportRunner
from worker_agent.tdd.runners.rspec_runner import RspecRunner
from worker_agent.tdd.runners.runner import Read, Runner, Suite
from worker_agent.tdd.runners.unittest_runner import UnittestRunner
from worker_agent.tdd.runners.vitest_runner import VitestRunner

RUNNERS: tuple[Runner, ...] = (
    PytestRunner(),
    VitestRunner(),
    JestRunner(),
    MochaRunner(),
    NodeRunner(),
    GoRunner(),
    CargoRunner(),
    MavenRunner(),
    GradleRunner(),
    PhpunitRunner(),
    RspecRunner(),
    MinitestRunner(),
    DotnetRunner(),
    BatsRunner(),
    UnittestRunner(),
)
"""The runners in the order in which they are tried; a new runner is one line here."""


def choose(
    test_command: str | None, test_report: str | None, paths: Collection[str], read: Read, directory: str = ""
) -> Suite:
    """Return the suite of one directory of a repository with these `paths`, by the configured or detected command.

    For `npm test` and its like, the command is the part of the package's script that calls a runner. `test_report` is a
    glob in the checkout; it serves only commands that no runner knows. Raises `Misconfigured` with the sentence for the
    person if nothing fits.
    """
    lead = f"{directory}/" if directory else ""
    inside = [path.removeprefix(lead) for path in paths if path.startswith(lead)]
    runner, command = _choose(test_command, test_report, inside, lambda path: read(lead + path))
    return Suite(runner, command, directory)


def _choose(
    test_command: str | None, test_report: str | None, paths: Collection[str], read: Read
) -> tuple[Runner, str]:
    if test_command is None:
        return _detect(paths, read)
    argv = command_line.split(test_command)
    runner = next((runner for runner in RUNNERS if runner.runs(argv)), None)
    if runner is not None:
        return _adapt_runner(runner, argv, read), test_command
    if test_report is not None:
        return ReportRunner(test_report), test_command
    if found := _find_in_script(argv, read):
        return found
    raise Misconfigured(
        f"test_command '{test_command}' calls no known test runner ({_runner_names()}): "
        "set test_report to the JUnit XML that it writes."
    )


def _detect(paths: Collection[str], read: Read) -> tuple[Runner, str]:
    for runner in RUNNERS:
        if found := runner.detect(paths, read):
            return _adapt_runner(runner, command_line.split(found), read), found
    raise Misconfigured(f"No tests of a known runner ({_runner_names()}) were found: set test_command and test_report.")


def _find_in_script(argv: Sequence[str], read: Read) -> tuple[Runner, str] | None:
    """Return the first command of a package's script that is a runner of tests."""
    for script in package_scripts.commands(argv, read("package.json")):
        for runner in RUNNERS:
            if isinstance(runner, JavaScriptRunner) and (called := runner.called_by(script)):
                return runner, called
    return None


def _adapt_runner(runner: Runner, argv: Sequence[str], read: Read) -> Runner:
    """Return the runner, adapted to the command and the repository's configuration."""
    return runner.of(argv, read) if isinstance(runner, PytestRunner) else runner


def _runner_names() -> str:
    return ", ".join(runner.name for runner in RUNNERS)
