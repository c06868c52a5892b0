"""Git objects made and read through the embedded GitHub's API."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from lab_scene import FILES, Scene


async def tree_of(scene: Scene, name: str) -> dict[str, Any]:
    """Return the entry of each path below a tree."""
    found = await scene.get(f"git/trees/{name}?recursive=1")
    return {entry["path"]: entry for entry in found["tree"]}


async def test_a_branch_can_be_made_of_blobs_trees_and_a_commit(scene: Scene) -> None:
    main = await scene.repository.bare.sha("main")
    data = base64.b64encode(b"\x00\xff").decode()
    blob = await scene.ask("POST", "git/blobs", {"content": data, "encoding": "base64"})
    assert (blob.status, blob.headers["Location"]) == (201, blob.body["url"])
    base = (await scene.get(f"git/commits/{main}"))["tree"]["sha"]
    entries = [
        {"path": "new/data.bin", "mode": "100644", "type": "blob", "sha": blob.body["sha"]},
        {"path": "run.sh", "mode": "100755", "type": "blob", "content": "#!/bin/sh\n"},
        {"path": "README.md", "mode": "100644", "type": "blob", "sha": None},
    ]
    tree = await scene.ask("POST", "git/trees", {"base_tree": base, "tree": entries})
    assert (tree.status, {entry["path"] for entry in tree.body["tree"]}) == (201, {"new", "run.sh", "src"})
    author = {"name": "Eve", "email": "eve@example.org", "date": "2020-02-03T04:05:06Z"}
    order = {"message": "Do it by hand", "tree": tree.body["sha"], "parents": [main], "author": author}
    commit = await scene.ask("POST", "git/commits", order)
    assert (commit.status, commit.body["author"], commit.body["message"]) == (201, author, "Do it by hand")
    await scene.ask("POST", "git/refs", {"ref": "refs/heads/hand", "sha": commit.body["sha"]})
    assert (await scene.get("branches/hand"))["commit"]["parents"][0]["sha"] == main
    assert await scene.repository.bare.read("hand", "new/data.bin") == b"\x00\xff"
    assert (await tree_of(scene, "hand"))["run.sh"]["mode"] == "100755"


async def test_a_commit_without_an_author_is_the_callers(scene: Scene) -> None:
    tree = (await scene.get("commits/main"))["commit"]["tree"]["sha"]
    commit = await scene.ask("POST", "git/commits", {"message": "Start anew", "tree": tree})
    assert commit.body["author"]["email"].endswith("+ada@users.noreply.github.com")
    assert (commit.body["parents"], await scene.get(f"git/commits/{commit.body['sha']}")) == ([], commit.body)


async def test_a_tree_is_found_by_its_own_name_or_by_what_names_it(scene: Scene) -> None:
    top = await scene.get("git/trees/main")
    assert {entry["path"]: entry["type"] for entry in top["tree"]} == {"README.md": "blob", "src": "tree"}
    assert await scene.get(f"git/trees/{top['sha']}") == top
    below = await tree_of(scene, "main")
    assert (set(below), below["README.md"]["size"]) == ({*FILES, "src"}, len(FILES["README.md"]))
    assert (await scene.ask("GET", "git/trees/nowhere")).status == 404


async def test_a_whole_tree_replaces_a_path(scene: Scene) -> None:
    main = (await scene.get("git/trees/main"))["sha"]
    other = await scene.ask("POST", "git/trees", {"tree": [{"path": "only.txt", "content": "x"}]})
    graft = {"path": "src", "mode": "040000", "type": "tree", "sha": other.body["sha"]}
    made = await scene.ask("POST", "git/trees", {"base_tree": main, "tree": [graft]})
    assert set(await tree_of(scene, made.body["sha"])) == {"README.md", "src", "src/only.txt"}


NO_OBJECT = "1" * 40


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("git/blobs", {"content": "not base64!", "encoding": "base64"}, "Validation Failed"),
        ("git/blobs", {"content": "x", "encoding": "utf-16"}, "Validation Failed"),
        ("git/trees", {"tree": []}, "Invalid tree info"),
        ("git/trees", {"base_tree": NO_OBJECT, "tree": [{"path": "a", "content": ""}]}, "base_tree is not a valid"),
        ("git/trees", {"tree": [{"path": "a", "mode": "100644", "sha": NO_OBJECT}]}, f"tree.sha {NO_OBJECT} is not a"),
        ("git/trees", {"tree": [{"path": "a", "mode": "100644"}]}, "Must supply either tree.sha or tree.content"),
        ("git/trees", {"tree": [{"path": "../a", "content": "x"}]}, "tree.path contains a malformed path component"),
        ("git/trees", {"tree": [{"path": ".git/config", "content": "x"}]}, "tree.path contains a malformed"),
        ("git/commits", {"message": "x", "tree": NO_OBJECT}, "Tree SHA does not exist"),
        ("git/refs", {"ref": "refs/heads/x", "sha": NO_OBJECT}, "Object does not exist"),
    ],
)
async def test_what_git_cannot_make_is_refused(scene: Scene, path: str, body: Any, sentence: str) -> None:
    refused = await scene.ask("POST", path, body)
    assert refused.status == 422
    assert refused.body["message"].startswith(sentence)


@pytest.mark.parametrize(
    "author", [{"name": "<>", "email": "a@b"}, {"name": "a", "email": "a@b", "date": "1969-01-01T00:00:00Z"}]
)
async def test_a_signature_that_git_would_empty_is_refused(scene: Scene, author: dict[str, str]) -> None:
    tree = (await scene.get("git/trees/main"))["sha"]
    refused = await scene.ask("POST", "git/commits", {"message": "x", "tree": tree, "author": author})
    assert (refused.status, refused.body["message"]) == (422, "Validation Failed")


async def test_history_is_filtered_by_path_people_and_time(scene: Scene) -> None:
    tip = await scene.commit("main", {"notes/one.txt": "1\n"})
    found = [commit["sha"] for commit in await scene.get("commits?path=notes")]
    assert found == [tip]
    assert len(await scene.get("commits")) == 2
    assert [commit["sha"] for commit in await scene.get("commits?author=ada@example.org")] == [tip]
    assert await scene.get("commits?since=2100-01-01T00:00:00Z") == []
    assert await scene.get("commits?until=2000-01-01T00:00:00Z") == []
