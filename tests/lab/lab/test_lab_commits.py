"""Git's half of the embedded GitHub seen over REST: refs, branches, commits, contents, checks, jobs."""

from __future__ import annotations

import base64

import pytest
from lab_scene import LETTERS, NAME, Scene

from lab.github.world.checks import AnnotationRecord
from lab.github.world.repository import Protection


async def test_refs_are_created_once_moved_forward_and_deleted(scene: Scene) -> None:
    first = (await scene.get("git/ref/heads/main"))["object"]["sha"]
    second = await scene.commit("main", {"x.txt": "x\n"})
    fence = {"ref": "refs/ack/worker/1", "sha": first}
    assert (await scene.ask("POST", "git/refs", fence)).status == 201
    taken = await scene.ask("POST", "git/refs", fence)
    assert (taken.status, taken.body["message"]) == (422, "Reference already exists")
    moved = await scene.ask("PATCH", "git/refs/ack/worker/1", {"sha": second})
    assert moved.body["object"]["sha"] == second
    back = await scene.ask("PATCH", "git/refs/ack/worker/1", {"sha": first})
    assert (back.status, back.body["message"]) == (422, "Update is not a fast forward")
    assert (await scene.ask("PATCH", "git/refs/ack/worker/1", {"sha": first, "force": True})).status == 200
    assert [ref["ref"] for ref in await scene.get("git/matching-refs/ack/")] == ["refs/ack/worker/1"]
    assert (await scene.ask("DELETE", "git/refs/ack/worker/1")).status == 204
    assert (await scene.ask("DELETE", "git/refs/ack/worker/1")).status == 422
    assert (await scene.ask("GET", "git/ref/ack/worker/1")).status == 404
    assert await scene.get("git/matching-refs/ack/") == []


@pytest.mark.parametrize(
    ("ref", "sha", "message"),
    [("main", None, "Validation Failed"), ("refs/heads/new", "0" * 40, "Object does not exist")],
)
async def test_bad_refs_are_refused(scene: Scene, ref: str, sha: str | None, message: str) -> None:
    tip = (await scene.get("git/ref/heads/main"))["object"]["sha"]
    refused = await scene.ask("POST", "git/refs", {"ref": ref, "sha": sha or tip})
    assert (refused.status, refused.body["message"]) == (422, message)


async def test_a_commit_is_linked_to_the_account_whose_address_it_bears(scene: Scene) -> None:
    await scene.commit("work", {"x.txt": "x\n"})
    unknown = await scene.get("commits/work")
    scene.lab.account("ada", email="Ada@Example.org")
    known = await scene.get("commits/work")
    assert (unknown["author"], unknown["committer"]) == (None, None)
    assert (known["author"]["login"], known["committer"]["login"]) == ("ada", "ada")
    assert (await scene.get("commits/main"))["author"]["login"] == "web-flow", "GitHub's own"


async def test_the_repository_says_how_it_may_be_merged(scene: Scene) -> None:
    scene.lab.configure(NAME, merge_methods=("squash",))
    shown = await scene.get("")
    assert [shown[f"allow_{how}"] for how in ("squash_merge", "merge_commit", "rebase_merge")] == [True, False, False]
    assert (shown["squash_merge_commit_title"], shown["squash_merge_commit_message"]) == ("PR_TITLE", "BLANK")


async def test_branches_and_their_protection(scene: Scene) -> None:
    await scene.commit("auto/issue-1", {"x.txt": "x\n"})
    assert [branch["name"] for branch in await scene.get("branches")] == ["auto/issue-1", "main"]
    assert (await scene.get("branches/auto/issue-1"))["protected"] is False
    assert (await scene.get("branches/auto%2Fissue-1"))["name"] == "auto/issue-1"
    assert (await scene.ask("GET", "branches/nowhere")).body["message"] == "Branch not found"
    bare = await scene.ask("GET", "branches/main/protection", by="octo")
    assert (bare.status, bare.body["message"]) == (404, "Branch not protected")
    assert (await scene.ask("GET", "branches/main/protection")).status == 403
    assert await scene.get("rules/branches/main") == []
    scene.lab.configure(NAME, protections={"main": Protection(("test",), 2)})
    protected = await scene.get("branches/main/protection", by="octo")
    assert protected["required_pull_request_reviews"]["required_approving_review_count"] == 2
    off = {name for name, block in protected.items() if isinstance(block, dict) and block.get("enabled") is False}
    assert off > {"required_signatures", "allow_force_pushes", "allow_deletions", "lock_branch"}
    assert (await scene.get("branches/main"))["protection"]["required_status_checks"]["contexts"] == ["test"]
    assert [rule["type"] for rule in await scene.get("rules/branches/main")] == [
        "pull_request",
        "required_status_checks",
    ]


