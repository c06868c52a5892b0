"""The tips of refs and the messages there: the same from readers as from git, whatever somebody has pushed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from counted_git import Twice, twice
from git_remote import AT, ENGINE

from shared.git import history
from shared.git.command import Git, Identity, Signature


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Twice]:
    async with twice(tmp_path / "x.git") as both:
        yield both


async def at(git: Git, ref: str, message: str, by: Identity = ENGINE, when: datetime = AT) -> str:
    """Make a ref at a new commit, and return the commit."""
    oid = await git.commit(await git.store("tree", b""), [], message, Signature(by, when))
    await git.run("update-ref", ref, oid)
    return oid


async def test_tips_are_told_as_by_git_without_a_process(asked: Twice) -> None:
    assert await history.tips_below(asked.git, "refs/ack/") == ()
    await at(asked.plain, "refs/ack/worker/2", "Fence\n\nAgent: a\nAt: 2026-01-01T00:00:00Z\n\n\n")
    await at(asked.plain, "refs/ack/worker/10", "\n\nOne line", Identity("Ü", "7+ü@example.org"))
    await at(asked.plain, "refs/ack/planner/1", "x" * 1000, when=datetime(2020, 1, 1, tzinfo=UTC))
    await at(asked.plain, "refs/heads/main", "not asked for")
    for _ in range(2):
        found = await history.tips_below(asked.git, "refs/ack/")
        assert found == await history.tips_below(asked.plain, "refs/ack/")
        assert [tip.ref for tip in found] == ["refs/ack/planner/1", "refs/ack/worker/10", "refs/ack/worker/2"]
        await asked.plain.run("pack-refs", "--all")
    assert asked.git.started == []


async def test_many_tips_are_read_in_portions(asked: Twice) -> None:
    count = history.READ_AT_ONCE + 5
    oid = await at(asked.plain, "refs/heads/main", "one\n")
    stdin = "".join(f"create refs/ack/worker/{number} {oid}\n" for number in range(count)).encode()
    await asked.plain.run("update-ref", "--stdin", stdin=stdin)
    found = await history.tips_below(asked.git, "refs/ack/")
    assert len(found) == count
    assert found == await history.tips_below(asked.plain, "refs/ack/")
    assert asked.git.started == []


async def test_what_is_no_commit_is_told_by_git(asked: Twice) -> None:
    await at(asked.plain, "refs/ack/worker/2", "Fence\n")
    await asked.plain.run("update-ref", "refs/ack/worker/3", await asked.plain.store("blob", b"Agent: a\n"))
    found = await history.tips_below(asked.git, "refs/ack/")
    assert found == await history.tips_below(asked.plain, "refs/ack/")
    assert found[1].author == ""
    assert asked.git.started == ["for-each-ref"]
