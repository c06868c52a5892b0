"""Check runs, check suites, statuses and workflow runs of the embedded GitHub, over the API."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection
from urllib.parse import urlsplit

import pytest
from lab_scene import NAME, Scene

from lab.github.world.checks import RunRecord
from lab.github.world.repository import Protection

ANNOTATION = {"path": "a.py", "start_line": 1, "end_line": 2, "annotation_level": "warning", "message": "Hm"}


def reporter(scene: Scene, slug: str = "linter") -> None:
    """Make an App that may report checks, whose token is `slug`."""
    app = scene.lab.app(slug, owner="octo", public_key="", permissions={"checks": "write"})
    scene.lab.install(app, NAME)
    scene.tokens[slug] = scene.lab.token(app.bot, {"checks": "write"})


def finished_run(scene: Scene, sha: str, *jobs: tuple[str, str]) -> RunRecord:
    """Make a workflow run with finished jobs (name, conclusion); job `x` has the log `log of x`."""
    checks = scene.repository.checks
    for name, conclusion in jobs:
        checks.finish(checks.start(sha, name, "main"), conclusion, "over", f"log of {name}\n")
    return checks.workflow_runs()[0]


async def test_an_app_reports_a_check_run_step_by_step(scene: Scene) -> None:
    sha = await scene.repository.bare.sha("main")
    reporter(scene)
    begun = await scene.ask("POST", "check-runs", {"name": "lint", "head_sha": sha}, by="linter")
    assert (begun.status, begun.body["status"], begun.body["app"]["slug"]) == (201, "queued", "linter")
    path = f"check-runs/{begun.body['id']}"
    output = {"title": "Half", "summary": "One so far", "annotations": [ANNOTATION]}
    await scene.ask("PATCH", path, {"status": "in_progress", "output": output}, by="linter")
    ended = await scene.ask("PATCH", path, {"conclusion": "failure", "output": {**output, "title": "All"}}, by="linter")
    assert (ended.status, ended.body["status"], ended.body["conclusion"]) == (200, "completed", "failure")
    assert (ended.body["output"]["title"], ended.body["output"]["annotations_count"]) == ("All", 2)
    assert len(await scene.get(f"{path}/annotations")) == 2
    assert await scene.get(path) == ended.body


async def test_only_apps_report_checks_and_only_their_own(scene: Scene) -> None:
    sha = await scene.repository.bare.sha("main")
    reporter(scene, "linter")
    reporter(scene, "other")
    scene.tokens["person"] = scene.lab.token("ada", {"checks": "write"})
    refused = await scene.ask("POST", "check-runs", {"name": "lint", "head_sha": sha}, by="person")
    assert (refused.status, refused.body["message"]) == (403, "You must authenticate via a GitHub App.")
    made = await scene.ask("POST", "check-runs", {"name": "lint", "head_sha": sha}, by="linter")
    stolen = await scene.ask("PATCH", f"check-runs/{made.body['id']}", {"status": "queued"}, by="other")
    assert stolen.status == 403
    assert stolen.body["message"].endswith("can only be modified by the GitHub App that created it.")


async def test_suites_are_one_per_app_and_commit(scene: Scene) -> None:
    sha = await scene.repository.bare.sha("main")
    assert sha is not None
    reporter(scene)
    for name in ("lint", "types"):
        order = {"name": name, "head_sha": sha, "status": "completed", "conclusion": "success"}
        await scene.ask("POST", "check-runs", order, by="linter")
    finished_run(scene, sha, ("test", "failure"))
    found = await scene.get("commits/main/check-suites")
    shown = [(one["app"]["slug"], one["conclusion"], one["latest_check_runs_count"]) for one in found["check_suites"]]
    assert shown == [("linter", "success", 2), ("github-actions", "failure", 1)]
    assert found["check_suites"][0]["head_commit"]["id"] == sha
    assert (await scene.get("commits/main/check-suites?check_name=test"))["total_count"] == 1
    assert (await scene.get("commits/main/check-suites?app_id=15368"))["total_count"] == 1
    assert (await scene.get("commits/main/check-runs"))["total_count"] == 3
    assert (await scene.get("actions/runs"))["total_count"] == 1
    lint = found["check_suites"][0]["id"]
    assert (await scene.ask("GET", f"actions/runs/{lint}")).status == 404


async def test_every_status_is_listed_and_the_newest_of_each_context_counts(scene: Scene) -> None:
    sha = await scene.repository.bare.sha("main")
    for context, state in (("build", "pending"), ("build", "failure"), ("docs", "success"), ("build", "success")):
        said = await scene.ask("POST", f"statuses/{sha}", {"state": state, "context": context})
        assert (said.status, said.headers["Location"]) == (201, said.body["url"])
    listed = await scene.get("commits/main/statuses")
    assert [(one["context"], one["state"]) for one in listed] == [
        ("build", "success"),
        ("docs", "success"),
        ("build", "failure"),
        ("build", "pending"),
    ]
    combined = await scene.get("commits/main/status")
    assert (combined["state"], combined["total_count"], len(combined["statuses"])) == ("success", 2, 2)
    assert len((await scene.get("commits/main/status?per_page=1"))["statuses"]) == 1


@pytest.mark.parametrize(("kind", "again"), [("rerun", {"a", "b"}), ("rerun-failed-jobs", {"b"})])
async def test_a_finished_run_runs_again(scene: Scene, kind: str, again: set[str]) -> None:
    sha = await scene.repository.bare.sha("main")
    assert sha is not None
    run, asked = finished_run(scene, sha, ("a", "success"), ("b", "failure")), list[tuple[str, Collection[str]]]()
    scene.repository.rerun = lambda commit, names: asked.append((commit, names))
    refused = await scene.ask("POST", f"actions/runs/{run.id}/{kind}", by="bob")
    assert (refused.status, refused.body["message"]) == (403, "Must have admin rights to Repository.")
    assert asked == []
    answer = await scene.ask("POST", f"actions/runs/{run.id}/{kind}")
    assert (answer.status, answer.body) == (201, {})
    assert [(commit, set(names)) for commit, names in asked] == [(sha, again)]
    assert (await scene.get(f"actions/runs/{run.id}"))["run_attempt"] == 2


async def test_what_still_runs_or_has_passed_is_not_run_again(scene: Scene) -> None:
    sha = await scene.repository.bare.sha("main")
    assert sha is not None
    run, asked = finished_run(scene, sha, ("a", "success")), list[str]()
    scene.repository.rerun = lambda commit, names: asked.append(commit)
    assert (await scene.ask("POST", f"actions/runs/{run.id}/rerun-failed-jobs")).status == 403
    scene.repository.checks.start(sha, "slow", "main")
    assert (await scene.ask("POST", f"actions/runs/{run.id}/rerun")).status == 403
    assert asked == []


async def test_logs_are_on_another_host_which_takes_no_token(scene: Scene) -> None:
    sha = await scene.repository.bare.sha("main")
    assert sha is not None
    run = finished_run(scene, sha, ("a", "success"), ("b", "failure"))
    job = (await scene.get(f"actions/runs/{run.id}/jobs"))["jobs"][0]["id"]
    for path in (f"actions/jobs/{job}/logs", f"actions/runs/{run.id}/logs"):
        sent = await scene.ask("GET", path)
        assert (sent.status, sent.headers["Content-Type"]) == (302, "text/html;charset=utf-8")
        there = sent.headers["Location"]
        assert urlsplit(there).hostname != urlsplit(scene.lab.url).hostname
        assert (await scene.ask("GET", there)).status == 400
        async with scene.http.get(there) as download:
            data = await download.read()
        if path.startswith("actions/jobs"):
            assert data == b"log of a\n"
        else:
            archive = zipfile.ZipFile(io.BytesIO(data))
            assert {name: archive.read(name) for name in archive.namelist()} == {
                "0_a.txt": b"log of a\n",
                "a/1_Run.txt": b"log of a\n",
                "1_b.txt": b"log of b\n",
                "b/1_Run.txt": b"log of b\n",
            }
    scene.lab.clock.advance(61)
    for stale in (there, there.replace("sig=", "sig=0"), f"{there.partition('?')[0]}?se=x"):
        async with scene.http.get(stale) as late:
            assert late.status == 403


async def test_the_required_checks_of_a_branch(scene: Scene) -> None:
    path = "branches/main/protection/required_status_checks"
    assert (await scene.ask("GET", path, by="octo")).body["message"] == "Branch not protected"
    scene.lab.configure(NAME, protections={"main": Protection((), 1)})
    assert (await scene.ask("GET", path, by="octo")).body["message"] == "Required status checks not enabled"
    scene.lab.configure(NAME, protections={"main": Protection(("test", "lint"))})
    assert (await scene.get(path, by="octo"))["contexts"] == ["test", "lint"]
    assert (await scene.ask("GET", path)).status == 403
    assert [branch["name"] for branch in await scene.get("branches?protected=true")] == ["main"]
    assert await scene.get("branches?protected=false") == []