async def test_commits_and_comparisons(scene: Scene) -> None:
    first = (await scene.get("commits"))[0]["sha"]
    second = await scene.commit("work", {"src/letters.txt": LETTERS + "m\n"})
    third = await scene.commit("work", {"new.txt": "new\n"})
    assert [commit["sha"] for commit in await scene.get("commits?sha=work")] == [third, second, first]
    one = await scene.get(f"commits/{second}")
    assert (one["stats"]["total"], one["files"][0]["filename"]) == (1, "src/letters.txt")
    assert (await scene.ask("GET", "commits/work", headers={"Accept": "application/vnd.github.sha"})).text == third
    assert (await scene.ask("GET", "commits/nowhere")).status == 422
    ahead = await scene.get("compare/main...work")
    assert (ahead["status"], ahead["ahead_by"], ahead["behind_by"]) == ("ahead", 2, 0)
    assert [commit["sha"] for commit in ahead["commits"]] == [second, third]
    assert [changed["filename"] for changed in ahead["files"]] == ["new.txt", "src/letters.txt"]
    assert (await scene.get("compare/work...main"))["status"] == "behind"
    assert (await scene.get("compare/main...main"))["status"] == "identical"
    await scene.commit("main", {"y.txt": "y\n"})
    assert (await scene.get("compare/main...work"))["status"] == "diverged"


async def test_contents_of_files_and_directories(scene: Scene) -> None:
    file = await scene.get("contents/src/letters.txt")
    assert base64.b64decode(file["content"]).decode().startswith("a\nb\n")
    assert [(entry["type"], entry["path"]) for entry in await scene.get("contents/")] == [
        ("file", "README.md"),
        ("dir", "src"),
    ]
    assert [entry["path"] for entry in await scene.get("contents/src")] == ["src/letters.txt"]
    assert (await scene.ask("GET", "contents/nothing.txt")).status == 404
    raw = await scene.ask("GET", "contents/README.md", headers={"Accept": "application/vnd.github.raw"})
    assert raw.text.startswith("# Thing")


async def test_statuses_add_up_by_context(scene: Scene) -> None:
    assert (await scene.get("commits/main/status"))["state"] == "pending"
    sha = (await scene.get("commits/main"))["sha"]
    for context, state in (("lint", "success"), ("test", "pending"), ("test", "failure")):
        created = await scene.ask("POST", f"statuses/{sha}", {"state": state, "context": context})
        assert created.status == 201
    combined = await scene.get("commits/main/status")
    assert (combined["state"], combined["total_count"]) == ("failure", 2)


async def test_check_runs_have_annotations_and_logs_elsewhere(scene: Scene) -> None:
    sha, checks = (await scene.get("commits/main"))["sha"], scene.repository.checks
    checks.finish(checks.start(sha, "test"), "cancelled", "", "old log")
    check = checks.start(sha, "test")
    (running,) = (await scene.get(f"commits/{sha}/check-runs"))["check_runs"]
    assert (running["id"], running["status"], running["conclusion"]) == (check.id, "in_progress", None)
    assert (await scene.ask("GET", f"actions/jobs/{check.id}/logs")).status == 404
    note = AnnotationRecord("src/letters.txt", 2, 2, "failure", "", "Too quiet")
    checks.finish(check, "failure", "1 failed", "the whole log", [note])
    (annotation,) = await scene.get(f"check-runs/{check.id}/annotations")
    assert (annotation["path"], annotation["message"]) == ("src/letters.txt", "Too quiet")
    assert (await scene.get(f"commits/{sha}/check-runs?filter=all"))["total_count"] == 2
    assert (await scene.get(f"actions/jobs/{check.id}"))["conclusion"] == "failure"
    redirect = await scene.ask("GET", f"actions/jobs/{check.id}/logs")
    assert redirect.status == 302
    async with scene.http.get(redirect.headers["Location"]) as log:
        assert await log.text() == "the whole log"
    scene.lab.clock.advance(61)
    async with scene.http.get(redirect.headers["Location"]) as expired:
        assert expired.status == 403


async def test_ci_runs_on_push_and_again_on_request(scene: Scene) -> None:
    repository = await scene.lab.repository(
        "octo/checked", {"ok.txt": "no\n"}, collaborators={"ada": "write"}, check_command="grep -q yes ok.txt"
    )
    start = await repository.bare.sha("main")
    await repository.bare.update_ref("refs/heads/work", start)
    await scene.lab.idle()
    home = "/repos/octo/checked"
    (run,) = (await scene.get(f"{home}/actions/runs?branch=work"))["workflow_runs"]
    assert (run["head_sha"], run["status"], run["conclusion"]) == (start, "completed", "failure")
    assert (await scene.ask("POST", f"{home}/actions/runs/{run['id']}/rerun-failed-jobs", by="bob")).status == 403
    again = await scene.ask("POST", f"{home}/actions/runs/{run['id']}/rerun-failed-jobs")
    assert (again.status, again.body) == (201, {})
    await scene.lab.idle()
    jobs = (await scene.get(f"{home}/actions/runs/{run['id']}/jobs?filter=all"))["jobs"]
    assert [(job["run_attempt"], job["conclusion"]) for job in jobs] == [(1, "failure"), (2, "failure")]
    assert (await scene.get(f"{home}/actions/runs/{run['id']}"))["run_attempt"] == 2
