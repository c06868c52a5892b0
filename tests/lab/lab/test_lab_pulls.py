"""Pull requests of the embedded GitHub, from real branches to real merges."""

from __future__ import annotations

import asyncio

import pytest
from lab_scene import LETTERS, NAME, Scene

from lab.github.world.repository import Protection

OTHER_LETTER = LETTERS.replace("d\n", "Delta\n")


async def test_a_pull_request_shows_what_git_knows(scene: Scene) -> None:
    pull = await scene.pull()
    assert (pull["head"]["label"], pull["base"]["ref"], pull["changed_files"]) == ("octo:work", "main", 1)
    assert (pull["commits"], pull["additions"], pull["deletions"]) == (1, 1, 1)
    (changed,) = await scene.get("pulls/1/files")
    assert (changed["filename"], changed["status"]) == ("src/letters.txt", "modified")
    assert "+D" in changed["patch"]
    (commit,) = await scene.get("pulls/1/commits")
    assert commit["sha"] == pull["head"]["sha"]
    diff = await scene.ask("GET", "pulls/1", headers={"Accept": "application/vnd.github.diff"})
    assert diff.headers["Content-Type"] == "application/vnd.github.diff; charset=utf-8"
    assert diff.text.startswith("diff --git a/src/letters.txt")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({}, {"code": "custom", "message": "A pull request already exists for octo:work."}),
        ({"head": "octo:work"}, {"code": "custom", "message": "A pull request already exists for octo:work."}),
        ({"head": "idle"}, {"code": "custom", "message": "No commits between main and idle"}),
        ({"head": "nowhere"}, {"code": "invalid", "field": "head"}),
        ({"base": "nowhere"}, {"code": "invalid", "field": "base"}),
    ],
)
async def test_refusals_carry_githubs_words(scene: Scene, changes: dict[str, str], error: dict[str, str]) -> None:
    await scene.pull()
    main = await scene.repository.bare.sha("main")
    await scene.repository.bare.update_ref("refs/heads/idle", main)
    refused = await scene.ask("POST", "pulls", {"title": "Again", "head": "work", "base": "main", **changes})
    assert (refused.status, refused.body["message"]) == (422, "Validation Failed")
    assert refused.body["errors"] == [{"resource": "PullRequest", **error}]
    assert len(await scene.get("pulls?state=all")) == 1


