"""The one workflow of a repository with a CI, and the attempts and artifacts of its runs: what `gh run` asks for."""

from __future__ import annotations

from dataclasses import replace

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, not_found
from lab.github.routes.actions import listed, run_of, shown
from lab.github.wire import checks as wire
from lab.github.world.checks import RunRecord

routes = Operations()


@routes.get("/actions/workflows", "actions")
async def list_workflows(call: ApiCall) -> Reply:
    """The workflows of a repository: one where there is a CI, else none."""
    here = [wire.WORKFLOW_ID] if _has_workflow(call) else []
    return call.page(here, lambda _: wire.workflow(call.site, call.repository), key="workflows")


@routes.get("/actions/workflows/{workflow_id}/runs", "actions")
async def list_workflow_runs(call: ApiCall) -> Reply:
    """The runs of one workflow, newest first; filters are those of all runs."""
    _require_workflow(call)
    return await listed(call)


@routes.get("/actions/workflows/{workflow_id}", "actions")
async def get_workflow(call: ApiCall) -> Reply:
    """One workflow, by its id or by its file's name."""
    _require_workflow(call)
    return Reply(body=wire.workflow(call.site, call.repository))


@routes.get("/actions/runs/{run_id}/artifacts", "actions")
async def list_artifacts(call: ApiCall) -> Reply:
    """List the artifacts of a run: the lab's have none."""
    run_of(call)
    return call.page(list[int](), lambda _: {}, key="artifacts")


@routes.get("/actions/runs/{run_id}/attempts/{attempt_number}", "actions")
async def get_attempt(call: ApiCall) -> Reply:
    """A run as it was at one of its attempts."""
    return Reply(body=await shown(call, _attempt(call)))


@routes.get("/actions/runs/{run_id}/attempts/{attempt_number}/jobs", "actions")
async def list_jobs_of_attempt(call: ApiCall) -> Reply:
    """The jobs that began with one attempt of a run."""
    run = _attempt(call)
    found = [job for job in call.repository.checks.jobs(run, latest=False) if job.attempt == run.attempt]
    return call.page(found, lambda check: wire.job(call.site, call.repository, check), key="jobs")


@routes.write("POST", "/actions/jobs/{job_id}/rerun", "actions")
async def rerun_job(call: ApiCall) -> Reply:
    """Run one job of a finished run once more."""
    checks, rerun = call.repository.checks, call.repository.rerun
    job = checks.require_job(call.number("job_id"))
    run = checks.require_run(job.run_id)
    if checks.conclusion(run)[0] != "completed" or rerun is None:
        raise Refusal(403, "This workflow run cannot be retried")
    checks.rerun(run, call.login)
    rerun(run.head_sha, [job.name])
    return Reply(201, {})


def _has_workflow(call: ApiCall) -> bool:
    return call.repository.rerun is not None or bool(call.repository.checks.workflow_runs())


def _require_workflow(call: ApiCall) -> None:
    if call.match["workflow_id"] not in {str(wire.WORKFLOW_ID), wire.WORKFLOW_FILE} or not _has_workflow(call):
        raise not_found()


def _attempt(call: ApiCall) -> RunRecord:
    run, number = run_of(call), call.number("attempt_number")
    if not 1 <= number <= run.attempt:
        raise not_found()
    if number == run.attempt:
        return run
    return replace(run, attempt=number, rerun_by="", rerun_at=None)
