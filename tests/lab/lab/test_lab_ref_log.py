"""The server's log of refs, with the real git on both sides, and the fences that are read by it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from served_git import Hub, served

from lab.chaos.evidence import fence_moves
from lab.github.repositories.ref_log import RefChange, RefLog, RefMove

FENCE = "refs/ack/worker/7"


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with served(tmp_path) as hub:
        hub.bare.log_of_refs = RefLog(tmp_path / "refs.log", lambda: 1000.5)
        yield hub


def log_of(hub: Hub) -> list[RefChange]:
    assert hub.bare.log_of_refs is not None
    return hub.bare.log_of_refs.read()


async def test_what_one_push_moves_is_one_line(hub: Hub) -> None:
    tree = await hub.clone("holder")
    work = await hub.commit(tree, "b.txt", b"b\n", "Work")
    pushed = await hub.git(tree, "push", "--atomic", "origin", f"{work}:{FENCE}", f"{work}:refs/heads/auto/issue-7")
    assert pushed.code == 0
    moves = (RefMove(FENCE, None, work), RefMove("refs/heads/auto/issue-7", None, work))
    assert log_of(hub) == [RefChange(1000.5, "ada", moves)]


async def test_a_refused_push_is_a_line_without_a_move(hub: Hub) -> None:
    tree = await hub.clone("late")
    first = await hub.commit(tree, "b.txt", b"b\n", "First")
    await hub.git(tree, "push", "origin", f"{first}:{FENCE}")
    hook = tree / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ngit --git-dir={hub.bare.path} update-ref {FENCE} HEAD\n")
    hook.chmod(0o755)
    late = await hub.commit(tree, "c.txt", b"c\n", "Late")
    assert (await hub.git(tree, "push", f"--force-with-lease={FENCE}:{first}", "origin", f"{late}:{FENCE}")).code != 0
    assert [change.moves for change in log_of(hub)] == [(RefMove(FENCE, None, first),), ()]


async def test_fences_are_read_in_the_order_in_which_they_were_moved(hub: Hub) -> None:
    tree = await hub.clone("fences")
    made = []
    for nonce in ("1", "2"):
        message = f"worker #7 testing\n\nEngine-Fence: 2\nEpoch: {nonce}\nNonce: {nonce * 32}\nAgent: worker-{nonce}"
        made.append(await hub.commit(tree, "b.txt", nonce.encode(), message))
        await hub.git(tree, "push", "origin", f"{made[-1]}:{FENCE}")
    await hub.git(tree, "push", "origin", f":{FENCE}")
    (line,) = (await fence_moves(hub.bare, log_of(hub))).values()
    assert [(one.old, one.new) for one in line] == [(None, made[0]), (made[0], made[1])]
    assert [(one.number, one.nonce, one.agent) for one in line] == [
        (1, "1" * 32, "worker-1"),
        (2, "2" * 32, "worker-2"),
    ]
    assert line[1].parent == made[0]


async def test_a_log_that_somebody_else_wrote_is_refused(hub: Hub, tmp_path: Path) -> None:
    path = tmp_path / "other.log"
    assert RefLog(path, lambda: 0.0).read() == []
    path.write_text('{"at": "now", "by": "ada", "moves": []}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="no line of a log of refs"):
        RefLog(path, lambda: 0.0).read()
