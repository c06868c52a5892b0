"""The lab's CI: runs a repository's jobs on every commit that is pushed to a branch, and reports their results.

Runs are a set of tasks and not a task group, because a server may be entered in one task and left in another. A job
reports its result to GitHub as a check run, or as a commit status.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from lab.github.ci import job_log
from lab.github.ci.behaviours import HONEST, STARTUP, UNSTARTED, CiBehaviour, Ending, Wish
from lab.github.repositories.bare import Bare
from lab.github.world.checks import AnnotationRecord, Checks
from shared import process
from shared.clock import Clock

LOG_BYTES = 4 * 2**20
"""Bytes that are kept of a job's output: its end."""

_JOBS_AT_ONCE = 2
_BRANCHES = "refs/heads/"


@dataclass(slots=True)
class CiSettings:
    """Jobs of a repository's CI; a test may change them between two pushes."""

    jobs: Mapping[str, str]
    """Name of the check run -> command for `/bin/sh -c`."""
    statuses: Mapping[str, str] = field(default_factory=dict)
    """Context of the commit status -> command: what a CI outside GitHub Actions reports."""
    search_path: str = os.defpath
    """PATH of the jobs: put the directory of the Python that they shall use first."""
    deadline_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class _Job:
    """One run of one job on one commit."""

    sha: str
    name: str
    command: str
    mood: CiBehaviour
    ending: Ending | None
    report: Report


class Ci:
    """The CI of one repository. Give `pushed` every ref change; `close` it before the event loop ends."""

    def __init__(self, checks: Checks, bare: Bare, workdir: Path, clock: Clock, settings: CiSettings) -> None:
        self.settings = settings
        self._checks = checks
        self._bare = bare
        self._workdir = workdir
        self._clock = clock
        self._wishes: list[Wish] = []
        self._slots = asyncio.Semaphore(_JOBS_AT_ONCE)
        self._runs: dict[asyncio.Task[None], float] = {}
        self._seen: set[str] = set()

    def wish(self, wish: Wish) -> None:
        """Let the runs that begin from now on be in a mood; of several wishes for one the newest counts."""
        self._wishes.append(wish)

    async def pushed(self, ref: str, old: str | None, new: str | None) -> None:
        """A ref changed: the first time that a branch names a commit, its jobs are queued."""
        branch = ref.removeprefix(_BRANCHES)
        if branch != ref and new is not None and new not in self._seen and not self._checks.of(new):
            self.run(new, branch)

    def run(self, sha: str, branch: str) -> None:
        """Queue all jobs on a commit, which counts as pushed to `branch`."""
        self._seen.add(sha)
        jobs = self.settings.jobs
        if any(self._mood(name, branch, sha).ending(1) == UNSTARTED for name in jobs):
            self._checks.fail_to_start(sha, branch, STARTUP)
        else:
            self._start(sha, branch, jobs, partial(CheckReport, self._checks, sha, branch))
        self._start(sha, branch, self.settings.statuses, partial(StatusReport, self._checks, sha))

    def rerun(self, sha: str, names: Collection[str]) -> None:
        """Queue the jobs of these names once more on a commit that had them."""
        branch = next((run.head_branch for run in self._checks.runs.values() if run.head_sha == sha), "")
        commands = {name: self.settings.jobs[name] for name in names if name in self.settings.jobs}
        self._start(sha, branch, commands, partial(CheckReport, self._checks, sha, branch))

    async def idle(self) -> None:
        """Return when nothing runs and nothing is queued to run now; raises what a run raised.

        What waits for lab time to pass, or for ever, is not waited for.
        """
        while due := [run for run, at in self._runs.items() if at <= self._clock.now()]:
            done, _ = await asyncio.wait(due)
            for run in done:
                self._runs.pop(run, None)
                await run

    async def close(self) -> None:
        """End every run and its processes; their check runs stay as they are. Raises what a run raised."""
        runs, self._runs = self._runs, {}
        for run in runs:
            run.cancel()
        for ending in await asyncio.gather(*runs, return_exceptions=True):
            if isinstance(ending, Exception):
                raise ending

    def _start(self, sha: str, branch: str, commands: Mapping[str, str], report_on: Callable[[str], Report]) -> None:
        for name, command in commands.items():
            mood, report = self._mood(name, branch, sha), report_on(name)
            if not mood.never:
                due = self._clock.now() + mood.delay_seconds
                job = _Job(sha, name, command, mood, mood.ending(report.attempt), report)
                run = asyncio.create_task(self._run(job, due))
                self._runs[run] = due
                run.add_done_callback(self._forget)

    def _mood(self, name: str, branch: str, sha: str) -> CiBehaviour:
        return next((wish.mood for wish in reversed(self._wishes) if wish.covers(name, branch, sha)), HONEST)

    def _forget(self, run: asyncio.Task[None]) -> None:
        """Drop a run that is over, unless it failed: then `idle` or `close` raises its error."""
        if run.cancelled() or run.exception() is None:
            self._runs.pop(run, None)

    async def _run(self, job: _Job, due: float) -> None:
        await self._clock.sleep(due - self._clock.now())
        async with self._slots:
            job.report.begin()
            if job.ending is None:
                await self._execute(job)
            else:
                conclusion = job.ending.conclusion
                outcome = JobOutcome(conclusion, f"Concluded {conclusion}", job.ending.says, "")
                self._finish(job, outcome, self._clock.now(), ())

    async def _execute(self, job: _Job) -> None:
        directory = Path(tempfile.mkdtemp(prefix=f"{job.sha[:8]}-", dir=self._workdir))
        try:
            tree = directory / "tree"
            tree.mkdir()
            await self._bare.checkout(job.sha, tree)
            started = self._clock.now()
            outcome = await self._outcome(job, directory)
            self._finish(job, outcome, started, _paths(tree))
        finally:
            shutil.rmtree(directory)

    def _finish(self, job: _Job, outcome: JobOutcome, started: float, paths: Iterable[str]) -> None:
        """Report, with the log and the annotations that belong to the outcome."""
        log: str | None = None
        if job.ending is None or job.ending.log:
            times = {"started": started, "ended": self._clock.now()}
            log = job_log.render(job.name, job.command, outcome.output, outcome.says, **times)
        annotations: list[AnnotationRecord] = []
        if outcome.says:
            annotations = job_log.annotate(outcome.output, outcome.says, frozenset(paths))
        job.report.finish(outcome, log, annotations, job.mood)

    async def _outcome(self, job: _Job, directory: Path) -> JobOutcome:
        code = await self._code(job, directory)
        output = _tail(directory / "log")
        if code is None:
            says = f"The job has exceeded the maximum execution time of {self.settings.deadline_seconds:g} seconds."
            return JobOutcome("timed_out", "Timed out", says, output)
        if code != 0:
            return JobOutcome("failure", f"Exit code {code}", f"Process completed with exit code {code}.", output)
        return JobOutcome("success", "Passed", "", output)

    async def _code(self, job: _Job, directory: Path) -> int | None:
        """The command's exit code, or None when its deadline passed."""
        argv, tree, log = ("/bin/sh", "-c", job.command), directory / "tree", directory / "log"
        with anyio.move_on_after(self.settings.deadline_seconds):
            async with process.started(argv, cwd=tree, env=self._environment(job.sha, directory), log=log) as child:
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


