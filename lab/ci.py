"""The lab's CI: runs a repository's jobs on every commit that is pushed to a branch, and reports check runs.

Runs are a set of tasks and not a task group, because a server may be entered in one task and left in another.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from lab import job_log
from lab.bare import Bare
from lab.world.checks import FAILED, CheckRecord, Checks
from shared import process
from shared.clock import Clock

LOG_BYTES = 4 * 2**20
"""How much of a job's output is kept: its end."""

_RUNS_AT_ONCE = 2
_BRANCHES = "refs/heads/"


@dataclass(slots=True)
class CiSettings:
    """What a repository's CI does; a test may change it between two pushes."""

    jobs: Mapping[str, str]
    """Name of the check run -> command for `/bin/sh -c`."""
    search_path: str = os.defpath
    """PATH of the jobs: put the directory of the Python that they shall use first."""
    deadline_seconds: float = 600.0
    delay_seconds: float = 0.0
    """How long a run stays queued."""
    never: bool = False
    """Runs are queued and stay so."""
    forced: deque[str] = field(default_factory=deque)
    """Conclusions for the next jobs, first come first served; such a job's command does not run."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    conclusion: str
    summary: str
    ending: str
    output: str = ""


class Ci:
    """The CI of one repository. Give `pushed` every ref change; `close` it before the event loop ends."""

    def __init__(self, checks: Checks, bare: Bare, workdir: Path, clock: Clock, settings: CiSettings) -> None:
        self.settings = settings
        self._checks = checks
        self._bare = bare
        self._workdir = workdir
        self._clock = clock
        self._slots = asyncio.Semaphore(_RUNS_AT_ONCE)
        self._runs: set[asyncio.Task[None]] = set()

    async def pushed(self, ref: str, old: str | None, new: str | None) -> None:
        """A ref changed: the first time that a branch names a commit, its jobs are queued."""
        branch = ref.removeprefix(_BRANCHES)
        if branch != ref and new is not None and not self._checks.of(new):
            self._start(new, self.settings.jobs, branch)

    def rerun(self, sha: str, names: Collection[str]) -> None:
        """Queue the jobs of these names once more on a commit that had them."""
        self._start(sha, {name: self.settings.jobs[name] for name in names})

    async def idle(self) -> None:
        """Return when nothing runs and nothing is queued to run; raises what a run raised."""
        while self._runs:
            done, _ = await asyncio.wait(self._runs)
            self._runs -= done
            for run in done:
                await run

    async def close(self) -> None:
        """End every run and its processes; their check runs stay as they are. Raises what a run raised."""
        runs, self._runs = self._runs, set()
        for run in runs:
            run.cancel()
        for ending in await asyncio.gather(*runs, return_exceptions=True):
            if isinstance(ending, Exception):
                raise ending

    def _start(self, sha: str, jobs: Mapping[str, str], branch: str = "") -> None:
        queued = [(self._queue(sha, name, branch), command) for name, command in jobs.items()]
        if not self.settings.never:
            run = asyncio.create_task(self._run(sha, queued))
            self._runs.add(run)
            run.add_done_callback(self._forget)

    def _queue(self, sha: str, name: str, branch: str) -> CheckRecord:
        return self._checks.checks.change(self._checks.start(sha, name, branch).id, status="queued")

    def _forget(self, run: asyncio.Task[None]) -> None:
        """Drop a run that is over, unless it failed: then `idle` or `close` raises its error."""
        if run.cancelled() or run.exception() is None:
            self._runs.discard(run)

    async def _run(self, sha: str, queued: Sequence[tuple[CheckRecord, str]]) -> None:
        await self._clock.sleep(self.settings.delay_seconds)
        async with self._slots:
            for check, command in queued:
                self._checks.checks.change(check.id, status="in_progress")
                await self._job(sha, check, command)

    async def _job(self, sha: str, check: CheckRecord, command: str) -> None:
        directory = Path(tempfile.mkdtemp(prefix=f"{sha[:8]}-", dir=self._workdir))
        try:
            tree = directory / "tree"
            tree.mkdir()
            await self._bare.checkout(sha, tree)
            started = self._clock.now()
            outcome = await self._outcome(sha, command, directory)
            log = job_log.render(command, outcome.output, outcome.ending, started=started, ended=self._clock.now())
            annotations = job_log.annotate(outcome.output, outcome.ending, _paths(tree)) if outcome.ending else []
            self._checks.finish(check, outcome.conclusion, outcome.summary, log, annotations)
        finally:
            shutil.rmtree(directory)

    async def _outcome(self, sha: str, command: str, directory: Path) -> _Outcome:
        if self.settings.forced:
            conclusion = self.settings.forced.popleft()
            ending = f"The lab was told to conclude {conclusion}." if conclusion in FAILED else ""
            return _Outcome(conclusion, f"Concluded {conclusion} as the lab was told", ending)
        code = await self._execute(sha, command, directory)
        output = _tail(directory / "log")
        if code is None:
            ending = f"The job has exceeded the maximum execution time of {self.settings.deadline_seconds:g} seconds."
            return _Outcome("timed_out", "Timed out", ending, output)
        if code != 0:
            return _Outcome("failure", f"Exit code {code}", f"Process completed with exit code {code}.", output)
        return _Outcome("success", "Passed", "", output)

    async def _execute(self, sha: str, command: str, directory: Path) -> int | None:
        """The command's exit code, or None when its deadline passed."""
        argv, tree, log = ("/bin/sh", "-c", command), directory / "tree", directory / "log"
        with anyio.move_on_after(self.settings.deadline_seconds):
            async with process.started(argv, cwd=tree, env=self._environment(sha, directory), log=log) as child:
                return await child.wait()
        return None

    def _environment(self, sha: str, directory: Path) -> dict[str, str]:
        return {
            "PATH": self.settings.search_path,
            "HOME": str(directory),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": self._bare.full_name,
            "GITHUB_SHA": sha,
            "GITHUB_WORKSPACE": str(directory / "tree"),
        }


def _tail(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_BYTES))
        return file.read().decode("utf-8", "replace")


def _paths(tree: Path) -> frozenset[str]:
    return frozenset(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())
