"""Objects and branches in another directory of ours without a process: what comes, what stays, what is left to git."""

from __future__ import annotations

import os
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from git_remote import AT, ENGINE, commit_to, machine, readers, remote_at, work, workspace_of

from shared.git import linked_objects
from shared.git.command import Signature
from shared.git.mirror import Mirror
from shared.git.notes import Notes
from shared.git.workspace import Workspace

REF = "refs/notes/workflow/issue-42"


@pytest.fixture
async def mirror(tmp_path: Path) -> AsyncIterator[Mirror]:
    remote = await remote_at(tmp_path / "remote")
    await commit_to(remote, "topic", {"topic.py": "1\n"})
    async with readers(open_ones=True) as found:
        yield await machine(tmp_path, str(remote.path), readers=found)


async def made(mirror: Mirror) -> tuple[Workspace, str, str]:
    """Make a workspace with a commit on `main` and the note on it."""
    space = await workspace_of(mirror)
    commit = await work(space, await mirror.tip("main") or "", {"src/deep/new.py": "new\n"})
    return space, commit, await Notes(space.git, ENGINE).add(REF, commit, "noted")


def loose(mirror: Mirror, oid: str) -> bool:
    return (mirror.git.git_dir / "objects" / oid[:2] / oid[2:]).exists()


async def test_a_commit_and_its_note_come_whole_and_nothing_else_does(mirror: Mirror) -> None:
    space, commit, note = await made(mirror)
    refused = await space.git.store("blob", b"a secret that no judge has passed")
    assert await linked_objects.adopt(space.git, mirror.git, [commit, note])
    for oid in (commit, note):
        await mirror.git.run("update-ref", f"refs/workflow/{oid}", oid)
    await mirror.git.run("fsck", "--strict", "--connectivity-only")
    assert (await mirror.git.run("cat-file", "blob", f"{commit}:src/deep/new.py")).stdout == b"new\n"
    assert not loose(mirror, refused)


async def test_what_is_built_on_something_that_is_not_here_is_left_to_git(mirror: Mirror) -> None:
    space, commit, _ = await made(mirror)
    after = await space.commit(await space.tree_of(commit), [commit], "After\n", AT)
    assert not await linked_objects.adopt(space.git, mirror.git, [after])
    assert not loose(mirror, after)
    await mirror.adopt(space.git, after)
    assert (await mirror.git.run("rev-list", "--count", after)).text == "3"


async def test_a_file_that_did_not_come_is_noticed(mirror: Mirror) -> None:
    space, commit, _ = await made(mirror)
    blob = (await space.git.run("rev-parse", f"{commit}:src/deep/new.py")).text
    (space.git.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    assert not await linked_objects.adopt(space.git, mirror.git, [commit])


@pytest.mark.parametrize("damage", ["empty", "cut off", "longer", "another", "link", "pipe"])
async def test_a_file_that_is_not_what_its_name_says_does_not_come(mirror: Mirror, tmp_path: Path, damage: str) -> None:
    """A power cut leaves such files. In the mirror nothing would ever mend one, and each new workspace would get it."""
    space, commit, note = await made(mirror)
    blob = (await space.git.run("rev-parse", f"{commit}:src/deep/new.py")).text
    place = space.git.git_dir / "objects" / blob[:2] / blob[2:]
    whole = place.read_bytes()
    place.unlink()
    if damage == "link":
        (tmp_path / "elsewhere").write_bytes(whole)
        place.symlink_to(tmp_path / "elsewhere")
    elif damage == "pipe":
        os.mkfifo(place)
    else:
        left = {
            "empty": b"",
            "cut off": whole[:-4],
            "longer": whole + b"\0",
            "another": zlib.compress(b"blob 4\0bad\n"),
        }
        place.write_bytes(left[damage])
    assert not linked_objects.link_loose(space.git.git_dir, mirror.git.git_dir, [blob])
    if damage != "pipe":
        assert not await linked_objects.adopt(space.git, mirror.git, [commit, note])
    assert not loose(mirror, blob)
    assert await mirror.git.store("blob", b"new\n") == blob
    assert (await mirror.git.run("cat-file", "blob", blob)).stdout == b"new\n"


async def test_what_is_here_already_is_kept_from_packing(mirror: Mirror) -> None:
    space, commit, _ = await made(mirror)
    same = await mirror.git.commit(await mirror.git.store("tree", b""), (), "Same\n", Signature(ENGINE, AT))
    assert same == await space.git.commit(await space.git.store("tree", b""), (), "Same\n", Signature(ENGINE, AT))
    place = mirror.git.git_dir / "objects" / same[:2] / same[2:]
    os.utime(place, (0, 0))
    assert linked_objects.link_loose(space.git.git_dir, mirror.git.git_dir, [same, commit])
    assert place.stat().st_mtime > 1_000_000


async def test_without_readers_it_is_left_to_git(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    space, commit, note = await made(mirror)
    assert not await linked_objects.adopt(space.git, mirror.git, [commit, note])
    await mirror.adopt(space.git, commit, note)
    assert await mirror.sha(commit) == commit


async def test_a_copy_has_all_objects_and_branches(tmp_path: Path, mirror: Mirror) -> None:
    await mirror.git.run("repack", "-d", "-q")
    later = await mirror.git.store("blob", b"after packing")
    copy = mirror.git.at(tmp_path / "copy.git")
    assert linked_objects.clone(mirror.git.git_dir, copy.git_dir)
    await copy.run("fsck", "--strict")
    layout = "--format=%(refname) %(objectname)"
    assert (await copy.run("for-each-ref", layout)).text == (await mirror.git.run("for-each-ref", layout)).text
    assert (await copy.run("cat-file", "blob", later)).stdout == b"after packing"
    packs = {path.name for path in (mirror.git.git_dir / "objects/pack").iterdir()}
    assert {path.name for path in (copy.git_dir / "objects/pack").iterdir()} == packs


@pytest.mark.parametrize("unusual", ["alternates", "format"])
async def test_an_unusual_directory_is_left_to_git(tmp_path: Path, mirror: Mirror, unusual: str) -> None:
    place = mirror.git.git_dir
    if unusual == "alternates":
        (place / "objects/info").mkdir(exist_ok=True)
        (place / "objects/info/alternates").write_text(f"{tmp_path / 'elsewhere'}\n")
    else:
        (place / "config").write_text((place / "config").read_text() + "[extensions]\n\tobjectformat = sha256\n")
    assert not linked_objects.clone(place, tmp_path / "copy.git")
    assert not (tmp_path / "copy.git").exists()


async def test_where_files_cannot_be_linked_git_makes_the_workspace(mirror: Mirror) -> None:
    """Git makes the workspace where hard links fail; here a directory has the name of the first file."""
    objects = mirror.git.git_dir / "objects"
    (objects / "aa").mkdir(exist_ok=True)
    (objects / "aa" / ("1" * 38)).mkdir()
    space = await workspace_of(mirror)
    assert await space.tree_of(await mirror.tip("main") or "")
