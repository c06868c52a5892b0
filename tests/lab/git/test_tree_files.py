"""Trees read level by level: what git tells of them, without a process where they are small and such as git makes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from counted_git import Twice, twice

from shared.git import index_file, objects, tree_files
from shared.git.command import Git
from shared.git.names import fields
from shared.git.patch_policy import GITLINK, SYMLINK
from shared.git.tree_files import FILE, PROGRAM, TreeFile
from shared.process import CommandFailed

ABSENT = "a" * 40


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Twice]:
    async with twice(tmp_path / "x.git") as both:
        yield both


async def tree_of(git: Git, files: dict[str, str]) -> str:
    """Make a tree with files of these paths and modes."""
    blob = await git.store("blob", b"x\n")
    rows = [f"{mode} {ABSENT if mode == GITLINK else blob} 0\t{path}\0" for path, mode in files.items()]
    index = git.git_dir / "made.index"
    stdin = "".join(rows).encode("utf-8", "surrogateescape")
    await git.run("update-index", "-z", "--index-info", stdin=stdin, index=index)
    made = (await git.run("write-tree", "--missing-ok", index=index)).text
    index.unlink()
    return made


MIXED = {
    "a": FILE,
    "a.b": PROGRAM,
    "a-b/c": FILE,
    "deep/er/and/deeper": FILE,
    "deep.txt": SYMLINK,
    "deep/er.txt": FILE,
    "two\nlines": FILE,
    "\udcff": FILE,
    "sub": GITLINK,
    "x" * 200 + "/" + "y" * 200: FILE,
}


async def test_a_small_tree_is_listed_as_by_git_without_a_process(asked: Twice) -> None:
    for files in (MIXED, {"only": FILE}, {}):
        tree = await tree_of(asked.plain, files)
        found = await tree_files.listed(asked.git, tree)
        assert found == await tree_files.listed(asked.plain, tree)
        assert {file.path: file.mode for file in found} == files
    assert asked.git.started == []


async def test_a_tree_of_many_directories_is_left_to_git(asked: Twice) -> None:
    tree = await tree_of(asked.plain, {f"d{number}/x": FILE for number in range(tree_files.MOST_TREES)})
    assert await tree_files.few(asked.git, tree) is None
    assert len(await tree_files.listed(asked.git, tree)) == tree_files.MOST_TREES
    assert asked.git.started == ["ls-tree"]


async def test_trees_that_git_does_not_make_are_left_to_git(asked: Twice) -> None:
    blob, empty = await asked.plain.store("blob", b"x\n"), await asked.plain.store("tree", b"")
    raw = bytes.fromhex(blob)
    odd = {
        "out of order": b"100644 b\0" + raw + b"100644 a\0" + raw,
        "twice": b"100644 a\0" + raw + b"100644 a\0" + raw,
        "file and directory": b"100644 a\0" + raw + b"40000 a\0" + bytes.fromhex(empty),
        "an old mode": b"100664 a\0" + raw,
        "a path": b"100644 a/b\0" + raw,
        "no name": b"100644 \0" + raw,
        "a directory that is a file": b"40000 a\0" + raw,
        "a directory that is not here": b"40000 a\0" + bytes.fromhex(ABSENT),
        "too short": b"100644 a\0" + raw[:-1],
    }
    for what, content in odd.items():
        assert await tree_files.few(asked.git, await asked.plain.store("tree", content)) is None, what
    with pytest.raises(CommandFailed):
        await tree_files.listed(asked.git, ABSENT)


@pytest.mark.parametrize("odd", [[], ["two\nlines"], ["\udcff"], [".gitmodules"]], ids=repr)
async def test_an_index_is_written_as_git_reads_the_tree_into_one(asked: Twice, tmp_path: Path, odd: list[str]) -> None:
    plain = {path: mode for path, mode in MIXED.items() if path not in {"two\nlines", "\udcff"}}
    tree = await tree_of(asked.plain, plain | {".gitattributes": FILE} | dict.fromkeys(odd, FILE))
    found = await tree_files.listed(asked.git, tree)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    await index_file.begin(asked.git, tree, found, ours)
    assert asked.git.started == ["read-tree"] * len(odd)
    await asked.plain.run("read-tree", tree, index=theirs)
    verb = ("ls-files", "--stage", "--debug")
    told = [(await asked.plain.run(*verb, index=index)).stdout for index in (ours, theirs)]
    assert told[0] == told[1] != b""
    assert (await asked.plain.run("write-tree", "--missing-ok", index=ours)).text == tree


@pytest.mark.parametrize("path", ["../a", "a/../../b", "./a", ".git/config", ".GIT/config", "b/.Git", "git~1/config"])
async def test_no_index_holds_a_path_that_git_refuses(asked: Twice, tmp_path: Path, path: str) -> None:
    oid = await asked.plain.store("blob", b"*\n")
    for depth, name in enumerate(reversed(path.split("/"))):
        oid = await asked.plain.store("tree", f"{40000 if depth else 100644} {name}\0".encode() + bytes.fromhex(oid))
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    with pytest.raises(CommandFailed):
        await asked.plain.run("read-tree", oid, index=theirs)
    for git in (asked.git, asked.plain):
        with pytest.raises(CommandFailed):
            await index_file.begin(git, oid, await tree_files.listed(git, oid), ours)
    assert not ours.exists()


@pytest.mark.parametrize(
    "rows", [["40000 a", "100644 a"], ["100644 b", "100644 a"], ["100644 a", "100644 a"]], ids=repr
)
async def test_the_index_of_a_tree_that_git_does_not_make_is_left_to_git(
    asked: Twice, tmp_path: Path, rows: list[str]
) -> None:
    blob = await asked.plain.store("blob", b"x\n")
    inner = await asked.plain.store("tree", b"100644 x\0" + bytes.fromhex(blob))
    content = [f"{row}\0".encode() + bytes.fromhex(inner if row[0] == "4" else blob) for row in rows]
    tree = await asked.plain.store("tree", b"".join(content))
    found = await tree_files.listed(asked.plain, tree)
    with suppress(CommandFailed):
        await index_file.begin(asked.git, tree, found, tmp_path / "index")
    assert "read-tree" in asked.git.started


async def test_an_index_of_sha256_is_left_to_git(asked: Twice, tmp_path: Path) -> None:
    tree = await tree_of(asked.plain, {"a": FILE})
    await index_file.begin(asked.git, tree, [TreeFile(FILE, "b" * 64, "a")], tmp_path / "index")
    assert asked.git.started == ["read-tree"]
    assert fields((await asked.plain.run("ls-files", "-z", index=tmp_path / "index")).stdout) == ("a",)


async def test_paths_that_a_tree_lacks_are_told(asked: Twice) -> None:
    tree = await tree_of(asked.plain, MIXED)
    wanted = ["a", "b", "two\nlines", "two\nmore", "\udcff", "deep/er", "sub", "deep/er/and/missing"]
    for git in (asked.git, asked.plain):
        assert await objects.absent(git, tree, wanted) == ["b", "two\nmore", "sub", "deep/er/and/missing"]
        assert await objects.absent(git, tree, []) == []
