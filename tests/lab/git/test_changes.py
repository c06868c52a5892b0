"""Differences of two trees: the same, whether git compares them or files were only added and removed."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from counted_git import Twice, twice
from git_remote import AT, ENGINE

from shared.git import changes
from shared.git.command import Git, Signature

CONTENTS = {
    "empty": b"",
    "one": b"x\n",
    "ü": b"no end",
    "two lines": b"x\r\ny\r\n",
    "binary": b"\0\n",
    "late": b"x" * 8000 + b"\0\n",
    "early": b"x" * 7999 + b"\0\n",
    "d/a": b"x\n",
    "d.a": b"y\n",
    "d/b/c": b"z\nz\n",
    "q\tr\n": b"odd\n",
}


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Twice]:
    async with twice(tmp_path / "x.git") as both:
        yield both


async def tree_of(git: Git, files: dict[str, bytes], modes: dict[str, str] | None = None) -> str:
    rows = []
    for path, content in files.items():
        rows.append(f"{(modes or {}).get(path, '100644')} {await git.store('blob', content)} 0\t{path}\0")
    index = git.git_dir / "made.index"
    await git.run("update-index", "-z", "--index-info", stdin="".join(rows).encode(), index=index)
    made = (await git.run("write-tree", index=index)).text
    index.unlink(missing_ok=True)
    return made


async def test_files_that_only_came_or_went_are_told_as_by_git_without_a_process(asked: Twice) -> None:
    names = list(CONTENTS)
    chosen = ((0, 1), (0, 2), (1, 2), (4, 3))
    sets = [dict(itertools.islice(CONTENTS.items(), start, None, step)) for start, step in chosen]
    trees = [await tree_of(asked.plain, files, {names[1]: "120000", names[3]: "100755"}) for files in sets]
    for old, new in itertools.product(trees, repeat=2):
        assert await changes.between(asked.git, old, new) == await changes.between(asked.plain, old, new)
        assert await changes.entries(asked.git, old, new) == await changes.entries(asked.plain, old, new)
    assert asked.git.started == []


async def test_what_is_changed_in_place_is_compared_by_git(asked: Twice) -> None:
    base = await tree_of(asked.plain, CONTENTS)
    changed = [
        await tree_of(asked.plain, CONTENTS | {"one": b"other\n", "new": b"n\n"}),
        await tree_of(asked.plain, CONTENTS, {"one": "100755"}),
        await tree_of(asked.plain, CONTENTS, {"one": "120000"}),
    ]
    for number, tree in enumerate(changed, 1):
        assert await changes.between(asked.git, base, tree) == await changes.between(asked.plain, base, tree)
        assert asked.git.started == ["diff-tree"] * number


async def test_a_directory_in_the_place_of_a_file_is_told_as_by_git(asked: Twice) -> None:
    old = await tree_of(asked.plain, {"a": b"x\n", "b/c": b"y\n"})
    new = await tree_of(asked.plain, {"a/b": b"x\n", "b": b"y\n"})
    for pair in ((old, new), (new, old)):
        assert await changes.between(asked.git, *pair) == await changes.between(asked.plain, *pair)
    assert asked.git.started == []


async def test_a_submodule_is_left_to_git(asked: Twice) -> None:
    index = asked.plain.git_dir / "made.index"
    stdin = f"160000 {'1' * 40} 0\tsub\0".encode()
    await asked.plain.run("update-index", "-z", "--index-info", stdin=stdin, index=index)
    new = (await asked.plain.run("write-tree", index=index)).text
    old = await asked.plain.store("tree", b"")
    assert await changes.between(asked.git, old, new) == await changes.between(asked.plain, old, new)
    assert asked.git.started == ["diff-tree"]


async def test_the_same_trees_are_compared_once_however_they_are_named(asked: Twice) -> None:
    old, new = await tree_of(asked.plain, {"a": b"x\n"}), await tree_of(asked.plain, {"a": b"y\n"})
    commit = await asked.plain.commit(new, [], "m\n", Signature(ENGINE, AT))
    told = await changes.between(asked.git, old, new)
    assert await changes.between(asked.git, old, commit) == told
    assert [entry.path for entry in await changes.entries(asked.git, old, commit)] == ["a"]
    assert asked.git.started == ["diff-tree"]
