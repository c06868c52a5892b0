"""The one workflow of a repository with a CI, its runs with their attempts and artifacts, their jobs and logs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lab.github.ci.behaviours import STARTUP
from lab.github.http import storage
from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, not_found
from lab.github.wire import checks as wire
from lab.github.world.checks import FAILED, RunRecord

routes = Operations()


@routes.get("/actions/jobs/{job_id}", "actions")
async def get_job(call: ApiCall) -> Reply:
    """One job."""
    check = call.repository.checks.require_job(call.number("job_id"))
    return Reply(body=call.show(wire.job, check))


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
    return await _list_by_query(call)


async def _list_by_query(call: ApiCall) -> Reply:
    """Answer with the runs that a query asks for."""
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
    return call.page(
        newest_first,
        lambda run: call.show(wire.run, run, heads.get(run.head_sha)),
        key="workflow_runs",
    )


@routes.get("/actions/runs/{run_id}", "actions")
async def get_run(call: ApiCall) -> Reply:
    """One workflow run."""
    return await _show(call, _run(call))


@routes.get("/actions/runs/{run_id}/logs", "actions")
async def get_run_logs(call: ApiCall) -> Reply:
    """A redirect to an archive with the logs of all jobs, good for a minute; 404 while there is none."""
    run = _run(call)
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
    found = call.repository.checks.jobs(_run(call), latest=latest)
    return call.list(wire.job, found, key="jobs")


@routes.write("POST", "/actions/runs/{run_id}/rerun-failed-jobs", "actions")
async def rerun_failed_jobs(call: ApiCall) -> Reply:
    """Run the failed jobs of a finished run once more."""
    run, checks = _run(call), call.repository.checks
    status, conclusion = checks.conclusion(run)
    if status != "completed" or conclusion in {"success", STARTUP}:
        raise _cannot_be_retried()
    return _run_again(call, run, [job.name for job in checks.jobs(run) if job.conclusion in FAILED])


@routes.write("POST", "/actions/runs/{run_id}/rerun", "actions")
async def rerun_workflow(call: ApiCall) -> Reply:
    """Run all jobs of a finished run once more."""
    run, checks = _run(call), call.repository.checks
    status, conclusion = checks.conclusion(run)
    if status != "completed":
        raise Refusal(403, "This workflow is already running")
    if conclusion == STARTUP:
        raise _cannot_be_retried()
    return _run_again(call, run, [job.name for job in checks.jobs(run)])


@routes.get("/actions/workflows", "actions")
async def list_workflows(call: ApiCall) -> Reply:
    """The workflows of a repository: one where there is a CI, else none."""
    here = [wire.WORKFLOW_ID] if _has_workflow(call) else []
    return call.page(here, lambda _: call.show(wire.workflow), key="workflows")


@routes.get("/actions/workflows/{workflow_id}/runs", "actions")
async def list_workflow_runs(call: ApiCall) -> Reply:
    """The runs of one workflow, newest first; filters are those of all runs."""
    _require_workflow(call)
    return await _list_by_query(call)


@routes.get("/actions/workflows/{workflow_id}", "actions")
async def get_workflow(call: ApiCall) -> Reply:
    """One workflow, by its id or by its file's name."""
    _require_workflow(call)
    return Reply(body=call.show(wire.workflow))


@routes.get("/actions/runs/{run_id}/artifacts", "actions")
async def list_artifacts(call: ApiCall) -> Reply:
    """List the artifacts of a run: the lab's have none."""
    _run(call)
    return call.page(list[int](), lambda _: {}, key="artifacts")


@routes.get("/actions/runs/{run_id}/attempts/{attempt_number}", "actions")
async def get_attempt(call: ApiCall) -> Reply:
    """A run as it was at one of its attempts."""
    return await _show(call, _attempt(call))


@routes.get("/actions/runs/{run_id}/attempts/{attempt_number}/jobs", "actions")
async def list_jobs_of_attempt(call: ApiCall) -> Reply:
    """The jobs that began with one attempt of a run."""
    run = _attempt(call)
    found = [job for job in call.repository.checks.jobs(run, latest=False) if job.attempt == run.attempt]
    return call.list(wire.job, found, key="jobs")


@routes.write("POST", "/actions/jobs/{job_id}/rerun", "actions")
async def rerun_job(call: ApiCall) -> Reply:
    """Run one job of a finished run once more."""
    checks = call.repository.checks
    job = checks.require_job(call.number("job_id"))
    run = checks.require_run(job.run_id)
    if checks.conclusion(run)[0] != "completed":
        raise _cannot_be_retried()
    return _run_again(call, run, [job.name])


def _run_again(call: ApiCall, run: RunRecord, names: Collection[str]) -> Reply:
    """Begin one more attempt of a run, with the jobs of these names; 403 where there is no CI."""
    if call.repository.rerun is None:
        raise _cannot_be_retried()
    call.repository.checks.rerun(run, call.login)
    call.repository.rerun(run.head_sha, names)
    return Reply(201, {})


def _cannot_be_retried() -> Refusal:
    return Refusal(403, "This workflow run cannot be retried")


def _download(call: ApiCall, log: str) -> Reply:
    address = storage.log_address(call.site.world, call.site.downloads, call.repository.facts.id, log)
    return Reply(302, headers={"Location": address}, content=b"", content_type="text/html;charset=utf-8")


async def _show(call: ApiCall, run: RunRecord) -> Reply:
    """Answer with one run and the commit that it ran on."""
    heads = await call.repository.bare.commits([run.head_sha])
    return Reply(body=call.show(wire.run, run, heads.get(run.head_sha)))


def _run(call: ApiCall) -> RunRecord:
    """The run that the path names, or 404."""
    return call.repository.checks.require_run(call.number("run_id"))


def _has_workflow(call: ApiCall) -> bool:
    return call.repository.rerun is not None or bool(call.repository.checks.workflow_runs())


def _require_workflow(call: ApiCall) -> None:
    if call.match["workflow_id"] not in {str(wire.WORKFLOW_ID), wire.WORKFLOW_FILE} or not _has_workflow(call):
        raise not_found()


def _attempt(call: ApiCall) -> RunRecord:
    run, number = _run(call), call.number("attempt_number")
    if not 1 <= number <= run.attempt:
        raise not_found()
    if number == run.attempt:
        return run
    return replace(run, attempt=number, rerun_by="", rerun_at=None)
