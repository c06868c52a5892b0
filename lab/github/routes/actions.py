"""Workflow runs, their jobs and logs."""

from __future__ import annotations

from collections.abc import Mapping

from lab.github.ci.behaviours import STARTUP
from lab.github.http import signed
from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, not_found
from lab.github.repositories.changes import CommitInfo
from lab.github.wire import checks as wire
from lab.github.wire.site import Json
from lab.github.world.checks import FAILED, RunRecord

routes = Operations()


@routes.get("/actions/jobs/{job_id}", "actions")
async def get_job(call: ApiCall) -> Reply:
    """One job."""
    check = call.repository.checks.require_job(call.number("job_id"))
    return Reply(body=wire.job(call.site, call.repository, check))


@routes.get("/actions/jobs/{job_id}/logs", "actions")
async def get_job_logs(call: ApiCall) -> Reply:
    """A redirect to where the log is, good for a minute; 404 while there is none, 410 when it is kept no longer."""
    check = call.repository.checks.require_job(call.number("job_id"))
    if check.log_gone:
        raise Refusal(410, "Gone")
    if check.log is None:
        raise not_found()
    return _download(call, f"{check.id}")


@routes.get("/actions/runs", "actions")
async def list_runs(call: ApiCall) -> Reply:
    """Workflow runs, newest first, by branch, commit, suite, event, actor and status (or conclusion)."""
    return await listed(call)


async def listed(call: ApiCall) -> Reply:
    """The runs that a query asks for."""
    branch, sha, status = (call.query.get(name) for name in ("branch", "head_sha", "status"))
    suite, event, actor = (call.query.get(name) for name in ("check_suite_id", "event", "actor"))
    checks = call.repository.checks
    found = [
        run
        for run in checks.workflow_runs()
        if branch in {None, run.head_branch}
        and sha in {None, run.head_sha}
        and suite in {None, str(run.id)}
        and event in {None, wire.EVENT}
        and (actor is None or actor.lower() == wire.begun_by(call.repository, run).lower())
        and status in {None, *checks.conclusion(run)}
    ]
    heads = await call.repository.bare.commits({run.head_sha for run in found})
    newest_first = found[::-1]
    return call.page(newest_first, lambda one: _shown(call, one, heads), key="workflow_runs")


@routes.get("/actions/runs/{run_id}", "actions")
async def get_run(call: ApiCall) -> Reply:
    """One workflow run."""
    return Reply(body=await shown(call, run_of(call)))


@routes.get("/actions/runs/{run_id}/logs", "actions")
async def get_run_logs(call: ApiCall) -> Reply:
    """A redirect to an archive with the logs of all jobs, good for a minute; 404 while there is none."""
    run = run_of(call)
    jobs = call.repository.checks.jobs(run)
    if any(job.log_gone for job in jobs):
        raise Refusal(410, "Gone")
    if all(job.log is None for job in jobs):
        raise not_found()
    return _download(call, f"runs/{run.id}")


@routes.get("/actions/runs/{run_id}/jobs", "actions")
async def list_jobs(call: ApiCall) -> Reply:
    """The jobs of a run: of the newest attempt, or of all with `filter=all`."""
    latest = call.choice("Job", "filter", ("latest", "all")) == "latest"
    found = call.repository.checks.jobs(run_of(call), latest=latest)
    return call.page(found, lambda check: wire.job(call.site, call.repository, check), key="jobs")


@routes.write("POST", "/actions/runs/{run_id}/rerun-failed-jobs", "actions")
async def rerun_failed_jobs(call: ApiCall) -> Reply:
    """Run the failed jobs of a finished run once more."""
    run, checks, rerun = run_of(call), call.repository.checks, call.repository.rerun
    status, conclusion = checks.conclusion(run)
    if status != "completed" or conclusion in {"success", STARTUP} or rerun is None:
        raise Refusal(403, "This workflow run cannot be retried")
    failed = [job.name for job in checks.jobs(run) if job.conclusion in FAILED]
    checks.rerun(run, call.login)
    rerun(run.head_sha, failed)
    return Reply(201, {})


@routes.write("POST", "/actions/runs/{run_id}/rerun", "actions")
async def rerun_workflow(call: ApiCall) -> Reply:
    """Run all jobs of a finished run once more."""
    run, checks, rerun = run_of(call), call.repository.checks, call.repository.rerun
    status, conclusion = checks.conclusion(run)
    if status != "completed":
        raise Refusal(403, "This workflow is already running")
    if conclusion == STARTUP or rerun is None:
        raise Refusal(403, "This workflow run cannot be retried")
    names = [job.name for job in checks.jobs(run)]
    checks.rerun(run, call.login)
    rerun(run.head_sha, names)
    return Reply(201, {})


def _download(call: ApiCall, what: str) -> Reply:
    where = signed.address(call.site.world, call.site.downloads, call.repository.facts.id, what)
    return Reply(302, headers={"Location": where}, content=b"", content_type="text/html;charset=utf-8")


def _shown(call: ApiCall, run: RunRecord, heads: Mapping[str, CommitInfo]) -> Json:
    return wire.run(call.site, call.repository, run, heads.get(run.head_sha))


async def shown(call: ApiCall, run: RunRecord) -> Json:
    """One run with the commit that it ran on."""
    return _shown(call, run, await call.repository.bare.commits([run.head_sha]))


def run_of(call: ApiCall) -> RunRecord:
    """The run that the path names, or 404."""
    return call.repository.checks.require_run(call.number("run_id"))
