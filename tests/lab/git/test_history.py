"""Histories read commit by commit: what git tells of them, without a process where they are short and straight."""

from __future__ import annotations

import itertools
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from counted_git import Twice, twice
from git_remote import ENGINE

from shared.git import history
from shared.git.command import Git, Signature
from shared.process import CommandFailed

ABSENT = "a" * 40


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Twice]:
    async with twice(tmp_path / "x.git") as both:
        yield both


async def committed(git: Git, *parents: str, message: str = "m\n", minutes: int = 0) -> str:
    tree = await git.store("tree", b"")
    at = datetime(2026, 5, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    return await git.commit(tree, parents, message, Signature(ENGINE, at))


async def line(git: Git, count: int, *start: str) -> list[str]:
    """Make so many commits in a line, and return them, oldest first."""
    made = list(start)
    for number in range(count):
        made.append(await committed(git, *made[-1:], message=f"{number} of {start}\n\nBody.\n", minutes=number))
    return made[len(start) :]


async def same_for(both: Twice, one: str, other: str) -> None:
    """Assert that each question has the same answer by both ways."""
    assert await history.log(both.git, one, 50, other) == await history.log(both.plain, one, 50, other)
    for ask in (history.merge_base, history.is_ancestor):
        assert await ask(both.git, one, other) == await ask(both.plain, one, other)


async def test_straight_histories_are_told_as_by_git_without_a_process(asked: Twice) -> None:
    trunk = await line(asked.plain, 4)
    ours, theirs = await line(asked.plain, 3, trunk[2]), await line(asked.plain, 1, trunk[3])
    alone = await line(asked.plain, 2)
    for one, other in itertools.product((trunk[0], trunk[3], ours[-1], theirs[-1], alone[-1]), repeat=2):
        await same_for(asked, one, other)
    for limit in (1, 2, 7, 50):
        assert await history.log(asked.git, ours[-1], limit) == await history.log(asked.plain, ours[-1], limit)
    assert await history.is_ancestor(asked.git, trunk[2], ours[-1])
    assert not await history.is_ancestor(asked.git, trunk[3], ours[-1])
    assert asked.git.started == []


async def test_branched_histories_are_told_as_by_git(asked: Twice) -> None:
    chance = random.Random(4)
    made = [await committed(asked.plain)]
    for number in range(14):
        parents = chance.sample(made[-4:], min(len(made), chance.choice((1, 1, 2))))
        made.append(await committed(asked.plain, *parents, message=f"{number}\n", minutes=number))
    for one, other in itertools.product(made, repeat=2):
        await same_for(asked, one, other)
    for one in made:
        assert await history.log(asked.git, one, 50) == await history.log(asked.plain, one, 50)


async def test_a_merge_below_the_commits_that_are_asked_for_costs_no_process(asked: Twice) -> None:
    sides = [(await line(asked.plain, 1))[0], await committed(asked.plain, message="other\n")]
    base = await committed(asked.plain, *sides, message="merge\n")
    head = (await line(asked.plain, 2, base))[-1]
    assert len(await history.log(asked.git, head, 500, base)) == 2
    assert await history.is_ancestor(asked.git, base, head)
    assert len(await history.log(asked.git, head, 3)) == 3
    assert asked.git.started == []
    assert len(await history.log(asked.git, head, 4)) == 4
    assert asked.git.started == ["log"]


async def test_long_histories_are_left_to_git(asked: Twice) -> None:
    made = await line(asked.plain, history.WALKED + 2)
    assert [one.oid for one in await history.log(asked.git, made[-1], 500)] == made[::-1]
    assert await history.is_ancestor(asked.git, made[0], made[-1])
    assert asked.git.started == ["log", "merge-base"]
    assert len(await history.log(asked.git, made[-1], history.WALKED)) == history.WALKED
    assert asked.git.started == ["log", "merge-base"]


async def test_unusual_commits_are_told_as_by_git(asked: Twice) -> None:
    tree = (await asked.plain.store("tree", b"")).encode()
    who = b"E <e@example.org>"
    heads = [
        b"author %s 1 +0000\ncommitter %s 1700000000 +0530\n" % (who, who),
        b"author %s 1 +0000\ncommitter %s 1700000000 -0930\ngpgsig x\n \n parent %s\n" % (who, who, b"a" * 40),
        b"author %s 1 +0000\ncommitter %s 1700000000 +0000\nencoding ISO-8859-1\n" % (who, who),
        b"author %s 1 +0000\ncommitter A > B <%s> 1700000000 +0000\n" % (who, who),
    ]
    for head, body in itertools.product(heads, (b"m\n", b"\n\nm\xff\n\nb\n\n", b"", b"a\0b\n")):
        raw = b"tree %s\n%s\n%s" % (tree, head, body)
        verb = ("hash-object", "-t", "commit", "-w", "--stdin", "--literally")
        oid = (await asked.plain.run(*verb, stdin=raw)).text
        if b"\0" in body:  # git ends its output there
            assert (await history.log(asked.git, oid, 5))[0].message == "a"
            continue
        assert await history.log(asked.git, oid, 5) == await history.log(asked.plain, oid, 5), raw


async def test_what_is_missing_fails_as_with_git(asked: Twice) -> None:
    made = await line(asked.plain, 2)
    for git in (asked.git, asked.plain):
        with pytest.raises(CommandFailed):
            await history.log(git, ABSENT, 5)
        with pytest.raises(CommandFailed):
            await history.is_ancestor(git, ABSENT, made[1])
        with pytest.raises(CommandFailed):
            await history.is_ancestor(git, made[1], ABSENT)
    broken = await committed(asked.plain, ABSENT)
    for git in (asked.git, asked.plain):
        with pytest.raises(CommandFailed):
            await history.log(git, broken, 5)


async def test_a_no_for_want_of_a_commit_is_not_kept(asked: Twice) -> None:
    made = await line(asked.plain, 3)
    place = asked.plain.git_dir / "objects" / made[1][:2] / made[1][2:]
    away = place.rename(asked.plain.git_dir / "away")
    for git in (asked.git, asked.plain):
        with suppress(CommandFailed):  # as newer ones of git say
            assert not await history.is_ancestor(git, made[0], made[2])
    away.rename(place)
    for git in (asked.git, asked.plain):
        assert await history.is_ancestor(git, made[0], made[2])