async def test_of_two_at_once_one_is_opened(scene: Scene) -> None:
    await scene.commit("work", {"new.txt": "new\n"})
    wanted = {"title": "Mine", "head": "work", "base": "main"}
    answers = await asyncio.gather(*(scene.ask("POST", "pulls", wanted) for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [201, 422, 422, 422]
    assert len(await scene.get("pulls")) == 1


async def test_the_list_is_filtered_by_state_head_and_base(scene: Scene) -> None:
    await scene.pull("one")
    await scene.pull("two", text=OTHER_LETTER)
    scene.lab.close(NAME, 1, actor="ada")
    expected = {
        "": [2],
        "?state=all": [2, 1],
        "?state=all&direction=asc": [1, 2],
        "?state=closed": [1],
        "?head=octo:two": [2],
        "?head=octo:one": [],
        "?state=all&head=eve:one": [],
        "?state=all&base=other": [],
    }
    for query, numbers in expected.items():
        assert [pull["number"] for pull in await scene.get(f"pulls{query}")] == numbers, query


async def test_mergeability_is_unknown_at_first_and_after_each_push(scene: Scene) -> None:
    await scene.pull()
    assert [(await scene.get("pulls/1"))["mergeable"] for _ in range(2)] == [None, True]
    tip = await scene.commit("work", {"new.txt": "new\n"})
    first = await scene.get("pulls/1")
    assert (first["head"]["sha"], first["mergeable"], first["mergeable_state"]) == (tip, None, "unknown")
    assert (await scene.get("pulls/1"))["mergeable_state"] == "clean"
    await scene.commit("main", {"src/letters.txt": OTHER_LETTER})
    assert [(await scene.get("pulls/1"))["mergeable"] for _ in range(2)] == [None, False]
    refused = await scene.ask("PUT", "pulls/1/merge", {})
    assert (refused.status, refused.body["message"]) == (405, "Pull Request is not mergeable")


async def test_the_merge_that_it_would_be_is_a_commit_that_anybody_can_fetch(scene: Scene) -> None:
    """Git makes it when GitHub has looked; it moves with head and base, and exists only while they can be merged."""
    bare, ref = scene.repository.bare, "refs/pull/1/merge"
    assert (await scene.pull())["merge_commit_sha"] is None
    assert await bare.sha(ref) is None
    seen = set()
    for branch in ("work", "main"):
        base, head = await bare.sha("main"), await bare.sha("work")
        assert await looked(scene) == (True, await bare.sha(ref))
        commit = await scene.get(f"commits/{await bare.sha(ref)}")
        assert [parent["sha"] for parent in commit["parents"]] == [base, head]
        assert commit["commit"]["message"] == f"Merge {head} into {base}"
        assert (commit["author"]["login"], commit["committer"]["login"]) == ("ada", "web-flow")
        assert (await scene.get("git/ref/pull/1/merge"))["object"]["sha"] == commit["sha"]
        seen.add(commit["sha"])
        await scene.commit(branch, {f"{branch}.txt": "new\n"})
    assert (await scene.get("pulls/1"))["mergeable"] is None
    assert await bare.sha(ref) in seen, "GitHub keeps the older one until it has looked again"
    await scene.commit("main", {"src/letters.txt": OTHER_LETTER})
    assert await looked(scene) == (False, None)
    assert await bare.sha(ref) is None
    assert len(seen) == 2


async def looked(scene: Scene) -> tuple[bool | None, str | None]:
    """Return the mergeability and merge commit of the pull request after the second read."""
    await scene.get("pulls/1")
    pull = await scene.get("pulls/1")
    return pull["mergeable"], pull["merge_commit_sha"]


async def test_nobody_writes_that_ref_and_it_ends_with_the_pull_request(scene: Scene) -> None:
    await scene.pull()
    bare, ref = scene.repository.bare, "refs/pull/1/merge"
    _, tried = await looked(scene)
    for method, path, body in (
        ("PATCH", f"git/{ref}", {"sha": await bare.sha("main")}),
        ("DELETE", f"git/{ref}", None),
    ):
        assert (await scene.ask(method, path, body)).status == 422
    assert await bare.sha(ref) == tried
    assert (await scene.ask("PATCH", "issues/1", {"state": "closed"})).status == 200
    assert await bare.sha(ref) is None
    assert await looked(scene) == (True, tried)
    assert await bare.sha(ref) is None, "closed, it is not tried again"
    await scene.ask("PATCH", "pulls/1", {"state": "open"})
    assert (await looked(scene))[0] is True
    assert await bare.sha(ref) is not None
    await scene.ask("PUT", "pulls/1/merge", {})
    assert await bare.sha(ref) is None
    assert (await scene.get("pulls/1"))["merge_commit_sha"] == await bare.sha("main")


@pytest.mark.parametrize(("method", "parents"), [("merge", 2), ("squash", 1), ("rebase", 1)])
async def test_merging_moves_the_base_and_closes_what_the_body_promises(
    scene: Scene, method: str, parents: int
) -> None:
    for title in ("First", "Second", "Third"):
        scene.lab.issue(NAME, title, author="bob")
    number = (await scene.pull(body="Closes #1, fixes octo/thing#2. See #3."))["number"]
    assert (await scene.ask("GET", f"pulls/{number}/merge")).status == 404
    head = (await scene.get(f"pulls/{number}"))["head"]["sha"]
    order = {"merge_method": method, "sha": head}
    merged = await scene.ask("PUT", f"pulls/{number}/merge", order, by="octo")
    assert (merged.status, merged.body["merged"]) == (200, True)
    commit = await scene.get("commits/main")
    assert (commit["sha"], len(commit["parents"])) == (merged.body["sha"], parents)
    assert (await scene.ask("GET", f"pulls/{number}/merge")).status == 204
    pull = await scene.get(f"pulls/{number}")
    assert (pull["state"], pull["merged_by"]["login"]) == ("closed", "octo")
    assert pull["merge_commit_sha"] == merged.body["sha"]
    assert [(await scene.get(f"issues/{n}"))["state"] for n in (1, 2, 3)] == ["closed", "closed", "open"]
    (closed,) = await scene.get("issues/1/events")
    assert (closed["event"], closed["actor"]["login"], closed["commit_id"]) == ("closed", "octo", merged.body["sha"])
    assert [e["event"] for e in await scene.get(f"issues/{number}/events")] == ["merged", "closed"]
    again = await scene.ask("PUT", f"pulls/{number}/merge", {})
    assert again.status == 405


async def test_a_squash_is_titled_by_the_pull_request(scene: Scene) -> None:
    await scene.pull()
    await scene.ask("PUT", "pulls/1/merge", {"merge_method": "squash", "commit_message": "Why."})
    commit = (await scene.get("commits/main"))["commit"]
    assert commit["message"] == "Make it loud (#1)\n\nWhy."
    assert commit["author"]["email"].endswith("+ada@users.noreply.github.com")
    assert (await scene.get("commits/main"))["author"]["login"] == "ada"


async def test_a_merge_is_bound_to_the_head_that_was_seen(scene: Scene) -> None:
    seen = (await scene.pull())["head"]["sha"]
    await scene.commit("work", {"late.txt": "late\n"})
    refused = await scene.ask("PUT", "pulls/1/merge", {"sha": seen})
    assert refused.status == 409
    assert refused.body["message"] == "Head branch was modified. Review and try the merge again."
    assert (await scene.get("pulls/1"))["merged"] is False


async def test_protection_wants_checks_and_approvals(scene: Scene) -> None:
    head = (await scene.pull())["head"]["sha"]
    scene.lab.configure(NAME, protections={"main": Protection(("test",), 1)})
    assert (await scene.ask("PUT", "pulls/1/merge", {})).body["message"] == 'Required status check "test" is expected.'
    await scene.ask("POST", f"statuses/{head}", {"state": "success", "context": "test"})
    refused = await scene.ask("PUT", "pulls/1/merge", {})
    assert refused.body["message"].startswith("At least 1 approving review is required")
    await scene.ask("POST", "pulls/1/reviews", {"event": "APPROVE"}, by="bob")
    assert (await scene.ask("PUT", "pulls/1/merge", {})).status == 405
    await scene.get("pulls/1")
    assert (await scene.get("pulls/1"))["mergeable_state"] == "blocked"
    await scene.ask("POST", "pulls/1/reviews", {"event": "APPROVE"}, by="octo")
    assert (await scene.ask("PUT", "pulls/1/merge", {})).status == 200


async def test_deleting_the_head_branch_closes_and_a_returning_branch_reopens(scene: Scene) -> None:
    tip = (await scene.pull())["head"]["sha"]
    assert (await scene.ask("DELETE", "git/refs/heads/work")).status == 204
    assert (await scene.get("pulls/1"))["state"] == "closed"
    assert [e["event"] for e in await scene.get("issues/1/events")] == ["head_ref_deleted", "closed"]
    assert (await scene.ask("PATCH", "pulls/1", {"state": "open"})).status == 422
    await scene.ask("POST", "git/refs", {"ref": "refs/heads/work", "sha": tip})
    assert (await scene.ask("PATCH", "pulls/1", {"state": "open"})).body["state"] == "open"


async def test_a_push_of_the_head_onto_the_base_counts_as_merged(scene: Scene) -> None:
    tip = (await scene.pull())["head"]["sha"]
    await scene.ask("PATCH", "git/refs/heads/main", {"sha": tip})
    assert (await scene.get("pulls/1"))["merged"] is True


async def test_title_body_and_state_can_be_changed_by_those_who_may(scene: Scene) -> None:
    await scene.pull()
    changed = (await scene.ask("PATCH", "pulls/1", {"title": "Louder", "body": "More"})).body
    assert (changed["title"], changed["body"]) == ("Louder", "More")
    assert (await scene.ask("PATCH", "pulls/1", {"title": "Mine"}, by="bob")).status == 403
    assert (await scene.ask("PATCH", "pulls/1", {"state": "closed"})).body["state"] == "closed"
    assert (await scene.get("issues/1"))["state"] == "closed"


async def test_a_branch_brought_up_to_date_is_a_merge_of_the_base(scene: Scene) -> None:
    await scene.pull()
    await scene.commit("main", {"new.txt": "new\n"})
    await scene.ask("PUT", "pulls/1/update-branch", {})
    pull = await scene.get("pulls/1")
    tip = await scene.get("commits/work")
    assert (pull["head"]["sha"], len(tip["parents"])) == (tip["sha"], 2)
    assert tip["commit"]["message"] == "Merge branch 'main' into work"
    assert tip["author"]["login"] == "ada"


async def test_a_head_branch_deleted_over_the_api_is_told_of_the_caller(scene: Scene) -> None:
    await scene.pull()
    await scene.ask("DELETE", "git/refs/heads/work")
    events = await scene.get("issues/1/events")
    assert [(e["event"], e["actor"]["login"]) for e in events] == [("head_ref_deleted", "ada"), ("closed", "ada")]
