"""The cache of answers that never change: one question each, for one directory and an hour, if there was an answer."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from shared.filesystem import directories
from shared.git import objects, settled_answers
from shared.git.command import Git, Identity, Signature
from shared.git.mirror import Mirror
from shared.process import Finished

BY = Signature(Identity("E", "e@example.org"))
ABSENT = "a" * 40


class Counting(Git):
    """Notes the verb of each git that was started."""

    started: list[str]

    async def run(self, *args: str, **options: object) -> Finished:
        self.started.append(args[0])
        return await super().run(*args, **options)  # type: ignore[arg-type]


async def made(directory: Path) -> tuple[Mirror, str]:
    """Make a mirror with two commits; its git has counted nothing yet. Return the newer commit too."""
    git = Counting(directory / "m.git", {"PATH": "/usr/bin:/bin:/usr/local/bin"})
    git.started = []
    await git.init()
    first = await commit(git, "one\n", ())
    second = await commit(git, "two\n", (first,))
    await git.run("update-ref", "refs/heads/main", second)
    git.started.clear()
    return Mirror(git, "https://example.org/o/r"), second


async def commit(git: Git, text: str, parents: tuple[str, ...]) -> str:
    blob = (await git.run("hash-object", "-w", "--stdin", stdin=text.encode())).text
    tree = (await git.run("mktree", stdin=f"100644 blob {blob}\ta.txt\n".encode())).text
    return await git.commit(tree, parents, text, BY)


def started(mirror: Mirror) -> list[str]:
    assert isinstance(mirror.git, Counting)
    return mirror.git.started


async def everything(mirror: Mirror, oid: str) -> tuple[object, ...]:
    """Return the answers to everything that can be asked of a commit."""
    parent = (await mirror.log(oid, 2))[1].oid
    return (
        await mirror.sha(oid),
        await mirror.message(oid),
        await mirror.is_ancestor(parent, oid),
        await mirror.is_ancestor(oid, parent),
        await mirror.merge_base(parent, oid),
        await mirror.show(oid, "a.txt"),
        await mirror.contents(oid, ["a.txt"]),
        await mirror.paths(oid),
        await mirror.diff(parent, oid),
        await mirror.log(oid, 5, without=parent),
    )


async def test_what_objects_settle_is_asked_once(tmp_path: Path) -> None:
    mirror, oid = await made(tmp_path)
    first = await everything(mirror, oid)
    asked = len(started(mirror))
    assert asked >= 9
    assert await everything(mirror, oid) == first
    assert len(started(mirror)) == asked
    assert first[2:4] == (True, False)


async def test_what_is_asked_of_one_directory_is_known_to_all_who_turn_to_it(tmp_path: Path) -> None:
    plain = Git(tmp_path / "m.git", {"PATH": "/usr/bin:/bin:/usr/local/bin"})
    await plain.init()
    oid = await commit(plain, "one\n", ())
    known = await plain.at(plain.git_dir).settled("cat-file", "-t", oid)
    assert await plain.at(plain.git_dir).settled("cat-file", "-t", oid) is known
    for number in range(settled_answers.MAX_DIRECTORIES):
        plain.at(tmp_path / f"{number}.git")
    assert await plain.at(plain.git_dir).settled("cat-file", "-t", oid) is not known


async def test_a_ref_is_looked_up_each_time(tmp_path: Path) -> None:
    mirror, oid = await made(tmp_path)
    assert await mirror.sha("refs/heads/main") == oid
    newer = await commit(mirror.git, "three\n", (oid,))
    await mirror.git.run("update-ref", "refs/heads/main", newer)
    assert await mirror.sha("refs/heads/main") == newer
    assert await mirror.show("refs/heads/main", "a.txt") == b"three\n"
    assert (await mirror.log("refs/heads/main", 9))[0].oid == newer
    assert not await mirror.is_ancestor("refs/heads/main", oid)


async def test_what_is_missing_may_come(tmp_path: Path) -> None:
    mirror, oid = await made(tmp_path)
    other, newest = await made(tmp_path / "other")
    newest = await commit(other.git, "four\n", (newest,))
    assert await mirror.sha(newest) is None
    assert await mirror.show(newest, "a.txt") is None
    assert await mirror.contents(oid, ["a.txt", "b.txt"]) == (b"two\n", None)
    await mirror.adopt(other.git, newest)
    assert await mirror.sha(newest) == newest
    assert await mirror.show(newest, "a.txt") == b"four\n"
    assert await mirror.sha(ABSENT) is None


async def test_a_directory_that_was_made_anew_is_asked_anew(tmp_path: Path) -> None:
    mirror, oid = await made(tmp_path)
    assert await mirror.sha(oid) == oid
    directories.remove(mirror.git.git_dir)
    await mirror.git.init()
    assert await mirror.sha(oid) is None


async def test_after_an_hour_it_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror, oid = await made(tmp_path)
    assert await mirror.sha(oid) == await mirror.sha(oid) == oid
    assert started(mirror) == ["cat-file"]
    monkeypatch.setattr(settled_answers, "KEPT_SECONDS", 0.0)
    assert await mirror.sha(oid) == oid
    assert started(mirror) == ["cat-file", "cat-file"]


async def test_neither_many_nor_large_answers_stay(tmp_path: Path) -> None:
    mirror, oid = await made(tmp_path)
    large = "x" * settled_answers.LARGEST_BYTES
    big = await commit(mirror.git, large, (oid,))
    started(mirror).clear()
    for _ in range(2):
        assert await mirror.show(big, "a.txt") == large.encode()
    assert started(mirror) == ["cat-file", "cat-file"]
    blob = (await mirror.git.run("rev-parse", f"{oid}:a.txt")).text
    for number in range(settled_answers.MAX_ANSWERS + 1):
        await objects.read(mirror.git, [blob] * (number + 1))
    started(mirror).clear()
    await objects.read(mirror.git, [blob] * settled_answers.MAX_ANSWERS)
    assert started(mirror) == [], "the newest stay"
    await objects.read(mirror.git, [blob])
    assert started(mirror) == ["cat-file"], "the oldest went"


async def test_text_is_kept_in_a_fraction_of_its_bytes_and_read_whole(tmp_path: Path) -> None:
    git_dir = tmp_path / "m.git"
    await Git(git_dir, {"PATH": "/usr/bin:/bin:/usr/local/bin"}).init()
    known = settled_answers.SettledAnswers(git_dir)
    text = "".join(f"def count_{number}(users):\n    return len(users)\n" for number in range(4_000)).encode()
    answer = Finished(("git", "cat-file"), 0, text, b"")
    known.keep((("cat-file",), b"1"), answer)
    assert known.size < len(text) / 4
    assert known.find((("cat-file",), b"1")) == answer


async def test_the_bytes_of_answers_are_bounded_and_what_went_is_asked_again(tmp_path: Path) -> None:
    git_dir, dice = tmp_path / "m.git", Random(1)
    await Git(git_dir, {"PATH": "/usr/bin:/bin:/usr/local/bin"}).init()
    known = settled_answers.SettledAnswers(git_dir)
    size = settled_answers.MAX_BYTES // 8
    for number in range(20):
        known.keep((("show",), b"%d" % number), Finished((), 0, dice.randbytes(size), b""))
    assert settled_answers.MAX_BYTES - 2 * size < known.size <= settled_answers.MAX_BYTES
    assert known.find((("show",), b"0")) is None
    assert known.find((("show",), b"19")) is not None
    known.keep((("show",), b"20"), Finished((), 0, dice.randbytes(settled_answers.MAX_BYTES // 4), b""))
    assert known.find((("show",), b"20")) is None, "it would drive out the others"
