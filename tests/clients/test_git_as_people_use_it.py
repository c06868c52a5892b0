"""git's everyday commands, typed by two people with credentials of their own, against a repository of the lab."""

from __future__ import annotations

from pathlib import Path

import pytest
from desk import Desk, clone, desk
from lab_scene import LETTERS, NAME, Scene


@pytest.fixture
def ada(scene: Scene, tmp_path: Path) -> Desk:
    return desk(scene, "ada", tmp_path / "ada")


@pytest.fixture
def octo(scene: Scene, tmp_path: Path) -> Desk:
    return desk(scene, "octo", tmp_path / "octo")


async def test_two_people_share_a_branch(scene: Scene, ada: Desk, octo: Desk) -> None:
    mine, theirs = await clone(ada, scene), await clone(octo, scene)
    await ada.ok("git", "switch", "--quiet", "--create", "loud", cwd=mine)
    await change(ada, mine, "src/letters.txt", LETTERS.replace("d\n", "D\n"))
    pushed = await ada.run("git", "push", "--set-upstream", "origin", "loud", cwd=mine)
    assert b"[new branch]      loud -> loud" in pushed.stderr
    await octo.ok("git", "fetch", "--quiet", cwd=theirs)
    await octo.ok("git", "switch", "--quiet", "loud", cwd=theirs)
    assert (theirs / "src/letters.txt").read_text() == LETTERS.replace("d\n", "D\n")
    await change(octo, theirs, "README.md", "# Things\n")
    await octo.ok("git", "push", "--quiet", cwd=theirs)
    await ada.ok("git", "pull", "--quiet", cwd=mine)
    assert (mine / "README.md").read_text() == "# Things\n"
    assert await ada.ok("git", "log", "--format=%an %s", "main..", cwd=mine) == (
        "Octo Change README.md\nAda Change src/letters.txt"
    )
    branch = await scene.get("branches/loud")
    assert branch["commit"]["commit"]["author"]["name"] == "Octo"


async def test_who_comes_second_pulls_and_pushes_again(scene: Scene, ada: Desk, octo: Desk) -> None:
    mine, theirs = await clone(ada, scene), await clone(octo, scene)
    await change(octo, theirs, "theirs.txt", "theirs\n")
    await octo.ok("git", "push", "--quiet", cwd=theirs)
    await change(ada, mine, "mine.txt", "mine\n")
    refused = await ada.run("git", "push", cwd=mine)
    assert refused.code == 1
    assert b"[rejected]" in refused.stderr
    await ada.ok("git", "pull", "--quiet", cwd=mine)
    await ada.ok("git", "push", "--quiet", cwd=mine)
    commits = await scene.get("commits")
    assert [commit["commit"]["message"] for commit in commits[:2]] == ["Change mine.txt", "Change theirs.txt"]


async def test_a_rewritten_branch_goes_up_only_over_what_was_seen(scene: Scene, ada: Desk, octo: Desk) -> None:
    mine, theirs = await clone(ada, scene), await clone(octo, scene)
    await ada.ok("git", "switch", "--quiet", "--create", "work", cwd=mine)
    await change(ada, mine, "a.txt", "a\n")
    await ada.ok("git", "push", "--quiet", "origin", "work", cwd=mine)
    await ada.ok("git", "commit", "--quiet", "--amend", "-m", "Add a", cwd=mine)
    assert (await ada.run("git", "push", "--quiet", "origin", "work", cwd=mine)).code == 1
    await octo.ok("git", "fetch", "--quiet", cwd=theirs)
    await octo.ok("git", "switch", "--quiet", "work", cwd=theirs)
    await change(octo, theirs, "b.txt", "b\n")
    await octo.ok("git", "push", "--quiet", cwd=theirs)
    stale = await ada.run("git", "push", "--force-with-lease", "origin", "work", cwd=mine)
    assert b"(stale info)" in stale.stderr
    await ada.ok("git", "fetch", "--quiet", cwd=mine)
    await ada.ok("git", "push", "--quiet", "--force-with-lease", "origin", "work", cwd=mine)
    (newest, *_) = await scene.get("commits?sha=work")
    assert newest["commit"]["message"] == "Add a"


async def test_a_shallow_clone_is_deepened_to_a_whole_one(scene: Scene, ada: Desk) -> None:
    for number in range(4):
        await scene.commit("main", {"count.txt": f"{number}\n"})
    tree = await clone(ada, scene, "--depth", "1")
    assert await ada.ok("git", "rev-list", "--count", "HEAD", cwd=tree) == "1"
    await ada.ok("git", "fetch", "--quiet", "--deepen", "2", cwd=tree)
    assert await ada.ok("git", "rev-list", "--count", "HEAD", cwd=tree) == "3"
    await ada.ok("git", "fetch", "--quiet", "--unshallow", cwd=tree)
    assert await ada.ok("git", "rev-list", "--count", "HEAD", cwd=tree) == "5"
    assert await ada.ok("git", "rev-parse", "--is-shallow-repository", cwd=tree) == "false"
    assert len(await scene.get("commits")) == 5


