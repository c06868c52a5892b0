"""`gh run`, `gh workflow` and `gh auth status` at the lab, as github.com over its unix socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from desk import Desk, desk, program, short_directory
from judge import Judge
from lab_scene import NAME, Scene, scene_at

from lab.github.world.checks import CheckRecord

LOG = "2026-01-02T03:04:05.1234567Z assert 1 == 2\n"


@pytest.fixture
async def here(tmp_path: Path, judge: Judge) -> AsyncIterator[tuple[Scene, Desk]]:
    """Yield the scene, and Ada's desk whose gh was told of the socket and of the repository."""
    program("gh")
    with short_directory() as directory:
        socket = directory / "lab.sock"
        async with scene_at(tmp_path / "lab", judge, unix_socket=socket) as scene:
            quiet = {"GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1", "GH_PROMPT_DISABLED": "1", "GH_REPO": NAME}
            ada = desk(scene, "ada", tmp_path / "ada", GH_TOKEN=scene.tokens["ada"], **quiet)
            await ada.ok("gh", "config", "set", "http_unix_socket", str(socket))
            yield scene, ada


async def job_of(scene: Scene, conclusion: str | None = "failure", *, branch: str = "main") -> CheckRecord:
    """Start a job on the head of a branch, and finish it with `conclusion` unless that is None."""
    checks = scene.repository.checks
    job = checks.start((await scene.get(f"commits/{branch}"))["sha"], "test", branch)
    return job if conclusion is None else checks.finish(job, conclusion, "red", LOG)


async def test_runs_are_listed_by_branch_workflow_and_person(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    job = await job_of(scene)
    fields = ("--json", "databaseId,conclusion,workflowName,headBranch,event", "--jq", '.[]|[.[]|tostring]|join(" ")')
    told = f"failure {job.run_id} push main CI"
    for chosen in ((), ("--branch", "main"), ("--workflow", "CI"), ("--workflow", "ci.yml"), ("--user", "octo")):
        assert await ada.ok("gh", "run", "list", *chosen, *fields) == told, chosen
    for other in (("--branch", "other"), ("--user", "bob")):
        assert await ada.ok("gh", "run", "list", *other, *fields) == ""
    assert await ada.ok("gh", "workflow", "list") == "CI\tactive\t1"
    assert "ci.yml" in await ada.ok("gh", "workflow", "view", "CI")


async def test_a_run_is_viewed_with_its_pull_request_its_jobs_and_their_logs(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    pull = await scene.pull("work")
    job = await job_of(scene, branch="work")
    told = await ada.ok("gh", "run", "view", str(job.run_id))
    assert f"work CI #{pull['number']} · {job.run_id}" in told
    assert f"X test in 0s (ID {job.id})" in told
    assert "X Run" in told
    for asked in (("--log",), ("--log-failed",), ("--log", "--job", str(job.id))):
        run = () if "--job" in asked else (str(job.run_id),)
        assert await ada.ok("gh", "run", "view", *run, *asked) == f"test\tRun\t{LOG.strip()}"
    missing = await ada.run("gh", "run", "view", "99")
    assert (missing.code, b"HTTP 404" in missing.stderr) == (1, True)


async def test_a_finished_run_is_watched_to_its_end_and_run_again(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    (ci,) = scene.lab.ci.values()
    ci.settings.jobs = {"test": "true"}
    job = await job_of(scene)
    watched = await ada.ok("gh", "run", "watch", str(job.run_id))
    assert "has already completed with 'failure'" in watched
    for attempt, again in enumerate((("--failed",), ("--job", str(job.id)), ()), 2):
        run = () if "--job" in again else (str(job.run_id),)
        await ada.ok("gh", "run", "rerun", *run, *again)
        await scene.lab.idle()
        found = await scene.get(f"actions/runs/{job.run_id}")
        assert (found["run_attempt"], found["conclusion"]) == (attempt, "success")
        if attempt == 2:  # what has succeeded has no failed jobs: GitHub refuses
            refused = await ada.run("gh", "run", "rerun", str(job.run_id), "--failed")
            assert refused.code == 1
            assert b"cannot be rerun" in refused.stderr or b"cannot be retried" in refused.stderr
    first = await scene.get(f"actions/runs/{job.run_id}/attempts/1/jobs")
    assert [(one["id"], one["conclusion"]) for one in first["jobs"]] == [(job.id, "failure")]


async def test_a_run_that_goes_on_is_watched_until_it_has_ended(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    (ci,) = scene.lab.ci.values()
    ci.settings.jobs = {"test": "sleep 1"}
    await scene.lab.ci_run(NAME)
    (run,) = (await scene.get("actions/runs"))["workflow_runs"]
    assert run["status"] != "completed"
    watched = await ada.ok("gh", "run", "watch", str(run["id"]), "--interval", "1", "--exit-status")
    assert f"✓ main CI · {run['id']}" in watched
    await scene.lab.idle()


async def test_who_is_logged_in_and_whose_token_is_none(here: tuple[Scene, Desk]) -> None:
    _, ada = here
    told = await ada.run("gh", "auth", "status")
    assert (told.code, "Logged in to github.com as ada (GH_TOKEN)" in told.text + told.stderr.decode()) == (0, True)
    unknown = replace(ada, variables={**ada.variables, "GH_TOKEN": "unknown"})
    refused = await unknown.run("gh", "auth", "status")
    assert refused.code == 1
    assert b"authentication failed" in refused.stderr
