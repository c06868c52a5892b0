"""A checkout is the whole tree in an empty directory, whatever was there before: what git makes of it in two steps."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from git_remote import machine, readers, remote_at, workspace_of

from shared.git import plain_checkout
from shared.git.command import Git
from shared.git.tree_files import TreeFile
from shared.git.workspace import Workspace
from shared.process import CommandFailed

ATTRIBUTES = """\
*.crlf text eol=crlf
*.lf text eol=lf
*.auto text=auto
*.id ident
*.utf16 text working-tree-encoding=UTF-16LE
*.filtered filter=unknown
*.bin -text
"""

FILES = {
    (".gitattributes", "100644"): ATTRIBUTES.encode(),
    ("!first.crlf", "100644"): b"one\ntwo\n",
    ("a.crlf", "100644"): b"one\ntwo\n",
    ("a.lf", "100644"): b"one\r\ntwo\r\n",
    ("a.auto", "100644"): b"one\ntwo\n",
    ("a.id", "100644"): b"$Id$\n",
    ("a.utf16", "100644"): "ü\n".encode(),
    ("a.filtered", "100644"): b"plain\n",
    ("a.bin", "100644"): b"\0\r\n\xff",
    ("empty", "100644"): b"",
    ("run.sh", "100755"): b"#!/bin/sh\n",
    ("below/.gitattributes", "100644"): b"*.crlf -text\n",
    ("below/a.crlf", "100644"): b"one\ntwo\n",
    ("below/deep/er/x", "100644"): b"x\n",
    ("link", "120000"): b"below/deep",
    ("dangling", "120000"): b"/nowhere/at/all",
    ("upwards", "120000"): b"../../outside",
    ("module", "160000"): b"",
    ("näme\udcff\n", "100644"): b"odd\n",
    (" -x", "100755"): b"spaces\n",
}


PLAIN = {
    path: content
    for path, content in FILES.items()
    if path[1] != "160000" and path[0].isascii() and not path[0].startswith(("!", " ")) and ".gitattr" not in path[0]
} | {(".gitignore", "100644"): b"*.log\n", ("a b.txt", "100644"): b"spaces\n"}
"""The files that are checked out without a process."""


@pytest.fixture(params=[False, True], ids=["by processes", "by readers"])
async def space(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Workspace]:
    remote = await remote_at(tmp_path / "remote")
    async with readers(open_ones=request.param) as found:
        yield await workspace_of(await machine(tmp_path, str(remote.path), readers=found))


async def tree_of(git: Git, files: dict[tuple[str, str], bytes], index: Path) -> str:
    """Make a tree with these paths, modes and contents."""
    rows = []
    for (path, mode), content in files.items():
        blob = (await git.run("hash-object", "-w", "--stdin", stdin=content)).text if mode != "160000" else "1" * 40
        rows.append(f"{mode} {blob}\t{path}\0".encode("utf-8", "surrogateescape"))
    await git.run("update-index", "-z", "--index-info", stdin=b"".join(rows), index=index)
    return (await git.run("write-tree", "--missing-ok", index=index)).text


async def in_two_steps(git: Git, tree: str, target: Path, index: Path) -> None:
    """Check a tree out by git's plumbing, as the reference."""
    await git.run("read-tree", tree, index=index)
    await git.run("checkout-index", "--all", "--quiet", work_tree=target, index=index)


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return each path below a directory with its mode and content."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        content = os.fsencode(path.readlink()) if path.is_symlink() else b"" if path.is_dir() else path.read_bytes()
        found[str(path.relative_to(root))] = mode, content
    return found


async def test_a_plain_tree_is_what_two_steps_of_git_make(space: Workspace, tmp_path: Path) -> None:
    tree = await tree_of(space.git, PLAIN, tmp_path / "made.index")
    (tmp_path / "expected").mkdir()
    await in_two_steps(space.git, tree, tmp_path / "expected", tmp_path / "expected.index")
    expected = everything(tmp_path / "expected")
    assert (await plain_checkout.plain(space.git, tree) is not None) is space.git.has_readers
    assert everything(await space.checkout(tree, "evidence")) == expected
    empty = await space.git.store("tree", b"")
    assert everything(await space.checkout(empty, "evidence")) == {}


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        *[(name, "100644") for name in (".gitattributes", "below/.gitattributes", ".GITignore", ".gitx", "a\nb", "é")],
        *[(name, "100644") for name in ("a:b", "a~1", "dot.", "space ", "back\\slash", "a*", "tab\t")],
        *[("module", "160000"), (".gitignore", "120000"), (".gitmodules", "100644"), ("UPPER", "100644")],
        ("link", "120000"),
    ],
)
async def test_what_is_not_plain_is_left_to_git(space: Workspace, tmp_path: Path, path: str, mode: str) -> None:
    content = b"" if mode == "160000" else b"x" * 2000
    files = {(path, mode): content, ("upper", "100644"): b"x\n"}
    assert await plain_checkout.plain(space.git, await tree_of(space.git, files, tmp_path / "made.index")) is None


