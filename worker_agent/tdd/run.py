"""The bench: runs a test command in a directory that the caller made, and turns what it left into values."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import anyio
from anyio import to_thread

from shared import process
from worker_agent.tdd.first_party import first_party
from worker_agent.tdd.junit import REPORT_LIMIT, SEVERITY, Case, Report, read
from worker_agent.tdd.report import Outcome, TestId, TestResult, TestRun
from worker_agent.tdd.runner import Runner

_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_KEY", re.IGNORECASE)
_NOT_PASSED_ON = re.compile(r"(?:GIT_|GITHUB_|GH_|SSH_|XDG_|PYTEST_ADDOPTS$|PYTEST_CURRENT_TEST$)")
_NOT_SOURCE = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"})
_DEPTH = 32
"""Directories below each other that are looked at; packages need far fewer."""

_SHELL_BLOCK = 512
"""Bytes of one unit of `ulimit -f` (POSIX)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may take besides time."""

    file_bytes: int = 2**30
    """Largest file that tests may write, the log of their output included."""
    tail_chars: int = 8000
    """How much of the end of the output is kept."""
    paths: int = 200_000
    """How many files of the checkout are looked at for module names."""


class TestBench:
    """Runs tests with a home and a temporary directory of their own, no secrets, and a deadline."""

    __test__ = False  # pytest takes every class named Test* for tests

    def __init__(self, environment: Mapping[str, str], deadline_seconds: float, limits: Limits | None = None) -> None:
        """`environment` is what tests may see (PATH, LANG ...); names that look like secrets are dropped."""
        self._environment = {name: value for name, value in environment.items() if not _withheld(name)}
        self._deadline_seconds = deadline_seconds
        self._limits = limits or Limits()

    async def run(
        self, runner: Runner, test_command: str, where: Path, scratch: Path, announced: Collection[str] = ()
    ) -> TestRun:
        """Run the tests of the checkout `where`; whatever else they write goes below `scratch`, until the end.

        Old reports in `where` are removed first. `announced` are module names that do not exist
        yet but will be the repository's own, so that their absence counts as a first-party name
        missing. Raises `Misconfigured` when `runner` cannot run the command; what the tests do is
        told by the result, never raised.
        """
        async with _room(scratch) as room:
            report, log = room / "report.xml", room / "output.log"
            argv = runner.command(test_command, report)
            for stale in runner.reports(where, report):
                stale.unlink()
            paths = await to_thread.run_sync(_paths, where, self._limits.paths)  # before tests can add any
            code = await self._execute(argv, where, room, log)
            reports = await to_thread.run_sync(lambda: [_report(path) for path in runner.reports(where, report)])
            names = first_party(paths) | frozenset(announced)
            return _outcome(runner, reports, names, code, _tail(log, self._limits.tail_chars))

    async def _execute(self, argv: tuple[str, ...], where: Path, room: Path, log: Path) -> int | None:
        """The exit code, or None at the deadline; in both cases nothing of the process group is left."""
        environment = self._inside(room)
        try:
            with anyio.fail_after(self._deadline_seconds):
                async with process.started(self._limited(argv), cwd=where, env=environment, log=log) as child:
                    return await child.wait()
        except TimeoutError:
            return None

    def _inside(self, room: Path) -> dict[str, str]:
        home, temporary = room / "home", room / "tmp"
        for directory in (home, temporary):
            directory.mkdir()
        return {
            **self._environment,
            "HOME": str(home),
            **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(temporary)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",  # ids made from sets stay the same from run to run
        }

    def _limited(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The shell sets the limits and becomes the command: no further process, no system package."""
        blocks = self._limits.file_bytes // _SHELL_BLOCK
        return ("/bin/sh", "-c", f'ulimit -c 0; ulimit -f {blocks}; exec "$@"', "sh", *argv)


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


def _report(path: Path) -> Report:
    try:
        with _regular(path) as file:
            return read(file.read(REPORT_LIMIT + 1))
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


def _outcome(
    runner: Runner, reports: Collection[Report], names: Collection[str], code: int | None, tail: str
) -> TestRun:
    cases = [case for report in reports for case in report.cases]
    problems = [report.problem for report in reports if report.problem]
    results, broken = _merged(_result(runner, case, names) for case in cases)
    complete = code is not None and bool(reports) and not problems and runner.complete(code, cases, tail)
    return TestRun(
        results,
        broken,
        finished=complete,
        code=-1 if code is None else code,
        output_tail="\n".join([tail, *problems]) if problems else tail,
        timed_out=code is None,
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