OUTSIDE = "external-ci"
"""The account that sets commit statuses: such a CI is not GitHub's own."""

_STATES = {"success": "success", "neutral": "success", "skipped": "success", "failure": "failure"}
"""State of a commit status for each conclusion; every other conclusion is an `error`."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """Outcome of a job: GitHub's word, a summary, the last line, and its command's output."""

    conclusion: str
    summary: str
    says: str
    output: str


class CheckReport:
    """A check run, which is a job of GitHub Actions, queued when it is made.

    `attempt` counts the runs of this job on this commit, from 1.
    """

    def __init__(self, checks: Checks, sha: str, branch: str, name: str) -> None:
        self._checks = checks
        self.attempt = 1 + sum(check.name == name for check in checks.of(sha, latest=False))
        self._id = checks.start(sha, name, branch).id
        checks.checks.change(self._id, status="queued")

    def begin(self) -> None:
        """The job runs."""
        self._checks.checks.change(self._id, status="in_progress")

    def finish(
        self, outcome: JobOutcome, log: str | None, remarks: Sequence[AnnotationRecord], mood: CiBehaviour
    ) -> None:
        """The job has ended."""
        check = self._checks.checks.change(self._id, log_gone=mood.log_gone, log_filler=mood.log_bytes)
        self._checks.finish(check, outcome.conclusion, outcome.summary, log, remarks)


class StatusReport:
    """A commit status, set by a CI outside GitHub: it has no log and no annotations there. Made and counted alike."""

    def __init__(self, checks: Checks, sha: str, context: str) -> None:
        self._checks, self._sha, self._context = checks, sha, context
        statuses = checks.statuses.values()
        self.attempt = 1 + sum((one.sha, one.context, one.state) == (sha, context, "pending") for one in statuses)
        self._say("pending", "Queued")

    def begin(self) -> None:
        """A status knows only that it is pending."""

    def finish(
        self, outcome: JobOutcome, log: str | None, remarks: Sequence[AnnotationRecord], mood: CiBehaviour
    ) -> None:
        """Set the final status."""
        self._say(_STATES.get(outcome.conclusion, "error"), outcome.summary)

    def _say(self, state: str, description: str) -> None:
        self._checks.say(self._sha, self._context, state, description=description, creator=OUTSIDE)


Report = CheckReport | StatusReport
