"""The lab's CI as a client of the API sees it: reruns, logs, annotations, statuses, what protection requires."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import pytest
from lab_scene import NAME, Scene

from lab.github.ci import behaviours
from lab.github.ci.behaviours import CiBehaviour
from lab.github.world.repository import Protection


async def runs(scene: Scene, sha: str) -> Any:
    """Return the check runs of a commit by name, with conclusion and run."""
    found = (await scene.get(f"commits/{sha}/check-runs"))["check_runs"]
    return {check["name"]: (check["conclusion"], check["check_suite"]["id"]) for check in found}


async def pushed(scene: Scene, mood: CiBehaviour) -> str:
    """Push a commit to a branch, whose CI ends in a mood."""
    scene.lab.ci_jobs(NAME, {"test": "true"})
    scene.lab.ci_mood(NAME, mood)
    sha = await scene.commit("work", {"new.txt": "new\n"})
    await scene.lab.idle()
    return sha


async def test_failed_jobs_of_a_flaky_ci_are_green_when_run_again(scene: Scene) -> None:
    scene.lab.ci_jobs(NAME, {"lint": "true", "test": "true"})
    scene.lab.ci_mood(NAME, behaviours.FLAKY, job="test")
    sha = await scene.commit("work", {"new.txt": "new\n"})
    await scene.lab.idle()
    seen = await runs(scene, sha)
    assert (seen["lint"][0], seen["test"][0]) == ("success", "failure")
    run = f"actions/runs/{seen['test'][1]}"
    assert (await scene.get(run))["conclusion"] == "failure"
    assert (await scene.ask("POST", f"{run}/rerun-failed-jobs")).status == 201
    await scene.lab.idle()
    assert (await runs(scene, sha))["test"][0] == "success"
    jobs = (await scene.get(f"{run}/jobs?filter=all"))["jobs"]
    assert [(job["name"], job["run_attempt"]) for job in jobs] == [("lint", 1), ("test", 1), ("test", 2)]
    assert (await scene.ask("POST", f"{run}/rerun-failed-jobs")).status == 403


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("mood", "conclusion", "says"),
    [
        (behaviours.RED, "failure", "exit code 1"),
        (behaviours.CANCELLED, "cancelled", "operation was canceled"),
        (behaviours.TIMED_OUT, "timed_out", "maximum execution time"),
        (behaviours.RUNNER_LOST, "failure", "lost communication"),
    ],
)
async def test_a_bad_end_is_annotated(scene: Scene, mood: CiBehaviour, conclusion: str, says: str) -> None:
    sha = await pushed(scene, mood)
    ((found, run),) = (await runs(scene, sha)).values()
    assert (found, (await scene.get(f"actions/runs/{run}"))["conclusion"]) == (conclusion, conclusion)
    check = (await scene.get(f"commits/{sha}/check-runs"))["check_runs"][0]
    (remark,) = await scene.get(f"check-runs/{check['id']}/annotations")
    assert (remark["path"], remark["annotation_level"]) == (".github", "failure")
    assert says in remark["message"]


@pytest.mark.fault(42)
async def test_a_workflow_that_does_not_start_shows_in_its_run_alone(scene: Scene) -> None:
    sha = await pushed(scene, behaviours.STARTUP_FAILURE)
    assert await runs(scene, sha) == {}
    (run,) = (await scene.get(f"actions/runs?head_sha={sha}"))["workflow_runs"]
    assert (run["status"], run["conclusion"]) == ("completed", "startup_failure")
    assert (await scene.ask("POST", f"actions/runs/{run['id']}/rerun-failed-jobs")).status == 403


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("mood", "status"), [(behaviours.LOG_GONE, 410), (behaviours.RUNNER_LOST, 404), (behaviours.RED, 302)]
)
async def test_logs_are_there_never_were_or_are_gone(scene: Scene, mood: CiBehaviour, status: int) -> None:
    sha = await pushed(scene, mood)
    check = (await scene.get(f"commits/{sha}/check-runs"))["check_runs"][0]
    assert (await scene.ask("GET", f"actions/jobs/{check['id']}/logs")).status == status


@pytest.mark.fault(42)
async def test_a_huge_log_is_streamed_and_held_by_nobody(scene: Scene) -> None:
    size = 48 * 2**20
    sha = await pushed(scene, CiBehaviour((behaviours.FAILED,), log_bytes=size))
    check = (await scene.get(f"commits/{sha}/check-runs"))["check_runs"][0]
    where = (await scene.ask("GET", f"actions/jobs/{check['id']}/logs")).headers["Location"]
    received, tail = 0, b""
    tracemalloc.start()
    try:
        async with scene.http.get(where) as answer:
            async for block in answer.content.iter_chunked(2**16):
                received += len(block)
                tail = (tail + block)[-500:]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert received > size
    assert peak < 8 * 2**20
    assert re.search(rb"Z ##\[error\]Process completed with exit code 1\.\n", tail)


async def test_statuses_stand_beside_check_runs(scene: Scene) -> None:
    scene.lab.ci_jobs(NAME, {"test": "true"}, statuses={"ci/outside": "exit 1"})
    scene.lab.ci_mood(NAME, behaviours.late(60), job="ci/outside")
    sha = await scene.commit("work", {"new.txt": "new\n"})
    await scene.lab.idle()
    assert (await runs(scene, sha))["test"][0] == "success"
    states = [(await scene.get(f"commits/{sha}/status"))["state"]]
    scene.lab.clock.advance(60)
    await scene.lab.idle()
    combined = await scene.get(f"commits/{sha}/status")
    states.append(combined["state"])
    assert (states, combined["statuses"][0]["context"]) == (["pending", "failure"], "ci/outside")


async def test_a_run_names_its_commit_who_pushed_it_and_who_ran_it_again(scene: Scene) -> None:
    scene.lab.ci_jobs(NAME, {"test": "exit 1"})
    sha = await scene.commit("work", {"new.txt": "new\n"})
    await scene.lab.idle()
    (first,) = (await scene.get(f"actions/runs?head_sha={sha}"))["workflow_runs"]
    assert first["head_commit"]["id"] == sha
    assert first["head_commit"]["author"] == {"name": "Ada", "email": "ada@example.org"}
    assert {first["actor"]["login"], first["triggering_actor"]["login"]} == {"ada"}
    assert (first["run_started_at"], first["previous_attempt_url"]) == (first["created_at"], None)
    assert first["referenced_workflows"] == []
    scene.lab.clock.advance(60)
    assert (await scene.ask("POST", f"actions/runs/{first['id']}/rerun", by="octo")).status == 201
    await scene.lab.idle()
    again = await scene.get(f"actions/runs/{first['id']}")
    assert (again["actor"]["login"], again["triggering_actor"]["login"], again["run_attempt"]) == ("ada", "octo", 2)
    assert again["run_started_at"] > first["run_started_at"]
    assert again["previous_attempt_url"] == f"{again['url']}/attempts/1"
    assert again["head_commit"] == first["head_commit"]


async def test_the_base_itself_may_be_red(scene: Scene) -> None:
    scene.lab.ci_jobs(NAME, {"test": "true"})
    scene.lab.ci_mood(NAME, behaviours.RED, branch="main")
    base = await scene.lab.ci_run(NAME)
    head = await scene.commit("work", {"new.txt": "new\n"})
    await scene.lab.idle()
    assert [(await runs(scene, sha))["test"][0] for sha in (base, head)] == ["failure", "success"]


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("mood", "says"),
    [
        (behaviours.HONEST, None),
        (behaviours.NEVER, 'Required status check "e2e" is expected.'),
        (behaviours.RED, 'Required status check "e2e" is expected.'),
    ],
)
async def test_a_required_check_holds_the_merge_until_it_is_green(
    scene: Scene, mood: CiBehaviour, says: str | None
) -> None:
    scene.lab.configure(NAME, protections={"main": Protection(checks=("e2e",))})
    scene.lab.ci_jobs(NAME, {"test": "true", "e2e": "true"})
    scene.lab.ci_mood(NAME, mood, job="e2e")
    number = (await scene.pull())["number"]
    await scene.lab.idle()
    answer = await scene.ask("PUT", f"pulls/{number}/merge")
    assert (answer.status, answer.body["message"]) == ((405, says) if says else (200, answer.body["message"]))


@pytest.mark.fault(42)
async def test_a_required_check_that_no_job_reports_never_comes(scene: Scene) -> None:
    scene.lab.configure(NAME, protections={"main": Protection(checks=("missing",))})
    number = (await scene.pull())["number"]
    answer = await scene.ask("PUT", f"pulls/{number}/merge")
    assert (answer.status, answer.body["message"]) == (405, 'Required status check "missing" is expected.')


async def test_moods_and_time_are_set_over_http_by_the_labs_own_token(scene: Scene) -> None:
    async def lab(path: str, body: Any, token: str = scene.lab.admin_token) -> int:
        sent = {"Authorization": f"Bearer {token}"}
        async with scene.http.post(f"{scene.lab.url}/_lab/{path}", json=body, headers=sent) as answer:
            return answer.status

    scene.lab.ci_jobs(NAME, {"test": "true", "lint": "true"})
    mood = {"endings": [{"conclusion": "neutral"}], "delay_seconds": 30}
    refused = [
        await lab("ci", {"repository": NAME, "mood": "red"}, token="wrong"),
        await lab("ci", {"repository": NAME, "mood": "moody"}),
        await lab("ci", {"repository": "no/where", "mood": "red"}),
        await lab("ci", {"repository": NAME, "mood": "red", "jobs": "test"}),
        await lab("ci", {"repository": NAME, "mood": {"colour": "red"}}),
        await lab("clock", {"seconds": "long"}),
    ]
    await scene.get("issues")
    assert refused == [401, 422, 422, 422, 422, 422]
    assert await lab("ci", {"repository": NAME, "mood": "red", "job": "test"}) == 204
    assert await lab("ci", {"repository": NAME, "mood": mood, "job": "lint", "branch": "work"}) == 204
    sha = await scene.commit("work", {"new.txt": "new\n"})
    await scene.lab.idle()
    assert {name: found[0] for name, found in (await runs(scene, sha)).items()} == {"lint": None, "test": "failure"}
    assert await lab("clock", {"seconds": 30}) == 200
    await scene.lab.idle()
    assert (await runs(scene, sha))["lint"][0] == "neutral"
