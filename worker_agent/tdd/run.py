"""The bench: runs a test command, confined, in a directory that the caller made; what it left becomes values."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import anyio
from anyio import to_thread

from shared import process
from shared.sandbox.confinement import Confinement
from worker_agent.tdd.first_party import first_party
from worker_agent.tdd.installed import NOTHING, Installed
from worker_agent.tdd.junit import REPORT_LIMIT, SEVERITY, Case, Report
from worker_agent.tdd.report import Outcome, TestId, TestResult, TestRun
from worker_agent.tdd.runner import Runner
from worker_agent.tdd.setup_step import SetUp

_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_KEY", re.IGNORECASE)
_NOT_PASSED_ON = re.compile(r"(?:GIT_|GITHUB_|GH_|SSH_|XDG_|PYTEST_ADDOPTS$|PYTEST_CURRENT_TEST$)")
_NOT_SOURCE = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"})
_DEPTH = 32
"""Directories below each other that are looked at; packages need far fewer."""

_SHELL_BLOCK = 512
"""Bytes of one unit of `ulimit -f` (POSIX)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one run is written and looked at; what it may take of the machine, `Confinement.limits` says."""

    file_bytes: int = 2**30
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
            paths = await to_thread.run_sync(_paths, where, self._limits.paths)  # before tests can add any
            installed = await self.equip(where)
            ended = await self._execute(argv, where, room, log, installed)
            reports = await to_thread.run_sync(
                lambda: [_report(runner, path, where) for path in runner.reports(where, report)]
            )
            names = first_party(paths) | frozenset(announced)
            return _outcome(runner, reports, names, ended, _tail(log, self._limits.tail_chars))

    async def _execute(self, argv: tuple[str, ...], where: Path, room: Path, log: Path, installed: Installed) -> _Ended:
        """How the command ended; whatever the case, nothing that it has started is left."""
        environment = installed.environment(self._inside(room), where)
        writable = (where, room)
        await self._confinement.hand_over(writable)
        confined = replace(self._confinement, readable=(*self._confinement.readable, *installed.readable))
        wrapped = confined.argv(self._limited(argv), writable)
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

    def _limited(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The shell sets the limits and becomes the command: no further process, no system package."""
        blocks = self._limits.file_bytes // _SHELL_BLOCK
        return ("/bin/sh", "-c", f'ulimit -c 0; ulimit -f {blocks}; exec "$@"', "sh", *argv)


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


def _tail(log: Path, limit: int) -> str:
    try:
        with _regular(log) as output:
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - 4 * limit))  # a character takes four bytes at most
            return output.read(4 * limit).decode("utf-8", "replace")[-limit:]
    except OSError as error:
        return f"the output cannot be read: {error.strerror}"


def _report(runner: Runner, path: Path, where: Path) -> Report:
    try:
        with _regular(path) as file:
            return runner.read(file.read(REPORT_LIMIT + 1), where)
    except OSError as error:
        return Report(problem=f"the test report cannot be read: {error.strerror}")


def _regular(path: Path) -> BinaryIO:
    """Open a file that tests may have replaced: a link is not followed, a pipe not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb")


def _paths(where: Path, limit: int) -> list[str]:
    paths: list[str] = []
    for directory, below, files in os.walk(where):
        place = Path(directory).relative_to(where)
        below[:] = sorted(set(below) - _NOT_SOURCE) if len(place.parts) < _DEPTH else []
        paths += [(place / file).as_posix() for file in files]
        if len(paths) >= limit:
            break
    return paths


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
