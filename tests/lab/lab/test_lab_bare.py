"""The lab's bare repositories: refs, comparisons, merges, and what is told of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from served_git import ADA, NAME, Hub, served

from lab.github.repositories.bare import ABSENT, Bare
from lab.github.repositories.git_objects import read_tree
from shared.process import CommandFailed


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with served(tmp_path) as hub:
        yield hub


@pytest.mark.parametrize(("method", "parents", "commits"), [("merge", 2, 3), ("squash", 1, 1), ("rebase", 1, 2)])
async def test_a_clean_merge(hub: Hub, method: str, parents: int, commits: int) -> None:
    head = await hub.branch("topic", {"b.txt": b"b\n", "c.txt": b"c\n"})
    base = await hub.branch("main", {"a.txt": b"0\n1\n2\n3\n4\n5\n"})
    hub.told.clear()
    assert await hub.bare.mergeable("main", head)
    new = await hub.bare.merge("main", head, method=method, title="T (#1)", message="Why", author=("Bob", "b@x"))
    assert new is not None
    log = await hub.bare.log(base, "main", 10)
    assert (log[0].sha, len(log[0].parents), len(log)) == (new, parents, commits)
    assert (await hub.bare.read("main", "c.txt"), await hub.bare.read("main", "a.txt")) == (
        b"c\n",
        b"0\n1\n2\n3\n4\n5\n",
    )
    people = (log[0].author.name, log[0].committer.name)
    assert people == (("Ada", "Bob") if method == "rebase" else ("Bob", "GitHub"))
    assert log[0].message == ("Change c.txt" if method == "rebase" else "T (#1)\n\nWhy")
    assert hub.told == [("refs/heads/main", base, new, None)]


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
async def test_a_conflicting_merge_changes_nothing(hub: Hub, method: str) -> None:
    head = await hub.branch("topic", {"b.txt": b"b\n", "a.txt": b"theirs\n"})
    base = await hub.branch("main", {"a.txt": b"ours\n"})
    hub.told.clear()
    assert not await hub.bare.mergeable("main", head)
    assert await hub.bare.merge("main", head, method=method, title="T", message="", author=ADA) is None
    assert await hub.bare.sha("main") == base
    assert hub.told == []


async def test_a_comparison_shows_what_the_head_changed_since_it_left(hub: Hub) -> None:
    start = await hub.branch("main", {"old name.txt": b"one\ntwo\nthree\nfour\nfive\n", "gone.txt": b"x\n"})
    tree = hub.clients / "of-main"
    (tree / "old name.txt").rename(tree / "néw.txt")
    (tree / "gone.txt").unlink()
    await hub.branch("topic", {}, start)
    await hub.git(tree, "checkout", "--quiet", "-B", "topic")
    await hub.commit(tree, "data.bin", b"\0\1", "Rename, remove, add")
    head = await hub.commit(tree, "a.txt", b"1\n2\n3\n4\n", "Shorten")
    await hub.git(tree, "push", "--quiet", "--force", "origin", "topic")
    await hub.branch("main", {"later.txt": b"not in the comparison\n"})
    found = {file.path: file for file in await hub.bare.changed_files("main", head)}
    assert {path: (file.status, file.additions, file.deletions) for path, file in found.items()} == {
        "a.txt": ("modified", 0, 1),
        "data.bin": ("added", 0, 0),
        "gone.txt": ("removed", 0, 1),
        "néw.txt": ("renamed", 0, 0),
    }
    assert found["néw.txt"].previous_path == "old name.txt"
    assert found["a.txt"].patch == "@@ -2,4 +2,3 @@\n 2\n 3\n 4\n-5"
    assert found["data.bin"].patch is None
    diff = await hub.bare.diff("main", head)
    assert "later.txt" not in diff
    assert await hub.bare.merge_base("main", head) == start


async def test_a_ref_moves_only_from_its_expected_value(hub: Hub) -> None:
    main = await hub.bare.sha("main")
    assert main is not None
    new = await hub.branch("topic", {"b.txt": b"b\n"})
    hub.told.clear()
    ref = "refs/ack/worker/1"
    assert await hub.bare.update_ref(ref, main, expected=ABSENT)
    assert not await hub.bare.update_ref(ref, new, expected=ABSENT)
    assert not await hub.bare.update_ref(ref, new, expected=new)
    assert not await hub.bare.update_ref(ref, "1" * 40)
    assert await hub.bare.update_ref(ref, new, expected=main)
    assert not await hub.bare.update_ref(ref, None, expected=main)
    assert await hub.bare.update_ref(ref, None, expected=new)
    assert [(old, value) for _, old, value, _ in hub.told] == [(None, main), (main, new), (new, None)]


async def test_on_update_may_change_refs_itself(hub: Hub) -> None:
    async def follow(ref: str, old: str | None, new: str | None) -> None:
        await hub.note(ref, old, new)
        if ref == "refs/heads/topic":
            assert await hub.bare.update_ref("refs/pull/1/head", new)

    hub.bare.on_update = follow
    head = await hub.branch("topic", {"b.txt": b"b\n"})
    assert hub.told == [("refs/heads/topic", None, head, "ada"), ("refs/pull/1/head", None, head, None)]


async def test_what_does_not_exist_is_none(hub: Hub) -> None:
    main = await hub.bare.sha("main")
    assert main == await hub.bare.sha("refs/heads/main") == await hub.bare.sha(main or "")
    assert [await hub.bare.sha(name) for name in ("", "no", "refs/heads/no", "-x", "1" * 40, "a\nmain")] == [None] * 6
    assert [await hub.bare.read("main", "no.txt"), await hub.bare.read("no", "a.txt")] == [None, None]
    assert await hub.bare.refs("refs/heads/ma") == {"refs/heads/main": main}
    assert [commit.message for commit in await hub.bare.log(None, "main", 5)] == ["Initial commit"]


async def test_a_repository_is_opened_again(hub: Hub) -> None:
    again = await Bare.open(hub.bare.path, NAME, "main")
    assert await again.sha("main") == await hub.bare.sha("main")
    with pytest.raises(CommandFailed):
        await Bare.open(hub.clients, NAME, "main")


async def test_a_new_repository_is_as_git_would_make_it(tmp_path: Path) -> None:
    files = {"b/c/d.txt": "d\n", "b.txt": "b\n", "b/é.sh": "#!/bin/sh\n", "b-": "", "a": "a\n"}
    bare = await Bare.create(tmp_path / "new.git", NAME, "trunk", files)
    assert (await bare.git.run("fsck", "--strict", "--no-dangling")).code == 0
    entries = await read_tree(bare.git, "HEAD", recursive=True)
    assert {one.path: one.mode for one in entries if one.kind == "blob"} == {
        path: "100755" if text.startswith("#!") else "100644" for path, text in files.items()
    }
    assert [await bare.read("trunk", path) for path in files] == [text.encode() for text in files.values()]
    (commit,) = await bare.log(None, "trunk", 5)
    assert (commit.message, commit.author.name, commit.parents) == ("Initial commit", "GitHub", ())
    empty = await Bare.create(tmp_path / "empty.git", NAME, "trunk", {})
    assert (await empty.refs("refs/"), (await empty.git.check("symbolic-ref", "HEAD")).text) == ({}, "refs/heads/trunk")
    with pytest.raises(FileExistsError):
        await Bare.create(tmp_path / "new.git", NAME, "trunk", files)
