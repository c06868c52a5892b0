"""Workflow runs, their jobs and logs."""

from __future__ import annotations

from lab import signed
from lab.call import Call, Operations, Reply
from lab.refusals import Refusal, not_found
from lab.wire import checks as wire
from lab.world.checks import FAILED, RunRecord

routes = Operations()


@routes.get("/actions/jobs/{job_id}", "actions")
async def get_job(call: Call) -> Reply:
    """One job."""
    check = call.repository.checks.require_check(call.number("job_id"))
    return Reply(body=wire.job(call.site, call.repository, check))


@routes.get("/actions/jobs/{job_id}/logs", "actions")
async def get_job_logs(call: Call) -> Reply:
    """A redirect to where the log is, good for a minute; 404 while there is none."""
    check = call.repository.checks.require_check(call.number("job_id"))
    if check.log is None:
        raise not_found()
    where = signed.address(call.site.world, call.site.root, call.repository.facts.id, check.id)
    return Reply(302, headers={"Location": where}, content=b"", content_type="text/html;charset=utf-8")


@routes.get("/actions/runs", "actions")
async def list_runs(call: Call) -> Reply:
    """Workflow runs, newest first, by branch, commit and status (or conclusion)."""
    branch, sha, status = (call.query.get(name) for name in ("branch", "head_sha", "status"))
    checks = call.repository.checks
    found = [
        run
        for run in checks.runs.values()
        if branch in {None, run.head_branch}
        and sha in {None, run.head_sha}
        and status in {None, *checks.conclusion(run)}
    ]
    return call.page(found[::-1], lambda run: wire.run(call.site, call.repository, run), key="workflow_runs")


@routes.get("/actions/runs/{run_id}", "actions")
async def get_run(call: Call) -> Reply:
    """One workflow run."""
    return Reply(body=wire.run(call.site, call.repository, _run(call)))


@routes.get("/actions/runs/{run_id}/jobs", "actions")
async def list_jobs(call: Call) -> Reply:
    """The jobs of a run: of the newest attempt, or of all with `filter=all`."""
    latest = call.choice("Job", "filter", ("latest", "all")) == "latest"
    found = call.repository.checks.jobs(_run(call), latest=latest)
    return call.page(found, lambda check: wire.job(call.site, call.repository, check), key="jobs")


@routes.write("POST", "/actions/runs/{run_id}/rerun-failed-jobs", "actions")
async def rerun_failed_jobs(call: Call) -> Reply:
    """Run the failed jobs of a finished run once more."""
    run, checks, rerun = _run(call), call.repository.checks, call.repository.rerun
    status, conclusion = checks.conclusion(run)
    if status != "completed" or conclusion == "success" or rerun is None:
        raise Refusal(403, "This workflow run cannot be retried")
    failed = [job.name for job in checks.jobs(run) if job.conclusion in FAILED]
    checks.rerun(run)
    rerun(run.head_sha, failed)
    return Reply(201, {})


def _run(call: Call) -> RunRecord:
    return call.repository.checks.require_run(call.number("run_id"))
