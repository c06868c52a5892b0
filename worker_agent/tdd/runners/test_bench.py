"""The bench: runs a test command, confined, in a directory that the caller made, and returns the results as values."""

from __future__ import annotations

import copy
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import anyio
from anyio import to_thread

from shared import process
from shared.filesystem import directories
from shared.sandbox.confinement import Confinement, Isolation
from shared.sandbox.limits import FILE_BYTES, limited
from worker_agent.tdd.runners import command_line, run_output, shifted_clock
from worker_agent.tdd.runners.project import Project, source_paths
from worker_agent.tdd.runners.run_output import ReportPipe, report_pipe
from worker_agent.tdd.runners.runner import Invocation, Runner, Selection
from worker_agent.tdd.runners.test_run import (
    ORDINARY,
    SEVERITY,
    Case,
    CaseOutcome,
    Report,
    RunPurpose,
    TestId,
    TestResult,
    TestRun,
)
from worker_agent.tdd.setup.confined_command import CommandResult
from worker_agent.tdd.setup.installed import NOTHING, Installed
from worker_agent.tdd.setup.setup_step import Export, SetUp

LOG = "output.log"
"""The file in a run's own directory for the command's output."""

_NOT_FOUND = 127
"""The exit code of shells for a program that is not there."""

_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_KEY", re.IGNORECASE)
_NOT_PASSED_ON = re.compile(r"(?:GIT_|GITHUB_|GH_|SSH_|XDG_|PYTEST_ADDOPTS$|PYTEST_CURRENT_TEST$)")


@dataclass(frozen=True, slots=True)
class Tests:
    """The input of a run: a command, the runner that understands it, and the choice of tests (None: all).

    `announced` are paths that do not exist yet but will be the repository's own, so that their names, if missing, count
    as first-party. The command runs in `directory` of the checkout, and its paths are relative to that.
    `deadline_seconds` shortens the bench's own. With `clock_shift` the tests see a time so many seconds later.
    `planted` are the names of control tests, which prove the run and are no tests of the repository.
    """

    __test__: ClassVar[bool] = False  # pytest takes every class named Test* for tests

    runner: Runner
    command: str
    selection: Selection | None = None
    announced: Collection[str] = ()
    directory: str = ""
    deadline_seconds: float | None = None
    clock_shift: int | None = None
    purpose: RunPurpose = ORDINARY
    planted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """Limits on the output of one run; its limits on the machine's resources are `Confinement.limits`."""

    file_bytes: int = FILE_BYTES
    """Largest file that tests may write, the log of their output included."""
    tail_chars: int = 8000
    """The most characters of the end of the output that are kept."""
    paths: int = 200_000
    """The most files of the checkout that are searched for module names."""