async def test_a_large_tree_is_left_to_git(space: Workspace, tmp_path: Path) -> None:
    many = {(f"f{number}", "100644"): b"x\n" for number in range(plain_checkout.MOST_FILES)}
    tree = await tree_of(space.git, {("f", "100644"): b"x" * (plain_checkout.MOST_BYTES + 1)}, tmp_path / "made.index")
    assert await plain_checkout.plain(space.git, tree) is None
    listed = [TreeFile(mode, "1" * 40, path) for path, mode in many]
    assert plain_checkout.are_plain(listed)
    assert (await space.checkout(tree, "evidence") / "f").stat().st_size == plain_checkout.MOST_BYTES + 1


async def test_no_plain_file_is_written_over_what_is_in_the_way(space: Workspace, tmp_path: Path) -> None:
    tree = await tree_of(space.git, PLAIN, tmp_path / "made.index")
    target = tmp_path / "occupied"
    target.mkdir()
    (tmp_path / "outside").write_text("precious")
    (target / "empty").symlink_to(tmp_path / "outside")
    with pytest.raises(CommandFailed):
        await space.export(tree, target)
    assert (tmp_path / "outside").read_text() == "precious"


async def test_no_plain_file_goes_where_a_link_leads(space: Workspace, tmp_path: Path) -> None:
    tree = await tree_of(space.git, PLAIN, tmp_path / "made.index")
    outside, target = tmp_path / "outside", tmp_path / "occupied"
    for place in (outside, target):
        place.mkdir()
    (target / "below").symlink_to(outside)
    with pytest.raises(CommandFailed):
        await space.export(tree, target)
    assert everything(outside) == {}


async def test_it_is_what_two_steps_of_git_make(space: Workspace, tmp_path: Path) -> None:
    tree = await tree_of(space.git, FILES, tmp_path / "made.index")
    (tmp_path / "expected").mkdir()
    await in_two_steps(space.git, tree, tmp_path / "expected", tmp_path / "expected.index")
    expected = everything(tmp_path / "expected")
    assert len(expected) == len(FILES) + 3
    assert expected["a.crlf"][1] == b"one\r\ntwo\r\n"
    assert expected["below/a.crlf"][1] == b"one\ntwo\n"
    assert everything(await space.checkout(tree, "evidence")) == expected


async def test_whatever_was_changed_there_is_as_in_the_tree_again(space: Workspace, tmp_path: Path) -> None:
    tree = await tree_of(space.git, FILES, tmp_path / "made.index")
    place = await space.checkout(tree, "evidence")
    expected = everything(place)
    (place / "a.bin").write_bytes(b"changed")
    (place / "empty").unlink()
    (place / "new").write_text("added")
    (place / "below" / "deep" / "conftest.py").write_text("added below")
    (place / "run.sh").chmod(0o644)
    (place / "a.lf").chmod(0o777)
    (place / "link").unlink()
    (place / "link").mkdir()
    (place / "below" / "deep" / "er" / "x").unlink()
    (place / "below" / "deep" / "er").rmdir()
    (place / "below" / "deep" / "er").symlink_to(tmp_path)
    stamp = (place / "a.auto").stat()
    (place / "a.auto").write_bytes(b"eno\nowt\n")
    os.utime(place / "a.auto", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert everything(await space.checkout(tree, "evidence")) == expected
    assert not (tmp_path / "x").exists()


async def test_nothing_is_written_over_what_is_in_the_way(space: Workspace, tmp_path: Path) -> None:
    tree = await tree_of(space.git, FILES, tmp_path / "made.index")
    target = tmp_path / "occupied"
    target.mkdir()
    (target / "empty").write_text("somebody's")
    with pytest.raises(CommandFailed):
        await space.export(tree, target)
    assert (target / "empty").read_text() == "somebody's"


@pytest.mark.parametrize("path", [".git/hooks/post-checkout", "..", "a/../../b", ".GIT/config", "git~1/config", "."])
async def test_no_path_leads_out_of_it_or_into_git(space: Workspace, tmp_path: Path, path: str) -> None:
    blob = (await space.git.run("hash-object", "-w", "--stdin", stdin=b"#!/bin/sh\n")).text
    tree = blob
    for depth, name in enumerate(reversed(path.split("/"))):
        row = f"{'040000' if depth else '100755'} {name}\0".removeprefix("0").encode() + bytes.fromhex(tree)
        verb = ("hash-object", "-w", "-t", "tree", "--literally", "--stdin")
        tree = (await space.git.run(*verb, stdin=row)).text
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(CommandFailed):
        await in_two_steps(space.git, tree, target, tmp_path / "index")
    with pytest.raises(CommandFailed):
        await space.export(tree, target)
    assert everything(target) == {}
