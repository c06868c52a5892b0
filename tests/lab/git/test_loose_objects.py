"""Objects that are written without a process: the same bytes as git's, read and checked by git itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from git_remote import AT, ENGINE, ENVIRONMENT

from shared.git import loose_objects
from shared.git.command import Git, Identity, Signature
from shared.git.loose_objects import TreeEntry
from shared.process import CommandFailed

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
BY = Signature(ENGINE, AT)

IDENTITIES = {
    "plain": ENGINE,
    "bot": Identity("engine[bot]", "12+engine[bot]@users.noreply.github.com"),
    "quoted": Identity(' "Ada, the 1st" ', "<ada@example.org>"),
    "brackets inside": Identity("A<d>a\nL", "a<d>a\n@example.org"),
    "crud at both ends": Identity("\t;:'Ada\\,", " 'ada@example.org'; "),
    "letters": Identity("Ünal 😀", "ü@example.org"),
    "not UTF-8": Identity("A\udcffda", "\udce4@example.org"),
    "no address": Identity("Ada", "<>"),
}

MESSAGES = {
    "usual": "Subject\n\nBody.\n",
    "empty": "",
    "no newline at the end": "Subject",
    "only newlines": "\n\n\n",
    "leading newlines": "\n\nSubject\n",
    "carriage returns": "Subject\r\n\r\nBody\r\n",
    "trailers": "Subject\n\nEpoch: 1\nNonce: abc\n",
    "letters": "Ünal 😀 \u2028 \ufeff\n",
    "surrogates": "a\udcffb\ud800c\n",
    "never a character": "a\ufdd0b\ufffec\U0001ffffd\U0010fffe\n",
    "long": "x" * 200_000,
}

ZONES = {"UTC": UTC, "east": timezone(timedelta(hours=5, minutes=45)), "west": timezone(timedelta(hours=-8))}


@pytest.fixture
async def git(tmp_path: Path) -> Git:
    made = Git(tmp_path / "x.git", ENVIRONMENT)
    await made.init()
    await made.run("hash-object", "-w", "-t", "tree", "--stdin")
    return made


async def by_git(git: Git, message: str, parents: Sequence[str], signature: Signature) -> str:
    """Return the commit that `git commit-tree` makes of the same values."""
    lineage = [word for parent in parents for word in ("-p", parent)]
    words = message.encode("utf-8", "replace")
    return (await git.run("commit-tree", EMPTY, *lineage, "-F", "-", stdin=words, signature=signature)).text


async def is_sound(git: Git) -> bool:
    """Return whether `git fsck` finds no fault in any object, and no temporary file is left beside them."""
    await git.run("fsck", "--strict", "--full", "--no-dangling")
    return not list((git.git_dir / "objects").rglob("tmp_*"))


@pytest.mark.parametrize("message", MESSAGES.values(), ids=list(MESSAGES))
async def test_a_commit_has_the_id_that_git_gives_it(git: Git, message: str) -> None:
    made = await git.commit(EMPTY, [], message, BY)
    assert await is_sound(git)
    assert made == await by_git(git, message, [], BY)


@pytest.mark.parametrize("identity", IDENTITIES.values(), ids=list(IDENTITIES))
async def test_names_are_cleaned_as_git_cleans_them(git: Git, identity: Identity) -> None:
    signature = Signature(identity, AT)
    made = await git.commit(EMPTY, [], "m\n", signature)
    assert await is_sound(git)
    assert made == await by_git(git, "m\n", [], signature)


async def test_parents_are_named_once_and_in_their_order(git: Git) -> None:
    one, two = [await git.commit(EMPTY, [], name, BY) for name in ("one", "two")]
    for parents in ((one,), (one, two), (two, one), (one, two, one)):
        made = await git.commit(EMPTY, parents, "m\n", BY)
        assert made == await by_git(git, "m\n", parents, BY)
    assert await is_sound(git)


@pytest.mark.parametrize("zone", ZONES.values(), ids=list(ZONES))
async def test_a_time_of_any_zone_is_written_in_utc(git: Git, zone: timezone) -> None:
    signature = Signature(ENGINE, datetime(2026, 3, 29, 2, 30, 1, 999_999, tzinfo=zone))
    assert await git.commit(EMPTY, [], "m\n", signature) == await by_git(git, "m\n", [], signature)


async def test_without_a_time_a_commit_is_made_now(git: Git, tmp_path: Path) -> None:
    def disk() -> int:
        marker = tmp_path / "marker"
        marker.touch()
        return int(marker.stat().st_mtime)

    before = disk()
    made = await git.commit(EMPTY, [], "m\n", Signature(ENGINE))
    told = (await git.run("log", "-1", "--format=%at %ct %ai", made)).text.split(" ")
    assert before <= int(told[0]) <= disk()
    assert told[1] == told[0]
    assert told[-1] == "+0000"


@pytest.mark.parametrize("message", ["a\0b", "\0"])
async def test_what_git_makes_no_commit_of_is_refused(git: Git, message: str) -> None:
    with pytest.raises(CommandFailed):
        await by_git(git, message, [], BY)
    with pytest.raises(CommandFailed):
        await git.commit(EMPTY, [], message, BY)
    assert await is_sound(git)


@pytest.mark.parametrize("name", [" ", "\n<>", "."])
async def test_nobody_commits_nameless(git: Git, name: str) -> None:
    nobody = Signature(Identity(name, "a@example.org"), AT)
    with pytest.raises(CommandFailed):
        await by_git(git, "m\n", [], nobody)
    with pytest.raises(CommandFailed):
        await git.commit(EMPTY, [], "m\n", nobody)


@pytest.mark.parametrize("content", [b"", b"text\n", bytes(range(256)), b"x" * 100_000])
async def test_blobs_and_trees_too(git: Git, content: bytes) -> None:
    made = await git.store("blob", content)
    assert (await git.run("cat-file", "blob", made)).stdout == content
    assert made == (await git.run("hash-object", "--stdin", stdin=content)).text
    entries = [TreeEntry("100644", "b", made), TreeEntry("100755", "a-b", made), TreeEntry("100644", "ü", made)]
    stdin = "".join(f"{mode} blob {oid}\t{name}\n" for mode, name, oid in entries).encode()
    content = loose_objects.tree(entries)
    assert sorted(loose_objects.entries(content, 20)) == sorted(entries)
    tree = await git.store("tree", content)
    assert await is_sound(git)
    assert tree == (await git.run("mktree", stdin=stdin)).text
    assert await git.store("tree", b"") == EMPTY


async def test_an_object_that_is_there_stays_and_counts_as_written_now(git: Git) -> None:
    made = await git.commit(EMPTY, [], "m\n", BY)
    place = git.git_dir / "objects" / made[:2] / made[2:]
    os.utime(place, (1, 1))
    before = place.stat()
    assert await git.commit(EMPTY, [], "m\n", BY) == made
    after = place.stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert after.st_mtime > 1
    assert stat.S_IMODE(after.st_mode) == 0o444
    assert await is_sound(git)


async def test_a_repack_takes_what_was_written(git: Git) -> None:
    made = await git.commit(EMPTY, [], "m\n", BY)
    await git.run("update-ref", "refs/heads/main", made)
    await git.run("repack", "-adq")
    assert await git.commit(EMPTY, [], "m\n", BY) == made
    await git.run("repack", "-adq")
    await git.run("prune", "--expire=now")
    assert await is_sound(git)
    assert (await git.run("log", "-1", "--format=%B", made)).text == "m"


async def test_a_directory_that_is_gone_is_a_failed_command(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed):
        await Git(tmp_path / "none.git", ENVIRONMENT).commit(EMPTY, [], "m\n", BY)


async def test_a_copy_has_the_name_of_what_it_holds(git: Git) -> None:
    oid = await git.store("blob", b"x\n")
    other = Git(git.git_dir.with_name("other.git"), ENVIRONMENT)
    await other.init()
    loose_objects.copy(other.git_dir, "blob", oid, b"x\n")
    assert (await other.run("cat-file", "blob", oid)).stdout == b"x\n"
    with pytest.raises(loose_objects.Unwritable):
        loose_objects.copy(other.git_dir, "blob", oid, b"y\n")
    assert (await other.run("cat-file", "blob", oid)).stdout == b"x\n"


async def test_a_loose_object_is_read_without_a_process_and_anything_else_is_left_to_git(git: Git) -> None:
    oid = await git.commit(EMPTY, (), "Subject\n\nBody.\n", BY)
    said = (await git.run("cat-file", "commit", oid)).stdout
    assert loose_objects.read(git.git_dir, oid, 1000) == (b"commit", said)
    assert loose_objects.read(git.git_dir, oid, len(said) - 1) is None, "larger than was asked for"
    assert loose_objects.read(git.git_dir, "1" * 40, 1000) is None
    place = git.git_dir / "objects" / oid[:2] / oid[2:]
    place.chmod(0o600)
    place.write_bytes(place.read_bytes()[:-20])
    assert loose_objects.read(git.git_dir, oid, 1000) is None, "cut off"
