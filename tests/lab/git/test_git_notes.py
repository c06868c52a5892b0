"""Notes are written and read as `git notes` does it; what others have put on the ref is left to git."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_remote import ENGINE, ENVIRONMENT

from shared.git.command import Git, Signature
from shared.git.loose_objects import TreeEntry, tree
from shared.git.notes import Notes
from shared.process import CommandFailed

REF = "refs/notes/workflow/issue-42"
BY = Signature(ENGINE)


@pytest.fixture
async def git(tmp_path: Path) -> Git:
    made = Git(tmp_path / "x.git", ENVIRONMENT)
    await made.init()
    return made


async def commits(git: Git, count: int) -> list[str]:
    empty = await git.store("tree", b"")
    return [await git.commit(empty, [], f"{number}\n", BY) for number in range(count)]


async def by_git(git: Git, ref: str, commit: str, text: str) -> None:
    """Write the note with `git notes`."""
    blob = (await git.run("hash-object", "-w", "--stdin", stdin=text.encode())).text
    await git.run("notes", f"--ref={ref}", "add", "--force", f"--reuse-message={blob}", commit, signature=BY)


async def state(git: Git, ref: str) -> tuple[str, str]:
    """Return tree and message of a ref's commit."""
    told = (await git.run("log", "-1", "--format=%T%x00%an <%ae> %cn%x00%B", ref)).text.split("\0", 1)
    return told[0], told[1]


@pytest.mark.parametrize("text", ['{"a":1}', "\n\n two \n\n", "ünal", "# a comment\n", "x" * 100_000])
async def test_they_are_what_git_writes(git: Git, text: str) -> None:
    one, two = await commits(git, 2)
    for commit, words in ((one, "first"), (two, text), (one, text)):
        made = await Notes(git, ENGINE).add(REF, commit, words)
        await by_git(git, "refs/notes/theirs", commit, words)
        assert await state(git, REF) == await state(git, "refs/notes/theirs")
        assert (await git.run("rev-parse", REF)).text == made
    assert await Notes(git, ENGINE).all(REF) == {one: text, two: text}
    assert (await git.run("log", "--format=%H", REF)).text.count("\n") == 2
    await git.run("fsck", "--strict")


async def test_none_where_there_is_no_ref(git: Git) -> None:
    assert await Notes(git, ENGINE).all(REF) == {}


async def test_many_that_git_has_sorted_into_directories(git: Git) -> None:
    made = await commits(git, 700)
    blob = await git.store("blob", b"old")
    notes = "".join(f"N inline {commit}\ndata 3\nold\n" for commit in made)
    who = "committer A <a@example.org> 1767323045 +0000"
    await git.run("fast-import", "--quiet", stdin=f"commit {REF}\n{who}\ndata 0\n{notes}".encode())
    assert " tree " in (await git.run("ls-tree", REF)).text
    await Notes(git, ENGINE).add(REF, made[0], "new")
    assert await Notes(git, ENGINE).all(REF) == dict.fromkeys(made, "old") | {made[0]: "new"}
    assert blob in (await git.run("ls-tree", "-r", REF)).text


async def test_other_things_on_the_ref_stay(git: Git) -> None:
    one, two = await commits(git, 2)
    blob = await git.store("blob", b"text")
    others = [TreeEntry("100644", "README", blob), TreeEntry("100644", one, blob)]
    await git.run("update-ref", REF, await git.commit(await git.store("tree", tree(others)), [], "theirs\n", BY))
    assert await Notes(git, ENGINE).all(REF) == {one: "text"}
    await Notes(git, ENGINE).add(REF, two, "ours")
    assert await Notes(git, ENGINE).all(REF) == {one: "text", two: "ours"}
    assert "README" in (await git.run("ls-tree", REF)).text


async def test_a_tree_that_is_none_is_a_failed_command(git: Git) -> None:
    verb = ("hash-object", "-w", "-t", "tree", "--literally", "--stdin")
    broken = (await git.run(*verb, stdin=b"100644 " + b"a" * 40 + b"\0short")).text
    await git.run("update-ref", REF, await git.commit(broken, [], "theirs\n", BY))
    with pytest.raises(CommandFailed):
        await Notes(git, ENGINE).all(REF)
    (commit,) = await commits(git, 1)
    with pytest.raises(CommandFailed):
        await Notes(git, ENGINE).add(REF, commit, "ours")