async def test_a_shallow_clone_can_push(scene: Scene, ada: Desk) -> None:
    await scene.commit("main", {"count.txt": "1\n"})
    tree = await clone(ada, scene, "--depth", "1")
    await change(ada, tree, "a.txt", "a\n")
    await ada.ok("git", "push", "--quiet", "origin", "HEAD:topic", cwd=tree)
    assert len(await scene.get("commits?sha=topic")) == 3


async def test_a_blobless_clone_fetches_files_when_they_are_read(scene: Scene, ada: Desk) -> None:
    old = (await scene.get("commits/main"))["sha"]
    await scene.commit("main", {"src/letters.txt": "new\n"})
    tree = await clone(ada, scene, "--filter=blob:none")
    absent = await ada.ok("git", "rev-list", "--objects", "--missing=print", "HEAD", cwd=tree)
    assert sum(line.startswith("?") for line in absent.splitlines()) == 1
    assert await ada.ok("git", "show", f"{old}:src/letters.txt", cwd=tree) == LETTERS.rstrip("\n")
    absent = await ada.ok("git", "rev-list", "--objects", "--missing=print", "HEAD", cwd=tree)
    assert not any(line.startswith("?") for line in absent.splitlines())


async def test_tags_travel_with_what_they_name(scene: Scene, ada: Desk, octo: Desk) -> None:
    mine = await clone(ada, scene)
    await change(ada, mine, "a.txt", "a\n")
    await ada.ok("git", "tag", "--annotate", "v1.0", "-m", "First release", cwd=mine)
    await ada.ok("git", "push", "--quiet", "--follow-tags", cwd=mine)
    theirs = await clone(octo, scene)
    assert await octo.ok("git", "describe", cwd=theirs) == "v1.0"
    assert await octo.ok("git", "tag", "--list", "--format=%(contents:subject)", cwd=theirs) == "First release"
    assert (await scene.get("commits/v1.0"))["commit"]["message"] == "Change a.txt"
    await ada.ok("git", "push", "--quiet", "--delete", "origin", "v1.0", cwd=mine)
    assert await octo.ok("git", "ls-remote", "--tags", "origin", cwd=theirs) == ""


async def test_a_pull_request_is_fetched_by_its_number_and_its_branch_pruned(
    scene: Scene, ada: Desk, octo: Desk
) -> None:
    mine, theirs = await clone(ada, scene), await clone(octo, scene)
    pull = await scene.pull("work")
    await octo.ok("git", "fetch", "--quiet", "origin", f"pull/{pull['number']}/head:reviewed", cwd=theirs)
    assert await octo.ok("git", "rev-parse", "reviewed", cwd=theirs) == pull["head"]["sha"]
    await ada.ok("git", "fetch", "--quiet", cwd=mine)
    await ada.ok("git", "push", "--quiet", "origin", "--delete", "work", cwd=mine)
    assert (await scene.ask("GET", "branches/work")).status == 404
    pruned = await octo.run("git", "fetch", "--prune", cwd=theirs)
    assert pruned.code == 0
    assert await octo.ok("git", "branch", "--remotes", cwd=theirs) == "  origin/HEAD -> origin/main\n  origin/main"


async def test_a_mirror_has_every_ref_and_pushes_them_all(scene: Scene, octo: Desk) -> None:
    await scene.commit("work", {"a.txt": "a\n"})
    tip = (await scene.get("commits/work"))["sha"]
    await scene.repository.bare.update_ref("refs/ack/worker/1", tip)
    mirror = await clone(octo, scene, "--mirror", name="mirror.git")
    refs = "refs/ack/worker/1\nrefs/heads/main\nrefs/heads/work"
    assert await octo.ok("git", "for-each-ref", "--format=%(refname)", cwd=mirror) == refs
    await octo.ok("git", "update-ref", "refs/notes/review", tip, cwd=mirror)
    await octo.ok("git", "update-ref", "-d", "refs/heads/work", cwd=mirror)
    await octo.ok("git", "push", "--quiet", "--mirror", cwd=mirror)
    assert list(await scene.repository.bare.refs("refs/")) == [
        "refs/ack/worker/1",
        "refs/heads/main",
        "refs/notes/review",
    ]


async def test_a_wrong_password_is_a_clear_refusal(scene: Scene, octo: Desk) -> None:
    (octo.home / ".git-credentials").write_text(f"{scene.lab.url.replace('://', '://octo:wrong@')}\n")
    refused = await octo.run("git", "clone", scene.lab.git_url(NAME), "thing")
    assert refused.code == 128
    assert b"fatal: Authentication failed" in refused.stderr
    assert not (octo.home / "thing").exists()
    assert (await scene.ask("GET", "", headers={"Authorization": "Bearer wrong"})).status == 401


async def change(person: Desk, tree: Path, path: str, text: str) -> None:
    """Commit a change of one file."""
    (tree / path).write_text(text)
    await person.ok("git", "add", path, cwd=tree)
    await person.ok("git", "commit", "--quiet", "-m", f"Change {path}", cwd=tree)