class TestBench:
    """Runs tests in a sandbox, with a home and a temporary directory of their own, no secrets, and a deadline."""

    __test__ = False  # pytest takes every class named Test* for tests

    def __init__(
        self,
        environment: Mapping[str, str],
        deadline_seconds: float,
        limits: OutputLimits | None = None,
        confinement: Confinement | None = None,
        setup: SetUp | None = None,
    ) -> None:
        """`environment` is visible to tests (PATH, LANG ...); names that look like secrets are dropped.

        Without a `confinement` tests run with this account's rights, within limits; without a `setup` they have only
        the programs of this machine.
        """
        self._environment = {name: value for name, value in environment.items() if not _is_withheld(name)}
        self._deadline_seconds = deadline_seconds
        self._limits = limits or OutputLimits()
        self._confinement = confinement or Confinement()
        self._setup = setup

    @property
    def circumstances(self) -> str:
        """The facts besides the tree that results may depend on: set-up, sandbox, and the tests' environment."""
        setup = self._setup.command if self._setup else None
        return repr((setup, str(self._confinement.wrap.kind), sorted(self._environment.items())))

    def based(self, base: Export) -> TestBench:
        """Return the bench with set-ups made from the commit that `base` writes; see `SetUp.based`."""
        bound = copy.copy(self)
        bound._setup = None if self._setup is None else self._setup.based(base)
        return bound

    def setting_up(self, command: str | None) -> TestBench:
        """Return the bench with `command` for installing the tests' needs; None: nothing is installed."""
        bound = copy.copy(self)
        bound._setup = None if self._setup is None else self._setup.with_command(command)
        return bound

    async def equip(self, checkout: Path, directory: str = "") -> Installed:
        """Set up the packages of the lock files in a directory of a checkout, and make them visible there.

        Raises `SetUpFailed`.
        """
        installed = NOTHING if self._setup is None else await self._setup.installed(checkout, directory)
        installed.offer(checkout / directory)
        return installed

    async def run(self, tests: Tests, checkout: Path, scratch: Path) -> TestRun:
        """Run tests in a checkout; other files that they write go below `scratch`, until the end.

        Old reports are removed first. Raises `Misconfigured` if the runner cannot run the command, and `SetUpFailed`;
        actions of the tests are in the result, never raised.
        """
        async with _room(scratch) as room:
            caches, place = scratch / "caches", checkout / tests.directory
            caches.mkdir(exist_ok=True)
            for stale in tests.runner.reports(place):
                stale.unlink()
            paths = await to_thread.run_sync(source_paths, place, self._limits.paths)  # before tests can add any
            project = Project.of(place, paths, tests.announced)
            call = Invocation(room / "report", project, tests.selection, caches)
            argv = tests.runner.command(tests.command, call)
            installed = (await self.equip(checkout, tests.directory)).with_variables(tests.runner.environment(call))
            if tests.clock_shift is not None:
                installed = shifted_clock.laid(installed, room, place, tests.clock_shift)
            seconds = min(self._deadline_seconds, tests.deadline_seconds or self._deadline_seconds)
            with report_pipe(call.report) as pipe:
                command = _Command(argv, place, (checkout, room, caches), installed, seconds)
                ended = await self._execute(command, room)
            reports = await to_thread.run_sync(_reports, tests.runner, project, pipe)
            tail = run_output.tail(room / LOG, self._limits.tail_chars)
            missing = self._missing_program(argv[0]) if ended.code == _NOT_FOUND else ""
            if ended.code == _NOT_FOUND:
                tail = "\n".join(filter(None, (tail, missing or self._not_shown(argv[0]))))
            reports += _unreported_results(tests.runner, reports, ended, tail, call)
            return replace(_outcome(tests.runner, reports, project, ended, tail), missing=missing)

    def _missing_program(self, program: str) -> str:
        """Return the sentence that there is no such program; empty if there is one, so that another was not found."""
        if shutil.which(program, path=self._environment.get("PATH", "")) is not None:
            return ""
        wanted = "install it, or name another program in the test command (`test_command`; of tdd `--test-command`)"
        return f"There is no `{program}` on this machine: {wanted}."

    def _not_shown(self, program: str) -> str:
        """Return the sentence that an existing program may be hidden by the sandbox."""
        found = shutil.which(program, path=self._environment.get("PATH", ""))
        if self._confinement.wrap.kind is not Isolation.SANDBOX:
            return ""
        return (
            f"`{program}` is `{found}` on this machine, which the sandbox may not show: list the directory of its "
            "toolchain under `sandbox_readable`, or name a program below /usr in the test command."
        )

    async def command(self, command: str, checkout: Path, scratch: Path, directory: str = "") -> CommandResult:
        """Run one quality command in a directory of a checkout, confined and limited as tests are.

        Raises `Misconfigured` when it needs a shell, and `SetUpFailed`.
        """
        async with _room(scratch) as room:
            argv = command_line.split(command, key="quality_commands")
            installed = await self.equip(checkout, directory)
            whole = _Command(argv, checkout / directory, (checkout, room), installed, self._deadline_seconds)
            ended = await self._execute(whole, room)
            said = run_output.tail(room / LOG, self._limits.tail_chars)
            stopped = f"limit {ended.limit}" if ended.limit else "stopped at the deadline" if ended.timed_out else ""
            return CommandResult(command, None if stopped else ended.code, "\n".join(filter(None, (said, stopped))))

    async def _execute(self, command: _Command, room: Path) -> _Ended:
        """Run a command and return its end; no process that it started is left."""
        begun = anyio.current_time()
        environment = command.installed.environment(self._variables_inside(room), command.where)
        await self._confinement.hand_over(command.writable)
        readable = (*self._confinement.readable, *command.installed.readable)
        confined = replace(self._confinement, readable=readable)
        watchdog = confined.watchdog(command.writable)
        wrapped = watchdog.argv(confined.argv(limited(command.argv, self._limits.file_bytes), command.writable))
        try:
            with anyio.fail_after(command.seconds):
                async with process.started(wrapped, cwd=command.where, env=environment, log=room / LOG) as child:
                    limit = await watchdog.over(child)
                    return _Ended(child.returncode, limit, seconds=anyio.current_time() - begun)
        except TimeoutError:
            return _Ended(None, timed_out=True, seconds=anyio.current_time() - begun)

    def _variables_inside(self, room: Path) -> dict[str, str]:
        home, temporary = room / "home", room / "tmp"
        for directory in (home, temporary):
            directory.mkdir()
        return {
            **self._environment,
            "HOME": str(home),
            **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(self._confinement.temporary(temporary))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",  # ids made from sets stay the same from run to run
        }


