"""The bench: runs a test command, confined, in a directory that the caller made; what it left becomes values."""

from __future__ import annotations

import copy
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio import to_thread

from shared import process
from shared.sandbox.confinement import Confinement
from shared.sandbox.file_size import FILE_BYTES, limited
from worker_agent.tdd.judging.first_party import first_party
from worker_agent.tdd.phases.quality import Ran
from worker_agent.tdd.runners import command_line, left_behind
from worker_agent.tdd.runners.junit import SEVERITY, Case, Report
from worker_agent.tdd.runners.report import Outcome, TestId, TestResult, TestRun
from worker_agent.tdd.runners.runner import Runner
from worker_agent.tdd.setup.installed import NOTHING, Installed
from worker_agent.tdd.setup.setup_step import Export, SetUp

_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_KEY", re.IGNORECASE)
_NOT_PASSED_ON = re.compile(r"(?:GIT_|GITHUB_|GH_|SSH_|XDG_|PYTEST_ADDOPTS$|PYTEST_CURRENT_TEST$)")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one run is written and looked at; what it may take of the machine, `Confinement.limits` says."""

    file_bytes: int = FILE_BYTES
    """Largest file that tests may write, the log of their output included."""
    tail_chars: int = 8000
    """How much of the end of the output is kept."""
    paths: int = 200_000
    """How many files of the checkout are looked at for module names."""


class TestBench:
    """Runs tests in a sandbox, with a home and a temporary directory of their own, no secrets, and a deadline."""

    __test__ = False  # pytest takes every class named Test* for tests

    def __init__(
        self,
        environment: Mapping[str, str],
        deadline_seconds: float,
        limits: Limits | None = None,
        confinement: Confinement | None = None,
        setup: SetUp | None = None,
    ) -> None:
        """`environment` is what tests may see (PATH, LANG ...); names that look like secrets are dropped.

        Without a `confinement` tests run with this account's rights, within limits; without a `setup`
        they find what this machine has.
        """
        self._environment = {name: value for name, value in environment.items() if not _withheld(name)}
        self._deadline_seconds = deadline_seconds
        self._limits = limits or Limits()
        self._confinement = confinement or Confinement()
        self._setup = setup

    def based(self, base: Export) -> TestBench:
        """The same, whose set-ups are made from the commit that `base` writes; see `SetUp.based`."""
        bound = copy.copy(self)
        bound._setup = None if self._setup is None else self._setup.based(base)
        return bound

    async def equip(self, where: Path) -> Installed:
        """Set up what the lock files of a checkout ask for, and let the checkout find it. Raises `SetUpFailed`."""
        installed = NOTHING if self._setup is None else await self._setup.installed(where)
        installed.offer(where)
        return installed

    async def run(
        self, runner: Runner, test_command: str, where: Path, scratch: Path, announced: Collection[str] = ()
    ) -> TestRun:
        """Run the tests of the checkout `where`; whatever else they write goes below `scratch`, until the end.

        Old reports in `where` are removed first. `announced` are module names that do not exist yet
        but will be the repository's own, so that their absence counts as a first-party name missing.
        Raises `Misconfigured` when `runner` cannot run the command, and `SetUpFailed`; what the tests
        do is told by the result, never raised.
        """
        async with _room(scratch) as room:
            report, log = room / "report.xml", room / "output.log"
            argv = runner.command(test_command, report)
            for stale in runner.reports(where, report):
                stale.unlink()
            paths = await to_thread.run_sync(left_behind.paths, where, self._limits.paths)  # before tests can add any
            installed = await self.equip(where)
            ended = await self._execute(argv, where, room, log, installed)
            reports = await to_thread.run_sync(
                lambda: [left_behind.report(runner, path, where) for path in runner.reports(where, report)]
            )
            names = first_party(paths) | frozenset(announced)
            return _outcome(runner, reports, names, ended, left_behind.tail(log, self._limits.tail_chars))

    async def command(self, command: str, where: Path, scratch: Path) -> Ran:
        """Run one quality command in the checkout `where`, confined and limited as tests are.

        Raises `Misconfigured` when it needs a shell, and `SetUpFailed`.
        """
        async with _room(scratch) as room:
            log = room / "output.log"
            argv = command_line.split(command, key="quality_commands")
            ended = await self._execute(argv, where, room, log, await self.equip(where))
            said = left_behind.tail(log, self._limits.tail_chars)
            stopped = f"limit {ended.limit}" if ended.limit else "stopped at the deadline" if ended.timed_out else ""
            return Ran(command, None if stopped else ended.code, "\n".join(filter(None, (said, stopped))))

    async def _execute(self, argv: tuple[str, ...], where: Path, room: Path, log: Path, installed: Installed) -> _Ended:
        """How the command ended; whatever the case, nothing that it has started is left."""
        environment = installed.environment(self._inside(room), where)
        writable = (where, room)
        await self._confinement.hand_over(writable)
        confined = replace(self._confinement, readable=(*self._confinement.readable, *installed.readable))
        wrapped = confined.argv(limited(argv, self._limits.file_bytes), writable)
        try:
            with anyio.fail_after(self._deadline_seconds):
                async with process.started(wrapped, cwd=where, env=environment, log=log) as child:
                    limit = await confined.watch(writable).over(child)
                    return _Ended(child.returncode, limit)
        except TimeoutError:
            return _Ended(None, timed_out=True)

    def _inside(self, room: Path) -> dict[str, str]:
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
class _Ended:
    """The exit code, unless we ended it: at a limit, or at the deadline."""

    code: int | None
    limit: str | None = None
    timed_out: bool = False


@asynccontextmanager
async def _room(scratch: Path) -> AsyncIterator[Path]:
    """A new directory for one run; afterwards it is gone with all that the tests put there."""
    room = _new_room(scratch)
    try:
        yield room
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_remove, room)


def _new_room(scratch: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix="run-", dir=scratch.resolve()))


def _remove(room: Path) -> None:
    with suppress(RecursionError):  # a test made directories deeper than Python's stack; they stay
        shutil.rmtree(room, ignore_errors=True)


def _withheld(name: str) -> bool:
    return bool(_SECRET.search(name) or _NOT_PASSED_ON.match(name))


def _outcome(runner: Runner, reports: Collection[Report], names: Collection[str], ended: _Ended, tail: str) -> TestRun:
    cases = [case for report in reports for case in report.cases]
    problems = [report.problem for report in reports if report.problem]
    results, broken = _merged(_result(runner, case, names) for case in cases)
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
    )


def _result(runner: Runner, case: Case, names: Collection[str]) -> TestResult:
    test, file = runner.identify(case)
    failed = case.outcome in {Outcome.FAILED, Outcome.ERROR}
    kind = runner.classify(case, names) if failed else None
    return TestResult(test, file, case.outcome, kind, runner.explain(case) if failed else case.message)


def _merged(found: Iterable[TestResult]) -> tuple[dict[TestId, TestResult], dict[str, TestResult]]:
    """Tests and broken files apart; of several results of one test the worst counts."""
    results: dict[TestId, TestResult] = {}
    broken: dict[str, TestResult] = {}
    for result in found:
        if result.id == result.file and result.kind is not None:
            broken[result.file] = result
        elif result.id not in results or SEVERITY[result.outcome] > SEVERITY[results[result.id].outcome]:
            results[result.id] = result
    return results, {path: result for path, result in broken.items() if path}
