"""A workspace: cheap to make, independent of its mirror, and fresh whatever a child did to it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from git_remote import (
    AT,
    ENGINE,
    ENVIRONMENT,
    FILES,
    commit_to,
    fences_of,
    listing,
    machine,
    put,
    readers,
    remote_at,
    work,
    workspace_of,
)

from shared.filesystem import directories
from shared.git import names, objects
from shared.git.changes import FILE_BYTES
from shared.git.command import Git, Signature
from shared.git.failures import NoSuchRef
from shared.git.notes import Notes
from shared.git.object_readers import ObjectReaders
from shared.git.workspace import Workspace
from shared.lock.port import RefUpdate
from shared.process import CommandFailed


def _inodes(directory: Path) -> set[int]:
    return {path.stat().st_ino for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(params=[False, True], ids=["by processes", "by readers"])
async def reading(request: pytest.FixtureRequest) -> AsyncIterator[ObjectReaders | None]:
    async with readers(open_ones=request.param) as found:
        yield found


async def test_the_clean_directory_links_the_mirror_and_the_tree_shares_nothing(
    tmp_path: Path, reading: ObjectReaders | None
) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path), readers=reading)
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    tree = await workspace.reset_tree(base)
    assert listing(tree) == FILES
    ours = _inodes(mirror.git.git_dir / "objects")
    assert _inodes(workspace.git.git_dir / "objects") & ours
    assert not _inodes(tree) & (ours | _inodes(workspace.git.git_dir))
    assert not (tree / ".git" / "objects" / "info" / "alternates").exists()
    inner = workspace.git.at(tree / ".git")
    assert (await inner.run("rev-list", "HEAD")).text == base
    assert (await inner.run("status", "--porcelain", work_tree=tree)).text == ""


async def test_opening_again_fetches_only_what_is_new(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    async with readers(open_ones=True) as found:
        mirror = await machine(tmp_path, str(remote.path), readers=found)
        first = await workspace_of(mirror)
        base = await mirror.tip("main") or ""
        commit = await work(first, base, {"src/new.py": "new\n"})
        ref = "refs/notes/workflow/issue-42"
        await Notes(first.git, ENGINE).add(ref, commit, "noted")
        await mirror.adopt(first.git, commit, await noted_at(first, ref))
        await mirror.git.run("update-ref", ref, await noted_at(first, ref))
        packs = first.git.git_dir / "objects"
        before = {path: path.stat().st_mtime_ns for path in packs.rglob("*")}
        again = await workspace_of(mirror, commit=commit, ref=ref)
        assert {path: path.stat().st_mtime_ns for path in packs.rglob("*")} == before
        newest = await commit_to(remote, "main", {"README.md": "new\n"})
        await mirror.fetch()
        await workspace_of(mirror, commit=commit, ref=ref)
        assert await again.tree_of(newest)
        (blob,) = await objects.read(again.git, [f"{commit}:src/new.py"])
        oid = (await again.git.run("rev-parse", f"{commit}:src/new.py")).text
        (packs / oid[:2] / oid[2:]).unlink()  # as a fetch that was cut off may leave it
        await workspace_of(mirror, commit=commit, ref=ref)
        assert (await again.git.run("cat-file", "blob", oid)).stdout == blob == b"new\n"


async def test_opening_again_fetches_what_a_fetch_that_was_cut_off_has_left_out(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    async with readers(open_ones=True) as found:
        mirror = await machine(tmp_path, str(remote.path), readers=found)
        space = await workspace_of(mirror)
        base, theirs = await mirror.tip("main") or "", mirror.git
        tree = await space.tree_of(base)
        between = await theirs.commit(tree, [base], "Between\n", Signature(ENGINE, AT))
        last = await theirs.commit(tree, [between], "Last\n", Signature(ENGINE, AT))
        await theirs.run("update-ref", "refs/workflow/last", last)
        name, ours = Path("objects", last[:2], last[2:]), space.git.git_dir
        (ours / name).parent.mkdir(exist_ok=True)
        (ours / name).write_bytes((theirs.git_dir / name).read_bytes())  # it alone has come
        assert await space.tree_of(last) == tree
        again = await workspace_of(mirror, commit=last)
        assert (await again.git.run("rev-list", f"{base}..{last}")).text.split() == [last, between]


@pytest.mark.parametrize("is_published", [False, True])
async def test_what_was_made_here_and_pushed_is_not_fetched_back(tmp_path: Path, *, is_published: bool) -> None:
    """A red commit is pushed with a fence and notes, a green one with a branch too, as in the phases of an issue."""
    remote = await remote_at(tmp_path / "remote")
    async with readers(open_ones=True) as found:
        mirror = await machine(tmp_path, str(remote.path), readers=found)
        space = await workspace_of(mirror)
        base = await mirror.tip("main") or ""
        commit = await work(space, base, {"src/new.py": "new\n"})
        ref = "refs/notes/workflow/issue-42"
        await Notes(space.git, ENGINE).add(ref, commit, "noted")
        moves = [RefUpdate(ref, None, await noted_at(space, ref))]
        moves += [RefUpdate("refs/heads/auto/issue-42", None, commit)] if is_published else []
        await mirror.adopt(space.git, commit, moves[0].new)
        assert await fences_of(mirror).advance("refs/ack/worker/42", "Nonce: 1", None, [commit], moves)
        await space.note(commit, moves)
        with blocked(mirror.git.git_dir / "objects"):
            again = await workspace_of(mirror, commit=commit, ref=ref)
        (blob,) = await objects.read(again.git, [f"{commit}:src/new.py"])
        assert blob == b"new\n"
        theirs = await commit_to(remote, "auto/issue-42", {"src/new.py": "theirs\n"}, parent=commit)
        await mirror.fetch()
        await workspace_of(mirror, commit=commit, ref=ref)
        assert await again.tree_of(theirs), "what others do comes all the same"


@contextmanager
def blocked(objects_of: Path) -> Iterator[None]:
    """Take the objects of the mirror away while the block runs: every fetch from it fails."""
    away = objects_of.with_name("away")
    objects_of.rename(away)
    try:
        yield
    finally:
        away.rename(objects_of)


async def noted_at(space: Workspace, ref: str) -> str:
    """Return the commit of the notes in a workspace."""
    return (await space.git.run("rev-parse", ref)).text


async def test_a_coder_works_in_a_repository_of_one_commit(tmp_path: Path, reading: ObjectReaders | None) -> None:
    remote = await remote_at(tmp_path / "remote")
    secret = await commit_to(remote, "main", {"secret.txt": "taken out later\n"})
    head = await commit_to(remote, "main", {"README.md": "newer\n"})
    mirror = await machine(tmp_path, str(remote.path), readers=reading)
    workspace = await workspace_of(mirror)
    first = (await mirror.log(head, 10))[-1].oid
    for commit in (first, head):
        tree = await workspace.reset_tree(commit)
        inner = Git(tree / ".git", ENVIRONMENT)  # the coder's own: nothing of it is known before
        await inner.run("fsck", "--strict")
        assert (await inner.run("log", "--format=%H")).text == commit
        assert (await inner.run("symbolic-ref", "HEAD")).text == "refs/heads/work"
        assert (await inner.run("cat-file", "-e", secret, ok=(1, 128))).code
        put(tree / "src" / "new.py", "new\n")
        who = ("-c", "user.name=C", "-c", "user.email=c@example.org")
        await inner.run("add", "--all", work_tree=tree)
        await inner.run(*who, "commit", "--quiet", "-m", "Work", work_tree=tree)
        assert (await inner.run("diff", "--name-only", commit, "HEAD")).text == "src/new.py"
        assert (await inner.run("status", "--porcelain", work_tree=tree)).text == ""


async def test_a_fresh_tree_of_a_coder_looks_unchanged_to_every_command(
    tmp_path: Path, reading: ObjectReaders | None
) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path), readers=reading)
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    tree = await workspace.reset_tree(base)
    (tree / "src" / "run").symlink_to("app.py")
    (tree / "README.md").chmod(0o755)
    base = await workspace.commit(await workspace.capture(base), [base], "Mixed", AT)
    tree = await workspace.reset_tree(base)
    inner = Git(tree / ".git", ENVIRONMENT)
    await inner.run("diff-index", "--quiet", "HEAD", work_tree=tree)
    assert (await inner.run("diff-files", work_tree=tree)).text == ""
    known = (await inner.run("ls-files", "--debug")).text
    await inner.run("read-tree", "HEAD")  # what was known is forgotten
    await inner.run("update-index", "-q", "--refresh", work_tree=tree)
    assert (await inner.run("ls-files", "--debug")).text == known
    put(tree / "src" / "app.py", "VALUE = 2\n")
    assert (await inner.run("diff-files", "--name-only", work_tree=tree)).text == "src/app.py"


async def test_opening_again_brings_what_is_new_and_forgets_what_is_gone(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    first = await workspace_of(mirror)
    put(first.root / "scratch-left" / "index", "x")
    (first.git.git_dir / "packed-refs.lock").touch()
    newest = await commit_to(remote, "main", {"README.md": "new\n"})
    topic = await commit_to(remote, "topic", {"topic.md": "t\n"}, parent=newest)
    await mirror.fetch()
    again = await workspace_of(mirror)
    assert listing(await again.reset_tree(topic)).items() >= {"README.md": "new\n", "topic.md": "t\n"}.items()
    assert not (first.root / "scratch-left").exists()
    await remote.update_ref("refs/heads/topic", None)
    await mirror.fetch()
    await workspace_of(mirror)
    assert (await again.git.run("for-each-ref", "--format=%(refname)")).text == "refs/heads/main"


async def test_a_tree_is_fresh_whatever_a_child_left(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    outside = tmp_path / "outside"
    put(outside / "precious.txt", "kept")
    tree = await workspace.reset_tree(base)
    (tree / "way-out").symlink_to(outside)
    put(tree / "locked" / "file", "x")
    (tree / "locked").chmod(0)
    os.mkfifo(tree / "pipe")
    put(tree / ".git" / "index.lock", "")
    again = await workspace.reset_tree(base)
    assert listing(again) == FILES
    assert listing(outside) == {"precious.txt": "kept"}


async def test_a_commit_is_signed_by_the_engine_at_the_given_time(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    commit = await workspace.commit(await workspace.tree_of(base), [base], "Title\n\nIssue: 42\n", AT)
    facts = (await workspace.git.run("cat-file", "-p", commit)).text
    stamp = f"{ENGINE.name} <{ENGINE.email}> {int(AT.timestamp())} +0000"
    assert facts.splitlines()[1:4] == [f"parent {base}", f"author {stamp}", f"committer {stamp}"]
    assert facts.endswith("\n\nTitle\n\nIssue: 42")
    assert await workspace.commit(await workspace.tree_of(base), [base], "Title\n\nIssue: 42\n", AT) == commit


async def test_changes_tell_modes_sizes_and_added_lines(tmp_path: Path) -> None:
    files = {"a.txt": "one\ntwo\n", "run.sh": "#!/bin/sh\n", "old.txt": "same\n" * 9}
    remote = await remote_at(tmp_path / "remote", files)
    mirror = await machine(tmp_path, str(remote.path))
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    tree = await workspace.reset_tree(base)
    put(tree / "a.txt", "two\nthree\n")
    (tree / "run.sh").chmod(0o644)
    (tree / "old.txt").rename(tree / "new.txt")
    (tree / "image.bin").write_bytes(b"\0" * 500)
    (tree / b"odd\xff\n.txt".decode("utf-8", "surrogateescape")).write_text("odd\n")
    commit = await workspace.commit(await workspace.capture(base), [base], "Work", AT)
    found = {change.path: change for change in await workspace.changes(base, commit)}
    assert list(found) == ["a.txt", "image.bin", "new.txt", "odd\udcff\n.txt", "old.txt", "run.sh"]
    text = found["a.txt"]
    assert (text.added, text.deleted, text.binary, text.size, text.added_text) == (1, 1, False, 10, "three")
    assert (found["image.bin"].binary, found["image.bin"].size, found["image.bin"].added_text) == (True, 500, "")
    assert (found["new.txt"].status, found["new.txt"].old_mode, found["new.txt"].added) == ("A", "000000", 9)
    assert (found["old.txt"].status, found["old.txt"].new_mode, found["old.txt"].deleted) == ("D", "000000", 9)
    assert (found["run.sh"].old_mode, found["run.sh"].new_mode) == ("100755", "100644")
    diff = await workspace.diff(base, commit)
    assert "rename from old.txt" in diff
    assert "+three" in diff


async def test_a_file_too_large_to_read_counts_as_binary(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote", {"was.txt": "x\n" * (FILE_BYTES // 2 + 1), "b.txt": "b\n"})
    mirror = await machine(tmp_path, str(remote.path))
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    is_large, texts = "y\n" * (FILE_BYTES // 2 + 1), {f"part-{n}.txt": f"{n}\n" * (2**20) for n in range(5)}
    head = await work(workspace, base, {"was.txt": "x\n", "is.txt": is_large, "b.txt": "b\nc\n", **texts})
    found = {change.path: change for change in await workspace.changes(base, head)}
    assert [path for path, change in found.items() if change.binary] == ["is.txt", "was.txt"]
    assert found["b.txt"].added_text == "c"
    assert {path: found[path].added_text for path in texts} == texts


async def test_what_the_mirror_does_not_have_cannot_be_brought(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    workspace = await workspace_of(mirror)
    with pytest.raises(NoSuchRef):
        await workspace.bring("1" * 40)
    with pytest.raises(NoSuchRef):
        await workspace_of(mirror, commit="1" * 40)


async def test_a_ref_is_what_the_mirror_has_of_it(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror, notes = await machine(tmp_path, str(remote.path)), "refs/notes/workflow/issue-42"
    base = await mirror.tip("main") or ""
    made = [await mirror.git.commit(await mirror.git.store("tree", b""), [], text, Signature(ENGINE)) for text in "ab"]
    for value in (made[0], made[1], "", made[0]):
        await mirror.git.run("update-ref", *((notes, value) if value else ("-d", notes)))
        for commit in ("", base):
            workspace = await workspace_of(mirror, commit=commit, ref=notes)
            shown = (await workspace.git.run("for-each-ref", "--format=%(objectname)", notes)).text
            assert shown == value
    directories.remove(workspace.root)
    made_anew = await workspace_of(mirror, commit=made[1], ref=notes)
    assert (await made_anew.git.run("cat-file", "-t", made[1])).text == "commit"
    assert (await made_anew.git.run("rev-parse", notes)).text == made[0]


async def test_a_half_made_workspace_is_made_again(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    root = names.workspace_path(tmp_path / "workspaces", "acme/app", 42)
    put(root / "git.new" / "HEAD", "ref: refs/heads/main\n")
    workspace = await Workspace.open(root, mirror, ENGINE)
    assert listing(await workspace.checkout(await mirror.tip("main") or "", "base")) == FILES
    assert not (root / "git.new").exists()


@pytest.mark.parametrize("place", ["tree", "evidence", "base"])
async def test_nothing_that_a_child_overwrites_reaches_the_mirror(
    tmp_path: Path, place: str, reading: ObjectReaders | None
) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path), readers=reading)
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    where = await workspace.reset_tree(base)
    if place != "tree":
        where = await workspace.checkout(base, "base" if place == "base" else "evidence")
    before = (await mirror.git.run("for-each-ref")).text
    for file in [path for path in where.rglob("*") if path.is_file()]:
        file.chmod(0o600)
        file.write_bytes(b"overwritten in place")  # objects, packs and refs among them
    for git in (mirror.git, workspace.git):
        await git.run("fsck", "--strict", "--no-dangling")
    assert (await mirror.git.run("for-each-ref")).text == before
    assert listing(await workspace.reset_tree(base)) == FILES


async def test_a_mirror_that_shared_objects_with_a_tree_would_be_broken(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    workspace = await workspace_of(mirror)  # its own git directory is linked to the mirror, and never shown
    for file in [path for path in (workspace.git.git_dir / "objects").rglob("*") if path.is_file()]:
        file.chmod(0o600)
        file.write_bytes(b"overwritten in place")
    with pytest.raises(CommandFailed):
        await mirror.git.run("fsck", "--strict", "--no-dangling")