@dataclass(frozen=True, slots=True)
class _Command:
    """A command, its directory `where`, the directories that it may write to, and its time limit."""

    argv: tuple[str, ...]
    where: Path
    writable: tuple[Path, ...]
    installed: Installed
    seconds: float


@dataclass(frozen=True, slots=True)
class _Ended:
    """The exit code, unless we ended it: at a limit, or at the deadline."""

    code: int | None
    limit: str | None = None
    timed_out: bool = False
    seconds: float = 0.0


@asynccontextmanager
async def _room(scratch: Path) -> AsyncIterator[Path]:
    """Create a directory for one run, and remove it afterwards with all files that the tests put there."""
    room = _create_room(scratch)
    try:
        yield room
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(directories.remove, room)


def _create_room(scratch: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix="run-", dir=scratch.resolve()))


def _is_withheld(name: str) -> bool:
    return bool(_SECRET.search(name) or _NOT_PASSED_ON.match(name))


def _reports(runner: Runner, project: Project, pipe: ReportPipe) -> list[Report]:
    """Return the reports from the pipe and from the checkout."""
    found = [runner.read(pipe.data, project)] if pipe.data else []
    return found + [run_output.report(runner, path, project) for path in runner.reports(project.root)]


def _unreported_results(
    runner: Runner, reports: Collection[Report], ended: _Ended, tail: str, call: Invocation
) -> list[Report]:
    """Return the results of a finished run that only its output tells."""
    if ended.code is None or ended.limit is not None:
        return []
    found = runner.unreported([case for report in reports for case in report.cases], ended.code, tail, call)
    return [] if found is None else [found]


def _outcome(runner: Runner, reports: Collection[Report], project: Project, ended: _Ended, tail: str) -> TestRun:
    cases = [case for report in reports for case in report.cases]
    problems = [report.problem for report in reports if report.problem]
    results, broken = _merge_results(_result(runner, case, project) for case in cases)
    code = ended.code if ended.limit is None else None
    complete = code is not None and bool(reports) and not problems and runner.complete(code, cases, tail)
    return TestRun(
        results,
        broken,
        finished=complete,
        code=-1 if code is None else code,
        output_tail="\n".join([tail, *problems]) if problems else tail,
        timed_out=ended.timed_out,
        limit=ended.limit,
        seconds=ended.seconds,
    )


def _result(runner: Runner, case: Case, project: Project) -> TestResult:
    test, file = runner.identify(case)
    if case.outcome not in {CaseOutcome.FAILED, CaseOutcome.ERROR}:
        return TestResult(test, file, case.outcome, None, case.message)
    kind, asserted = runner.classify(case, project), runner.asserted(case)
    return TestResult(test, file, case.outcome, kind, runner.explain(case), asserted)


def _merge_results(found: Iterable[TestResult]) -> tuple[dict[TestId, TestResult], dict[str, TestResult]]:
    """Return tests and broken files separately; of several results of one test the worst counts."""
    results: dict[TestId, TestResult] = {}
    broken: dict[str, TestResult] = {}
    for result in found:
        if result.id == result.file and result.kind is not None:
            broken[result.file] = result
        elif result.id not in results or SEVERITY[result.outcome] > SEVERITY[results[result.id].outcome]:
            results[result.id] = result
    return results, {path: result for path, result in broken.items() if path}
