"""Results of continuous integration for commits: workflow runs, their jobs as check runs, commit statuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lab.github.http.refusals import not_found
from lab.github.repositories.bare import pushed_by
from lab.github.world.records import Numbering, VersionedRecords

FAILED = ("failure", "timed_out", "cancelled", "action_required")
"""Conclusions of a check run that are not good, the worst first: that is the one of the whole run."""


ACTIONS = "github-actions"
"""The slug of the App that runs workflows; its check runs are jobs, its check suites workflow runs."""


@dataclass(frozen=True, slots=True)
class AnnotationRecord:
    """A remark of a check on lines of a file; `level` is notice, warning or failure."""

    path: str
    start_line: int
    end_line: int
    level: str
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One check run; `conclusion` is None while it runs, `app` is the slug of the App that reports it.

    `log_gone` means that its log has expired; `log_filler` is the number of bytes before the log.
    """

    id: int
    run_id: int
    attempt: int
    name: str
    head_sha: str
    started_at: int
    status: str = "in_progress"
    conclusion: str | None = None
    completed_at: int | None = None
    summary: str = ""
    log: str | None = None
    annotations: tuple[AnnotationRecord, ...] = ()
    app: str = ACTIONS
    title: str | None = None
    text: str | None = None
    external_id: str = ""
    details_url: str | None = None
    log_gone: bool = False
    log_filler: int = 0


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One check suite: what one App reports on one commit. That of Actions is a workflow run, with attempts.

    `conclusion` is set when it ended without any job. `pushed_by` is the login whose push began it, empty without one;
    `rerun_by` and `rerun_at` are the login and the time of the newest attempt, if it is not the first.
    """

    id: int
    number: int
    head_sha: str
    head_branch: str
    created_at: int
    attempt: int = 1
    app: str = ACTIONS
    conclusion: str | None = None
    pushed_by: str = ""
    rerun_by: str = ""
    rerun_at: int | None = None


@dataclass(frozen=True, slots=True)
class StatusRecord:
    """One commit status."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator: str
    at: int


class Checks:
    """Every run, check run and status of one repository."""

    def __init__(self, registrar: Numbering) -> None:
        self._registrar = registrar
        self.runs: VersionedRecords[int, RunRecord] = VersionedRecords(registrar)
        self.checks: VersionedRecords[int, CheckRecord] = VersionedRecords(registrar)
        self.statuses: VersionedRecords[int, StatusRecord] = VersionedRecords(registrar)

    def start(self, sha: str, name: str, branch: str = "") -> CheckRecord:
        """A job begins; all jobs of one commit belong to one workflow run."""
        return self.report(self.suite(sha, branch), name)

    def suite(self, sha: str, branch: str, app: str = ACTIONS) -> RunRecord:
        """The suite of an App on a commit, made if there is none."""
        found = next((run for run in self.suites(sha) if run.app == app), None)
        return found or self._run(sha, branch, app)

    def report(self, run: RunRecord, name: str, **facts: Any) -> CheckRecord:
        """A check run that the App of a suite reports; `facts` are fields of the record."""
        facts = {"started_at": self._registrar.now(), **facts}
        record = CheckRecord(self._registrar.new_id(), run.id, run.attempt, name, run.head_sha, app=run.app, **facts)
        return self.checks.put(record.id, record)

    def finish(
        self,
        check: CheckRecord,
        conclusion: str,
        summary: str,
        log: str | None,
        annotations: Sequence[AnnotationRecord] = (),
    ) -> CheckRecord:
        """A job ends; `conclusion` is GitHub's word (success, failure, cancelled, timed_out ...)."""
        return self.checks.change(
            check.id,
            status="completed",
            conclusion=conclusion,
            completed_at=self._registrar.now(),
            summary=summary,
            log=log,
            annotations=tuple(annotations),
        )

    def require_check(self, check_id: int) -> CheckRecord:
        """The check run, or 404."""
        found = self.checks.get(check_id)
        if found is None:
            raise not_found()
        return found

    def require_job(self, job_id: int) -> CheckRecord:
        """The check run of Actions, or 404."""
        found = self.require_check(job_id)
        if found.app != ACTIONS:
            raise not_found()
        return found

    def require_run(self, run_id: int) -> RunRecord:
        """The workflow run, or 404."""
        found = self.runs.get(run_id)
        if found is None or found.app != ACTIONS:
            raise not_found()
        return found

    def workflow_runs(self) -> list[RunRecord]:
        """The suites of Actions, oldest first."""
        return [run for run in self.runs.values() if run.app == ACTIONS]

    def suites(self, sha: str) -> list[RunRecord]:
        """The suites of a commit, oldest first."""
        return [run for run in self.runs.values() if run.head_sha == sha]

    def of(self, sha: str, *, latest: bool = True) -> list[CheckRecord]:
        """The check runs of a commit; with `latest` only the newest of each name."""
        found = [check for check in self.checks.values() if check.head_sha == sha]
        return list({(check.app, check.name): check for check in found}.values()) if latest else found

    def jobs(self, run: RunRecord, *, latest: bool = True) -> list[CheckRecord]:
        """The jobs of a run; with `latest` only the newest of each name."""
        found = [check for check in self.checks.values() if check.run_id == run.id]
        return list({check.name: check for check in found}.values()) if latest else found

    def conclusion(self, run: RunRecord) -> tuple[str, str | None]:
        """Status and conclusion of a run, from its newest jobs."""
        if run.conclusion is not None:
            return "completed", run.conclusion
        jobs = self.jobs(run)
        if any(job.status != "completed" for job in jobs):
            return "in_progress", None
        found = {job.conclusion for job in jobs}
        return "completed", next((conclusion for conclusion in FAILED if conclusion in found), "success")

    def rerun(self, run: RunRecord, actor: str) -> RunRecord:
        """`actor` begins a further attempt; jobs that start from now on belong to it."""
        return self.runs.change(run.id, attempt=run.attempt + 1, rerun_by=actor, rerun_at=self._registrar.now())

    def fail_to_start(self, sha: str, branch: str, conclusion: str) -> RunRecord:
        """The workflow run of a commit ends before it has any job."""
        return self.runs.change(self.suite(sha, branch).id, conclusion=conclusion)

    def say(
        self, sha: str, context: str, state: str, *, description: str | None, creator: str, url: str | None = None
    ) -> StatusRecord:
        """Add a commit status by `creator`; the newest of each context counts."""
        new_id, now = self._registrar.new_id(), self._registrar.now()
        return self.statuses.put(new_id, StatusRecord(new_id, sha, state, context, description, url, creator, now))

    def statuses_of(self, sha: str) -> list[StatusRecord]:
        """The newest status of each context of a commit."""
        found = [status for status in self.statuses.values() if status.sha == sha]
        return list({status.context: status for status in found}.values())

    def _run(self, sha: str, branch: str, app: str) -> RunRecord:
        new_id, number, now = self._registrar.new_id(), len(self.runs) + 1, self._registrar.now()
        run = RunRecord(new_id, number, sha, branch, now, app=app, pushed_by=pushed_by.get() or "")
        return self.runs.put(run.id, run)
